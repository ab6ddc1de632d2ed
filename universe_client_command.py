"""The entry point of the `universe-client` script. It handles SIGINT and SIGTERM before it imports anything else."""

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType

_STOP = (signal.SIGINT, signal.SIGTERM)


def main() -> int:
    """Run the command line; return the exit status."""
    _handle(_leave)
    from universe_client.cli.main import main as command_line

    try:
        return command_line()
    finally:
        # All remotes have ended: a second Ctrl-C during the exit of the interpreter shows no traceback.
        _handle(signal.SIG_DFL)


def _handle(handler: Callable[[int, FrameType | None], None] | signal.Handlers) -> None:
    """Install `handler`, unless the process was started to ignore the signal (a shell's `command &`)."""
    for number in _STOP:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def _leave(number: int, _frame: FrameType | None) -> None:
    """Exit at once. Nothing has started yet, and an exception during an import may become an ImportError."""
    os.write(sys.stderr.fileno(), b"universe-client: interrupted\n")
    os._exit(128 + number)
