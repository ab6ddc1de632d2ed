"""Programs on real Xvnc displays: what the agent does reaches them, and whatever dies comes back or leaves nothing.

The program is colour_window.py: red counts key presses, blue counts frames, 30 a second.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

import universe_client
from tests.support.remotes.agent import one_step, running, until, until_running
from tests.support.system.processes import Obituary, command_line, descendants, listener, state
from universe_client import Config
from universe_client.providers import ProcessProvider
from vnc.session import Timeouts

WINDOW = Path(__file__).parent / "colour_window.py"
ENV_ID = "process.colour-window"
DRAWN_PER_SECOND = 30
PRESS_A = [("KeyEvent", "a", True), ("KeyEvent", "a", False)]
QUICK = Config(backoff=(0.2, 0.5), timeouts=Timeouts(probe_interval=0.5, probe_deadline=8.0, handshake=8.0))


def provider(n, command=(sys.executable, str(WINDOW))):
    return ProcessProvider(n, ENV_ID, program=command, screen_size=(160, 120))


@pytest.fixture
def env():
    before = descendants(os.getpid())
    with universe_client.VectorEnv(ENV_ID, provider(2), config=QUICK) as env:
        env.reset()
        until_running(env, 60)
        yield env
    assert descendants(os.getpid()) <= before, "processes are left after close"


def colour(observation):
    """The one colour of the screen."""
    vision = observation["vision"]
    assert vision.shape == (120, 160, 3)
    assert (vision == vision[0, 0]).all(), "a frame of two pictures"
    return tuple(int(value) for value in vision[0, 0])


def red(step, slot):
    return None if step.observation_n[slot] is None else colour(step.observation_n[slot])[0]


def advances(seen, slot):
    """The number of pictures that the program drew from each step to the next."""
    blues = [colour(step.observation_n[slot])[2] for step in seen]
    return [(new - old) % 256 for old, new in pairwise(blues)]


def xvnc(env, slot):
    (display,) = (pid for pid in descendants(rewarder(env, slot)) if name(pid) == "Xvnc")
    return display


def rewarder(env, slot):
    return listener(env.remotes[slot].link.address.rewarder.port)


def press_until_red(env, slot, value):
    """Press a key once, and step until the screen shows it and the reward is here."""
    first = one_step(env, [PRESS_A if index == slot else [] for index in range(env.n)])
    assert first.info_n[slot]["mask.masked.action"] == 0
    seen = [first, *until(env, lambda step: red(step, slot) == value)]
    reward = sum(step.reward_n[slot] for step in seen)
    while reward == 0:
        reward += until(env, lambda step: step.reward_n[slot] > 0)[-1].reward_n[slot]
    assert reward == 1.0
    return seen


def check_cut_once(seen, slot):
    """The slot was truncated once, with the error, and was None until it ran again."""
    cuts = [index for index, step in enumerate(seen) if step.info_n[slot]["truncated"]]
    assert len(cuts) == 1
    assert [step.done_n[slot] for step in seen].count(True) == 1
    cut = seen[cuts[0]]
    assert cut.info_n[slot]["end_reason"] == "lost" and not cut.info_n[slot]["terminated"]
    assert cut.info_n[slot]["error"] is not None
    assert all(step.observation_n[slot] is None for step in seen[cuts[0] : -1])
    assert {step.info_n[slot]["env_status.reason"] for step in seen[cuts[0] : -1]} <= {
        "lost", "connecting", "resetting", "no_frame"
    }  # fmt: skip
    return cut.info_n[slot]["error"]


def check_undisturbed(env, seen, slot):
    """Not one step without this slot's observation, nothing ended, and its pictures never stopped for two seconds.

    A remote may be back before the other has drawn ten pictures, so this watches for ten more.
    """
    first = colour(seen[-1].observation_n[slot])[2]
    seen = [*seen, *until(env, lambda step: (colour(step.observation_n[slot])[2] - first) % 256 >= 10)]
    assert all(step.observation_n[slot] is not None for step in seen)
    assert not any(step.done_n[slot] or step.info_n[slot]["error"] for step in seen)
    assert max(advances(seen, slot)) < 2 * DRAWN_PER_SECOND


def test_a_key_changes_the_picture_and_earns_a_reward(env):
    press_until_red(env, 0, 32)
    assert red(one_step(env), 1) == 0, "the other remote has its own display"
    press_until_red(env, 1, 32)
    press_until_red(env, 0, 64)


def test_agents_use_the_mirror_and_viewers_xvnc(env):
    assert listener(env.remotes[0].link.address.vnc.port) == rewarder(env, 0)
    assert "-rfbport" in command_line(xvnc(env, 0))


def test_the_end_of_an_episode_is_a_fresh_start(env):
    press_until_red(env, 0, 32)
    assert one_step(env, [[("KeyEvent", "Escape", True)], []]).info_n[0]["mask.masked.action"] == 0
    seen = until(env, lambda step: step.done_n[0])
    assert seen[-1].info_n[0]["terminated"] and seen[-1].info_n[0]["remote.presses"] == 2
    assert red(until(env, running)[-1], 0) == 0
    press_until_red(env, 0, 32)


def test_a_program_that_exits_ends_its_episode(env):
    one_step(env, [[("KeyEvent", "q", True)], []])
    seen = until(env, lambda step: step.done_n[0])
    assert seen[-1].info_n[0]["terminated"] and seen[-1].info_n[0]["remote.exit_status"] == 3
    until(env, running)


def test_a_killed_xvnc_cuts_one_slot_once_and_comes_back_by_itself(env):
    press_until_red(env, 0, 32)
    killed = xvnc(env, 0)
    os.kill(killed, signal.SIGKILL)
    seen = until(env, lambda step: step.info_n[0]["truncated"], 60)
    seen += until(env, running, 60)
    assert "probe" not in check_cut_once(seen, 0), "it was not seen at once"
    check_undisturbed(env, seen, 1)
    assert xvnc(env, 0) != killed
    assert red(seen[-1], 0) == 0
    press_until_red(env, 0, 32)


def test_a_killed_rewarder_takes_its_display_along_and_comes_back(env):
    dead = rewarder(env, 0)
    family = descendants(dead)
    assert {"Xvnc", "guard", "python"} <= {name(pid) for pid in family}
    end = Obituary(family)
    os.kill(dead, signal.SIGKILL)
    seen = until(env, lambda step: step.info_n[0]["truncated"], 60)
    end.wait(60)
    end.close()
    seen += until(env, running, 60)
    check_cut_once(seen, 0)
    check_undisturbed(env, seen, 1)
    press_until_red(env, 0, 32)


def test_a_stopped_xvnc_is_lost_and_goes_on_when_continued(env):
    stopped = xvnc(env, 0)
    began = time.monotonic()
    os.kill(stopped, signal.SIGSTOP)
    try:
        seen = until(env, lambda step: step.info_n[0]["truncated"], 60)
        assert time.monotonic() - began > 1.0
        seen += until(env, lambda step: ", reset:" in (step.info_n[0]["error"] or ""), 60)
    finally:
        os.kill(stopped, signal.SIGCONT)
    seen += until(env, running, 60)
    assert "no answer to a probe within 8 s" in check_cut_once(seen, 0)
    check_undisturbed(env, seen, 1)
    assert xvnc(env, 0) == stopped
    press_until_red(env, 0, 32)


def test_a_short_stop_is_only_a_stall(env):
    seen = press_until_red(env, 0, 32)
    stopped = xvnc(env, 0)
    os.kill(stopped, signal.SIGSTOP)
    try:
        start = len(seen)
        seen += until(env, lambda step: step.info_n[1]["stats.vnc.updates.n"] > 0)
        while sum(advances(seen[start:], 1)) < 10:
            seen.append(one_step(env))
            env.wait(0.1)
    finally:
        os.kill(stopped, signal.SIGCONT)
    blue = colour(seen[-1].observation_n[0])[2]
    seen += until(env, lambda step: step.observation_n[0] is None or colour(step.observation_n[0])[2] != blue)
    assert all(step.observation_n[0] is not None and step.info_n[0]["error"] is None for step in seen)
    assert not any(step.done_n[0] for step in seen)
    assert red(seen[-1], 0) == 32, "it is the same episode"


CLIENT = """
import sys, universe_client
from universe_client.providers import ProcessProvider
window = " ".join(sys.argv[1:])
program = ["/bin/sh", "-c", "sleep 1000 & exec " + window]
with universe_client.VectorEnv("process.w", ProcessProvider(2, "process.w", program=program)) as env:
    observation_n = env.reset()
    while any(observation is None for observation in observation_n):
        env.wait(1)
        observation_n = env.step([[], []])[0]
    print("running", flush=True)
    sys.stdin.read()
"""


def test_a_killed_client_leaves_no_process_behind():
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT, sys.executable, str(WINDOW)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    with client:
        assert client.stdout.readline() == b"running\n"
        family = descendants(client.pid)
        directories = {directory for pid in family if (directory := private_directory(pid))}
        names = sorted(name(pid) for pid in family)
        assert names == ["Xvnc"] * 2 + ["guard"] * 2 + ["python"] * 5 + ["sleep"] * 2
        end = Obituary(family)
        client.kill()
        end.wait(60)
        end.close()
    assert len(directories) == 2 and not any(directory.exists() for directory in directories)


def name(pid):
    """What a process is: python for zygote, rewarder and window alike."""
    arguments = command_line(pid)
    if "guard" in arguments:
        return "guard"
    return "python" if "python" in arguments[0] else Path(arguments[0]).name


def private_directory(pid):
    """Where an Xvnc keeps its passwords."""
    files = [argument for argument in command_line(pid) if argument.startswith("-PasswordFile=")]
    return Path(files[0].partition("=")[2]).parent if files else None


def test_in_lockstep_the_program_stands_still_between_steps():
    config = Config(mode="lockstep")
    with universe_client.VectorEnv(ENV_ID, provider(1), config=config) as env:
        env.reset()
        shown = colour(one_step(env).observation)
        (window,) = (pid for pid in descendants(os.getpid()) if command_line(pid)[1:2] == [str(WINDOW)])
        assert state(window) == "T"
        assert colour(env.recv()[0][0]) == shown
        seen = [one_step(env, [PRESS_A])]
        while red(seen[-1], 0) != 32 or sum(step.reward for step in seen) == 0:
            assert state(window) == "T"
            assert len(seen) < 500, "the key never reached it"
            seen.append(one_step(env))
        assert sum(step.reward for step in seen) == 1.0
