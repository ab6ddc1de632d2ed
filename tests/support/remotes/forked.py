"""Run a function in a forked process."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable


def in_a_fork(function: Callable[[], str]) -> str:
    """Return the result of `function`, which must not raise."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.write(write, function().encode())
            code = 0
        finally:
            if code:
                traceback.print_exc()
            os._exit(code)  # the child must not return into the test
    os.close(write)
    with os.fdopen(read) as stream:
        result = stream.read()
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0, "it raised, see stderr"
    return result
