"""What the `universe-client` script calls: Ctrl-C and SIGTERM are handled before anything else is imported."""

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
        # Nothing is left to give back: a second Ctrl-C ends the exit of the interpreter without a traceback.
        _handle(signal.SIG_DFL)


def _handle(handler: Callable[[int, FrameType | None], None] | signal.Handlers) -> None:
    """Install `handler`, unless whoever started this process had it ignore the signal (a shell's `command &`)."""
    for number in _STOP:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def _leave(number: int, _frame: FrameType | None) -> None:
    """End the process, which has started nothing yet: within an import an exception may become an ImportError."""
    os.write(sys.stderr.fileno(), b"universe-client: interrupted\n")
    os._exit(128 + number)
