"""Nothing is left of a session that ends by `ray.shutdown()`, or by the death of its agent or of a node."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from tests.support.remotes.agent import until_running, wait_until
from tests.support.remotes.cluster import processes
from universe_client import VectorEnv
from universe_client.providers.ray import system

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(600)]
LONG = 240.0
AGENT = """
import sys, ray, universe_client
from tests.support.remotes.agent import until_running
env = universe_client.VectorEnv("builtin.NeonDrive-v0", "ray:2", start_timeout=240)
env.reset()
until_running(env, 240)
print(env.provider.session, flush=True)
sys.stdin.readline()
ray.shutdown()
print("left", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def agent(nodes):
    """An agent in a process of its own, whose two remotes run; and the name of its session."""
    process = subprocess.Popen(
        [sys.executable, "-c", AGENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    session = process.stdout.readline().strip()
    assert session, "the agent did not start"
    assert remotes()
    yield process, session
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


def remotes():
    """Return our processes on all nodes: the actors, and the processes of their remotes."""
    return processes("ray::Host") | processes("rewarder")


def actors(session=""):
    return [name for name, _ in system.named(f"universe-client-{session}")]


def command(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", "universe_client", *arguments],
        capture_output=True, text=True, timeout=LONG, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_after_ray_shutdown(agent):
    process, session = agent
    process.stdin.write("\n")
    process.stdin.flush()
    assert process.stdout.readline() == "left\n"
    wait_until(lambda: not remotes(), 120, "the end of the remotes")
    assert not actors(session)


def test_after_kill_9_of_the_agent(agent):
    process, session = agent
    process.kill()
    wait_until(lambda: not remotes(), 120, "the end of the remotes")
    wait_until(lambda: not actors(session), 120, "the end of the actors' names")


def test_after_kill_9_of_a_raylet(nodes):
    with VectorEnv("builtin.NeonDrive-v0", "ray:2", start_timeout=LONG) as env:
        env.reset()
        until_running(env, LONG)
        before = remotes()
        (handle,) = [handle for _, handle in system.named(f"universe-client-{env.provider.session}-")]
        node = nodes.node(system.get(handle.describe.remote(), LONG).node)
        nodes.replace(node)
        wait_until(lambda: not remotes().keys() & before.keys(), 120, "the end of the node's remotes")
        until_running(env, LONG)
        assert remotes()
    wait_until(lambda: not remotes(), 120, "the end of the remotes")


def test_ps_lists_the_actors_and_down_ends_their_session(nodes):
    with VectorEnv("builtin.NeonDrive-v0", "ray:2", start_timeout=LONG) as env:
        env.reset()
        until_running(env, LONG)
        session = env.provider.session
        (row,) = [line for line in command("ps").splitlines() if session in line]
        assert "builtin.NeonDrive-v0 (embedded)" in row
        assert "2 of 2 run" in row
        assert str(os.getpid()) in row
        assert "0 actors ended" in command("reap"), "its agent runs"
        assert "1 actor ended" in command("down", session)
        ended = "ended by universe-client down"
        deadline = time.monotonic() + LONG
        errors = []
        while time.monotonic() < deadline and len(errors) < 2:
            info = env.step([[], []])[3]["n"]
            errors += [one["error"] for one in info if one["error"] and ended in one["error"]]
            env.wait(0.1)
        assert len(errors) == 2
        wait_until(lambda: not actors(session), 60, "the end of the actors")
        assert not remotes()


def test_down_withdraws_claims_that_wait(nodes):
    from universe_client.providers import RayProvider, Resources

    waiting = RayProvider(1, "builtin.NeonDrive-v0", LONG, resources=Resources(0.1, 0, {"never": 1}))
    with VectorEnv("builtin.NeonDrive-v0", waiting, start_timeout=LONG) as env:
        env.reset()
        wait_until(lambda: actors(waiting.session), 60, "the claim")
        assert "waits for a place" in command("ps")
        command("down", waiting.session)
        deadline = time.monotonic() + LONG
        while not (error := env.step([[]])[3]["n"][0]["error"]):
            assert time.monotonic() < deadline
            env.wait(0.1)
        assert "ended by universe-client down" in error
        assert not actors(waiting.session)
