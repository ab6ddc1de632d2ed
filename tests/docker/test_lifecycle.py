"""Containers come, die, are replaced and are taken away: ours only, and all of ours."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

import universe_client
from tests.support.remotes.agent import steps, until, until_running, wait_until
from tests.support.system.containers import AGENT, CARTPOLE, command, left_behind, of_session
from universe_client.providers.containers.provider import DockerProvider

pytestmark = pytest.mark.docker


def failure(env):
    """Step until the only remote reports an error; return it."""
    return until(env, lambda step: step.info["error"] is not None, 60)[-1].info["error"]


# -- orphans ------------------------------------------------------------------------------------------------------


def test_reap_removes_exactly_what_a_killed_agent_left(agent, daemon, stranger, running_env, containers):
    env = running_env()
    (living,) = containers(env)
    session = agent.stdout.readline().strip()
    orphans = of_session(daemon, session)
    assert len(orphans) == 2
    assert "0 containers removed" in command("reap"), "their agent lives"
    agent.send_signal(signal.SIGKILL)
    agent.wait()
    assert of_session(daemon, session) == orphans, "nobody could remove them yet"
    shown = command("ps")
    assert f"{agent.pid} has ended" in shown and living.name in shown

    removed = command("reap").splitlines()

    assert set(removed) == {f"removed {name}" for name in orphans.values()} | {"2 containers removed"}
    assert of_session(daemon, session) == {}
    stranger.reload()
    assert stranger.status == "running"
    living.reload()
    assert living.status == "running"
    until_running(env, 60)


def test_the_next_start_removes_orphans_too(agent, daemon, stranger, running_env):
    session = agent.stdout.readline().strip()
    agent.kill()
    agent.wait()
    running_env()
    assert of_session(daemon, session) == {}
    stranger.reload()
    assert stranger.status == "running"


def test_an_interrupted_agent_takes_its_containers_along(agent, daemon):
    session = agent.stdout.readline().strip()
    agent.send_signal(signal.SIGINT)
    agent.wait(60)
    assert of_session(daemon, session) == {}


def test_sigterm_to_run_takes_its_containers_along(daemon):
    arguments = ("run", CARTPOLE, "--remotes", "docker:2")
    running = subprocess.Popen(
        [sys.executable, "-m", "universe_client", *arguments], stdout=subprocess.DEVNULL
    )
    with running:
        try:
            wait_until(lambda: len(left_behind(daemon)) == 3, 60, "two containers and their network")
        finally:
            running.send_signal(signal.SIGTERM)
        assert running.wait(30) == 128 + signal.SIGTERM
    assert left_behind(daemon) == []


def test_an_agent_that_forgets_to_close_leaves_nothing(daemon):
    script = AGENT.replace("with universe_client.VectorEnv", "env = universe_client.VectorEnv")
    script = script.replace(" as env:\n", "\nif True:\n").replace("    sys.stdin.read()\n", "")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert of_session(daemon, done.stdout.strip()) == {}


# -- closing ------------------------------------------------------------------------------------------------------


def test_close_removes_every_container_and_the_network(running_env, daemon):
    env = running_env(2)
    assert len(left_behind(daemon)) == 3
    env.close()
    env.close()
    assert left_behind(daemon) == []


def test_an_exception_removes_them(daemon):
    with suppress(ZeroDivisionError), universe_client.VectorEnv(CARTPOLE, "docker:2") as env:
        env.reset()
        until_running(env, 60)
        raise ZeroDivisionError
    assert left_behind(daemon) == []


@pytest.mark.parametrize("phase", ["daemon", "start", "rewarder"])
def test_close_in_the_middle_of_a_start_leaves_nothing(open_env, daemon, phase):
    env = open_env(2)
    wait_until(lambda: env.provider.phase(0) == phase, 20, phase)
    env.close()
    assert left_behind(daemon) == []


# -- failures -----------------------------------------------------------------------------------------------------


def test_a_killed_container_truncates_its_slot_once_and_is_replaced(running_env, containers):
    env = running_env(2, backoff=(0.1, 0.5))
    victim, other = containers(env)
    began = time.monotonic()
    victim.kill()
    seen = until(env, lambda step: step.observation_n[0] is None, 60)
    for step in steps(env, 20):
        seen.append(step)
        if step.observation_n[0] is not None:
            break
    assert time.monotonic() - began < 10
    assert [step.info_n[0]["truncated"] for step in seen].count(True) == 1
    assert [step.info_n[0]["error"] is not None for step in seen].count(True) == 1
    assert all(step.observation_n[1] is not None or step.done_n[1] is not None for step in seen)
    now = containers(env)
    assert len(now) == 2 and victim.id not in {container.id for container in now}
    assert other.id in {container.id for container in now}


def test_a_removed_container_is_replaced(running_env, containers):
    env = running_env(backoff=(0.1, 0.5))
    (victim,) = containers(env)
    victim.remove(force=True, v=True)
    until(env, lambda step: step.observation is None, 60)
    until_running(env, 60)


def test_an_environment_that_is_not_in_the_image_is_told_in_the_remotes_own_words(open_env):
    env = open_env(env_id="gym-core.Nonsense-v0")
    env.reset()
    error = failure(env)
    assert "ended with status 2" in error and "Nonsense" in error
    assert env.remotes[0].error.permanent


def test_a_start_that_is_given_up_in_its_middle_leaves_nothing(open_env, daemon):
    env = open_env(2, start_timeout=0.3)  # the environment's, not the provider's: it cuts off without asking
    env.reset()
    assert "not started within 0.3 s" in failure(env)
    env.close()
    assert left_behind(daemon) == []


def test_a_container_that_never_answers_is_given_up_with_its_last_words(open_env, daemon):
    slow = daemon.containers.run(
        "universe-client/base",
        ["-c", "printf '#!/bin/sh\\necho asleep; exec sleep 600\\n' > /usr/local/bin/entrypoint"],
        entrypoint="sh",
        user="root",
        detach=True,
    )
    assert slow.wait()["StatusCode"] == 0
    slow.commit("universe-client-test/slow", "1", conf={"Entrypoint": ["entrypoint"]})
    slow.remove(v=True)
    try:
        provider = DockerProvider(1, CARTPOLE, start_timeout=3, reference="universe-client-test/slow:1")
        env = open_env(provider=provider)
        env.reset()
        error = failure(env)
        env.close()
    finally:
        daemon.images.remove("universe-client-test/slow:1", force=True)
    assert "waited for the rewarder for 2.7 s" in error
    assert error.endswith("its last words:\n    asleep")
