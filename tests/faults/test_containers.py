"""Containers that end (F33) or that run without answering (F45) are replaced, and the error names the reason."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time
from dataclasses import replace

import pytest

from tests.support.remotes.agent import running, until, until_running, wait_until
from tests.support.system.containers import (
    PLAYER,
    ROOT,
    containers,
    daemon,
    engine,
    left_behind,
    open_env,
    running_env,
    shell,
    tidy,
)
from tests.support.system.dockerd import OwnDaemon
from universe_client.errors import ProviderError
from universe_client.providers.containers.images import image_for
from universe_client.providers.containers.provider import DockerProvider

__all__ = ["containers", "daemon", "engine", "open_env", "running_env", "tidy"]

pytestmark = pytest.mark.docker

CARTPOLE, DESKTOP = "gym-core.CartPole-v1", "desktop.WriteNote-v0"
DRIVE = "builtin.NeonDrive-v0"
REPLACED = 60


def failure(env):
    """Step until the only remote reports an error; return the error."""
    return until(env, lambda step: step.info["error"] is not None, 60)[-1].info["error"]


def host_pids(container, name):
    """The processes of a container by name, numbered as on this machine."""
    found = container.top(ps_args="-eo pid,comm")["Processes"]
    return [int(pid) for pid, comm in found if comm.startswith(name)]


def stop(container, name):
    """Send SIGSTOP to programs of a container."""
    pids = host_pids(container, name)
    assert pids, name
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)


def until_told(env):
    """Step until the slot reports an error; return how long that took."""
    began = time.monotonic()
    until(env, lambda step: step.info["error"] is not None, REPLACED)
    return time.monotonic() - began


def replaced(env, containers, victim):
    """Wait until another container runs in its place; return how long that took."""
    began = time.monotonic()

    def by_another(step):
        now = containers(env) if running(step) else []
        return len(now) == 1 and now[0].id != victim.id

    until(env, by_another, REPLACED)
    return time.monotonic() - began


# -- F45 ----------------------------------------------------------------------------------------------------------


@pytest.mark.timeout(180)
@pytest.mark.fault("F45", "a container that runs and does not answer")
@pytest.mark.parametrize("program", ["python", "Xvnc"])
def test_a_container_is_replaced_whose_rewarder_or_display_is_stopped(
    running_env, containers, measure, program
):
    env = running_env(env_id=DESKTOP)
    (victim,) = containers(env)
    stop(victim, program)
    seconds = replaced(env, containers, victim)
    measure(f"replaced after {program} stopped", seconds, at_most=REPLACED, unit="s")


@pytest.mark.timeout(180)
@pytest.mark.fault("F45", "a container that runs and does not answer")
def test_a_container_is_replaced_that_is_cut_from_its_network(running_env, containers, daemon, measure):
    env = running_env()
    (victim,) = containers(env)
    (name,) = victim.attrs["NetworkSettings"]["Networks"]
    daemon.networks.get(name).disconnect(victim)
    seconds = replaced(env, containers, victim)
    measure("replaced after a network disconnect", seconds, at_most=REPLACED, unit="s")


@pytest.mark.timeout(180)
@pytest.mark.fault("F45", "a container that runs and does not answer")
def test_a_container_is_replaced_that_is_paused(running_env, containers, measure):
    env = running_env()
    (victim,) = containers(env)
    victim.pause()
    seconds = replaced(env, containers, victim)
    measure("replaced after a pause", seconds, at_most=REPLACED, unit="s")


@pytest.mark.timeout(240)
@pytest.mark.fault("F45", "a container that runs and does not answer")
def test_a_container_is_replaced_whose_health_check_fails_although_it_answers(
    open_env, containers, daemon, measure
):
    """The test removes the file that the image's health check reads; both connections stay open."""
    made = daemon.containers.create("universe-client/gym-core")
    check = {
        "Test": ["CMD", "test", "!", "-e", "/tmp/unwell"],
        "Interval": 10**9,
        "Timeout": 10**9,
        "Retries": 2,
    }
    made.commit("universe-client-test/unwell", "1", conf={"Healthcheck": check})
    made.remove(v=True)
    try:
        env = open_env(provider=DockerProvider(1, CARTPOLE, reference="universe-client-test/unwell:1"))
        env.reset()
        until_running(env, 60)
        (victim,) = containers(env)
        assert shell(victim, "touch /tmp/unwell")[0] == 0
        seconds = replaced(env, containers, victim)
        env.close()
    finally:
        daemon.images.remove("universe-client-test/unwell:1", force=True)
    measure("replaced after failed health checks", seconds, at_most=REPLACED, unit="s")


@pytest.mark.fault("F45", "a container that runs and does not answer")
def test_a_full_disk_does_not_end_the_remote_and_is_empty_again_in_the_next_episode(running_env, containers):
    """The judge has its own file system for writing."""
    env = running_env(env_id=DESKTOP)
    (container,) = containers(env)
    fill = "cat /dev/zero > /tmp/full; cat /dev/zero > /dev/shm/full; df /tmp /dev/shm | grep -c 100%"
    assert shell(container, fill, PLAYER)[1].endswith("2")
    env.reset()
    until(env, lambda step: step.observation is None, 30)
    until(env, running, 30)
    assert shell(container, "ls /tmp/full /dev/shm/full", ROOT)[0] != 0
    assert [one.id for one in containers(env)] == [container.id]


# -- F33 ----------------------------------------------------------------------------------------------------------


@pytest.mark.fault("F33", "container killed, OOM, image missing, port taken, dockerd restart")
def test_a_container_that_is_killed_is_replaced_and_the_error_names_it(
    running_env, containers, measure, caplog
):
    env = running_env(backoff=(0.1, 0.5))
    (victim,) = containers(env)
    victim.kill()
    measure("time to the error after a kill", until_told(env), at_most=10, unit="s")
    replaced(env, containers, victim)
    told = [record.getMessage() for record in caplog.records if victim.name in record.getMessage()]
    assert any("its last words" in text for text in told), told


@pytest.mark.fault("F33", "container killed, OOM, image missing, port taken, dockerd restart")
def test_a_port_that_somebody_else_takes_meanwhile_is_no_matter(running_env, containers):
    """The ports of a new container are chosen by the daemon, never those of the one before."""
    env = running_env(backoff=(0.5, 1.0))
    (victim,) = containers(env)
    port = env.remotes[0].link.address.rewarder.port
    victim.remove(force=True, v=True)
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)

        def bound():
            try:
                taken.bind(("127.0.0.1", port))
            except OSError:
                return False
            return True

        wait_until(bound, 10, "the port is free")
        replaced(env, containers, victim)
        assert env.remotes[0].link.address.rewarder.port != port


@pytest.mark.fault("F33", "container killed, OOM, image missing, port taken, dockerd restart")
def test_an_image_that_is_not_here_is_named_with_the_command_that_makes_it(open_env, monkeypatch):
    image = replace(image_for(CARTPOLE), name="gym-core-of-nobody")
    env = open_env(provider=DockerProvider(1, CARTPOLE, image=image))
    env.reset()
    error = failure(env)
    assert f"the daemon has no image {image.reference}: run universe-client build gym-core-of-nobody" in error
    assert env.remotes[0].error.permanent
    assert isinstance(env.remotes[0].error, ProviderError)


@pytest.mark.fault("F33", "container killed, OOM, image missing, port taken, dockerd restart")
def test_too_little_memory_names_the_container_the_limit_and_the_last_words(open_env):
    image = replace(image_for(CARTPOLE), memory=16 << 20)
    env = open_env(provider=DockerProvider(1, CARTPOLE, image=image))
    env.reset()
    error = failure(env)
    assert f"container universe-client-{env.provider.session}-0" in error
    assert "used more than 16 MiB of memory" in error


@pytest.fixture(scope="module")
def own_daemon(daemon):
    """A daemon that has the image of `DRIVE`, and an SDK's connection to it."""
    import docker

    own = OwnDaemon()
    try:
        own.start()
        with contextlib.closing(docker.DockerClient(base_url=own.url, timeout=300)) as client:
            client.images.load(daemon.images.get(image_for(DRIVE).reference).save(named=True))
            yield own, client
    finally:
        own.close()


@pytest.mark.fault("F33", "container killed, OOM, image missing, port taken, dockerd restart")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
def test_remotes_come_back_with_the_daemon_and_their_errors_name_the_container(
    own_daemon, open_env, monkeypatch, measure, number
):
    own, client = own_daemon
    monkeypatch.setenv("DOCKER_HOST", own.url)
    env = open_env(2, DRIVE, backoff=(0.1, 0.5))
    env.reset()
    until_running(env, 60)
    names = [container.name for container in client.containers.list()]
    own.end(number)
    began = time.monotonic()
    error_n = errors_without_a_daemon(env)
    measure(f"back after {number.name} of the daemon", time.monotonic() - began, at_most=10, unit="s")
    for index, error in enumerate(error_n):
        assert f"container universe-client-{env.provider.session}-{index}" in error
        assert f"no Docker daemon answers at {own.url}" in error
    own.start()
    until_running(env, 60)
    running = [container.name for container in client.containers.list(all=True)]
    assert len(running) == 2 and not set(running) & set(names)
    env.close()
    assert left_behind(client) == []


def errors_without_a_daemon(env):
    """Step until no remote has a daemon; return the errors."""
    errors = [""] * env.n

    def no_daemon(step):
        for index, info in enumerate(step.info_n):
            errors[index] = info["error"] or errors[index]
        return all("Docker daemon" in error for error in errors)

    until(env, no_daemon, 60)
    return errors
