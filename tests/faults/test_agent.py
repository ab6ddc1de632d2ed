"""The agent's side: pauses, raised errors, secrets, and every kind of end (F32)."""

from __future__ import annotations

import gc
import logging
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.support.remotes.agent import failed, one_step, until, until_running, wait_until
from tests.support.remotes.forked import in_a_fork
from tests.support.remotes.gym import open_gym
from tests.support.remotes.remote import ScriptedRemote
from tests.support.timing import Stopwatch
from universe_client import RemoteError, VectorEnv
from universe_client.providers.address import AddressProvider

__all__ = ["open_gym"]

AGENT = """
import sys, universe_client
env = universe_client.make("builtin.NeonDrive-v0", remotes=2)
env.reset()
while not all(env.step([[], []])[0]):
    env.wait(1)
print(*(child.process.pid for child in env.provider._children.values()), flush=True)
{end}
"""


@pytest.mark.fault("F31", "agent slower than fps, agent pauses 60 s")
def test_f31_an_agent_that_pauses_loses_nothing_but_old_frames(scripted, playing, measure):
    remote = scripted()
    env = playing(remote)
    for value in range(60):
        remote.paint(100 + value)
        remote.reward(1.0)
        threading.Event().wait(0.01)
    remote.reward(0.0, info={"last": True})
    link = env.remotes[0].link
    wait_until(lambda: link.buffer._current.info.get("last", False))
    step = one_step(env)
    measure("sum of 60 rewards", step.reward, equals=60.0)
    assert step.info["error"] is None
    assert until(env, lambda step: step.pixel == 159)


def test_on_error_raise_raises_what_happened_to_the_first(scripted, playing):
    one, other = scripted(), scripted()
    env = playing(one, other, on_error="raise", backoff=(5.0, 5.0))
    other.stop()
    with pytest.raises(RemoteError, match=r"remote 1 \(127\.0\.0\.1"):
        until(env, lambda step: False)
    step = one_step(env)
    assert step.observation_n[0] is not None
    assert step.observation_n[1] is None


def test_on_error_raise_loses_nothing_of_the_others_nor_of_the_one(scripted, playing):
    one, other = scripted(), scripted()
    env = playing(one, other, on_error="raise", backoff=(5.0, 5.0))
    other.reward(2.0)
    wait_until(lambda: env.remotes[1].link.buffer._current.count == 1)
    one.reward(3.0)
    one.finish(4.0)
    wait_until(lambda: env.remotes[0].link.buffer.running != env.remotes[0].link.playing or env.wait(0.01))
    other.stop()
    wait_until(lambda: env.remotes[1].link.unreported.errors)
    with pytest.raises(RemoteError, match="remote 1 "):
        env.step([[], []])
    step = one_step(env)
    assert step.reward_n == [7.0, 2.0]
    assert step.done_n == [True, True]
    assert step.info_n[1]["truncated"] and "remote 1 " in step.info_n[1]["error"]
    assert one_step(env).reward_n == [0.0, 0.0], "and once"


def test_ancestor_vnc_env_one_dead_remote_raised_for_all(scripted, playing):
    """envs/vnc_env.py, _handle_crashed_n: one dead remote of n raised for all n."""
    remotes = [scripted() for _ in range(3)]
    env = playing(*remotes)
    remotes[1].stop()
    seen = until(env, lambda step: step.done_n[1])
    for step in seen:
        assert step.done_n[0] is False
        assert step.done_n[2] is False
        assert step.info_n[0]["error"] is None
        assert step.observation_n[0] is not None
        assert step.observation_n[2] is not None


CANARY = "canary7!"


def test_ancestor_vnc_env_passwords_in_logs(scripted, open_env, playing, caplog, capfd):
    """envs/vnc_env.py and rewarder/remote.py logged passwords, even the expected one."""
    caplog.set_level(logging.DEBUG)
    remote = scripted(password=CANARY)
    env = playing(remote)
    remote.stop()
    until(env, failed)
    wrong = ScriptedRemote(remote._loop, password="other")
    bad = replace(wrong.address, vnc=replace(wrong.address.vnc, password=CANARY))
    losing = open_env(bad)
    losing.reset()
    error = until(losing, failed)[-1].info["error"]
    wrong.stop()
    shown = [
        error,
        repr(env),
        repr(env.provider),
        repr(remote.address),
        str(remote.address),
        repr(env.config),
    ]
    shown += [repr(env.remotes[0].link.__dict__), repr(losing.remotes[0].error), *capfd.readouterr()]
    shown += [record.getMessage() for record in caplog.records]
    assert len(caplog.records) > 3
    assert not [text for text in shown if CANARY in text]


# -- the end (F32)


@pytest.mark.fault("F32", "Ctrl-C, exception in agent, GC without close, fork")
def test_f32_close_leaves_no_thread_and_no_connection(scripted, playing, measure):
    remote = scripted()
    before = set(threading.enumerate())
    env = playing(remote)
    assert set(threading.enumerate()) - before
    env.close()
    measure("threads left after close", len(set(threading.enumerate()) - before), equals=0)
    wait_until(lambda: remote.vnc.clients == 0)
    wait_until(lambda: remote.rewarder.controllers == 0)


@pytest.mark.fault("F32", "Ctrl-C, exception in agent, GC without close, fork")
def test_f32_an_environment_that_is_forgotten_closes_itself(scripted, measure):
    remote = scripted()
    before = set(threading.enumerate())
    env = VectorEnv(None, AddressProvider([remote.address]))
    env.reset()
    until_running(env)
    del env
    gc.collect()
    watch = Stopwatch()
    wait_until(lambda: set(threading.enumerate()) == before, what="the end of the thread")
    wait_until(lambda: remote.vnc.clients == 0)
    measure("ended after the environment was forgotten", watch.seconds, at_most=5, unit="s")


@pytest.mark.fault("F32", "Ctrl-C, exception in agent, GC without close, fork")
def test_f32_an_exception_in_the_agent_closes_a_with_block(scripted, measure):
    remote = scripted()
    with pytest.raises(ZeroDivisionError), VectorEnv(None, AddressProvider([remote.address])) as env:
        env.reset()
        until_running(env)
        1 / 0  # noqa: B018
    assert env.closed
    watch = Stopwatch()
    wait_until(lambda: remote.vnc.clients == 0)
    measure("ended after an exception", watch.seconds, at_most=5, unit="s")


@pytest.mark.fault("F32", "Ctrl-C, exception in agent, GC without close, fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_f32_a_forked_process_is_told_to_make_its_own(scripted, playing, open_gym, measure):
    env, face = playing(scripted()), open_gym(scripted())
    face.reset()
    calls = [
        env.reset, lambda: env.step([[]]), env.recv, lambda: env.wait(1), lambda: env.get_attr("number"),
        lambda: env.core.truncate(0, "forked"), face.reset, lambda: face.step([0]), lambda: face.get_attr("number"),
        env.close, face.close,
    ]  # fmt: skip
    told = in_a_fork(lambda: " ".join(outcome(call) for call in calls))
    measure("calls refused in a fork", told.split().count("LocalStateError"), equals=9)
    assert told.split()[9:] == ["None"] * 2
    assert one_step(env).observation is not None, "the child closed the parent's connections"
    assert face.reset()[0].any()


def outcome(call: Callable[[], object]) -> str:
    try:
        return str(call())
    except Exception as error:  # noqa: BLE001  # the test compares it
        return type(error).__name__


@pytest.mark.fault("F32", "Ctrl-C, exception in agent, GC without close, fork")
def test_f32_a_forked_process_that_closes_and_ends_leaves_its_parents_remotes_alone():
    result = subprocess.run(
        [sys.executable, "-c", AGENT.format(end=FORK)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.stdout.splitlines()[1:] == ["the child's end: 0", "the remotes: 2, errors: 0"], (
        result.stderr
    )


FORK = """
import asyncio, os
if os.fork() == 0:
    env.close()
    asyncio.run(env.provider.close())
    asyncio.run(env.provider.discard(0))
    sys.exit()  # including Python's work at the end of a process
print("the child's end:", os.wait()[1], flush=True)
seen = []
while len(seen) < 50:
    env.wait(1)
    seen.append(env.step([[], []]))
shown = sum(one is not None for one in seen[-1][0])
print(f"the remotes: {shown}, errors: {sum(bool(info['error']) for step in seen for info in step[3]['n'])}")
"""


@pytest.mark.fault("F32", "Ctrl-C, exception in agent, GC without close, fork")
@pytest.mark.parametrize(
    "end",
    ["pass", "raise RuntimeError('agent')", "import os; os.kill(os.getpid(), 2)", "import os; os.kill(os.getpid(), 9)"],
    ids=["end of the script", "exception", "Ctrl-C", "kill -9"],
)  # fmt: skip
def test_f32_no_process_outlives_the_agent(measure, end):
    result = subprocess.run(
        [sys.executable, "-c", AGENT.format(end=end)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    pids = [int(pid) for pid in result.stdout.split()]
    assert len(pids) == 2, result.stderr
    watch = Stopwatch()
    wait_until(lambda: not any(alive(pid) for pid in pids), what="the end of the remotes")
    measure("ended after the agent", watch.seconds, at_most=5, unit="s")


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
