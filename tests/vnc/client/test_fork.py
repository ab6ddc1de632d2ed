"""A forked process cannot use or damage the sessions of its parent, on every driver."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import numpy as np
import pytest

from tests.support.remotes.forked import in_a_fork
from tests.support.vnc.sessions import taken
from tests.support.vnc.xvnc import logo
from vnc.events import KeyEvent
from vnc.session import Session

PARENT = """
import os, sys
from universe_client import VectorEnv

env = VectorEnv("builtin.NeonDrive-v0", remotes=1, driver=sys.argv[1])
env.reset()

def play(frames):
    while frames:
        [observation], _, [done], info = env.step([[]])
        assert info["n"][0]["error"] is None and not info["n"][0]["truncated"], info["n"][0]
        frames -= observation is not None
        env.wait(1)

play(5)
child = os.fork()
if child == 0:
    env.close()
    del env
    sys.exit("the child ends as any process")
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 1, status
play(60)
env.close()
print("played on")
"""


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
async def test_a_forked_process_leaves_its_parents_session_with_real_xvnc_alone(opened, xvnc):
    port, display = xvnc
    async with opened.on(port) as (session, changes):
        wanted = session.refresh()
        await changes.until(lambda: session.generation >= wanted)
        before = taken(session)
        assert in_a_fork(lambda: use_and_close(session)) == "RuntimeError " * 3 + "closed"
        async with logo(display, "-geometry", "250x150+31+17", "-fg", "orange"):
            await changes.until(lambda: bool((taken(session) != before).any()))
        wanted = session.refresh()
        await changes.until(lambda: session.generation >= wanted)
        assert session.error is None


def use_and_close(session: Session) -> str:
    words = ""
    for use in (
        session.refresh,
        lambda: session.send([KeyEvent(97, True)]),
        lambda: session.take(np.zeros(session.shape, np.uint8)),
    ):
        try:
            use()
        except RuntimeError as error:
            assert "forked" in str(error)
            words += "RuntimeError "
    asyncio.run(session.close())
    return words + "closed"


def test_a_forked_process_that_closes_and_ends_leaves_its_parents_environment_alone(driver):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PARENT, driver], capture_output=True, text=True, timeout=120
    )
    assert (done.stdout, done.returncode) == ("played on\n", 0), done.stderr
    assert "panicked" not in done.stderr
