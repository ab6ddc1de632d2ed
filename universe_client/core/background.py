"""Threads that are less urgent than the agent and its remotes."""

from __future__ import annotations

import os
import sys
import threading

_NICENESS = 5


def lower_priority() -> None:
    """Let the agent and the remotes go first where processors are scarce. Only Linux has priorities of threads."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
