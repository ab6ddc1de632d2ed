"""The priority of a remote's process among the processes of its machine."""

from __future__ import annotations

import errno
import os
import sys
import threading
from contextlib import suppress
from pathlib import Path

NICENESS = 5
"""Above that of the process that starts the remotes: each gets a third of that process's share where processors are
short. Otherwise many remotes leave too little to the client: they draw frames that it has no time to receive."""
_AUTOGROUP = Path("/proc/self/autogroup")  # sched(7): with it, niceness counts within a session only
_RETRY = 0.15  # seconds; without privileges the kernel accepts one change of an autogroup per 0.1 s


def give_way() -> None:
    """Let the process that started this one go first where processors are short."""
    if sys.platform == "win32":
        return
    with suppress(OSError):
        os.nice(NICENESS)
    if os.getsid(0) == os.getpid():  # otherwise the group also contains the process that started this one
        _renice_autogroup()


def _renice_autogroup() -> None:
    try:
        _AUTOGROUP.write_text(str(NICENESS))
    except OSError as error:
        if error.errno == errno.EAGAIN:
            timer = threading.Timer(_RETRY, _renice_autogroup)
            timer.daemon = True
            timer.start()
