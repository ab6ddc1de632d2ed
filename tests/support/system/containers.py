"""Containers on a real daemon; tests fail without one. A module that imports `daemon` also imports `tidy`."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections import deque

import pytest

import universe_client
from tests.support.remotes.agent import until_running
from universe_client.providers.containers.engine import Engine
from universe_client.providers.containers.owner import SESSION, Owner
from universe_client.providers.containers.provider import DockerProvider
from universe_client.providers.containers.removal import reap

JUDGE, PLAYER, ROOT = "1000:1000", "1001:1001", "0:0"
CARTPOLE = "gym-core.CartPole-v1"
AGENT = f"""
import signal, sys, universe_client
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it for what it runs in the background
with universe_client.VectorEnv({CARTPOLE!r}, "docker:2") as env:
    env.reset()
    while any(observation is None for observation in env.step([[], []])[0]):
        env.wait(1)
    print(env.provider.session, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(scope="session")
def engine():
    """The project's `Engine`; it first removes what a killed run has left. Without a daemon every test fails."""
    engine = Engine()
    deque(reap(engine), maxlen=0)
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def daemon(engine):
    """The Docker SDK's client, to check the `Engine` independently."""
    import docker

    client = docker.DockerClient(base_url=engine.url)
    yield client
    client.close()


def left_behind(daemon):
    """Return what carries our label, and every anonymous volume, because those of our containers have no name."""
    containers = daemon.containers.list(all=True, filters={"label": SESSION}, ignore_removed=True)
    networks = daemon.networks.list(filters={"label": SESSION})
    return [container.name for container in containers] + [network.name for network in networks]


def shell(container, script, user=JUDGE):
    """Run a script in a container; return its exit status and its output."""
    status, output = container.exec_run(["bash", "-c", script], user=user)
    return status, output.decode().strip()


@pytest.fixture(autouse=True)
def tidy(daemon):
    """Fail when a test leaves a container, a network or a volume.

    Those of other running processes, such as test workers and agents of the user, do not count.
    """
    volumes = {volume.id for volume in daemon.volumes.list()}
    yield
    containers = _without_another(
        daemon.containers.list(all=True, filters={"label": SESSION}, ignore_removed=True)
    )
    networks = _without_another(daemon.networks.list(filters={"label": SESSION}))
    for container in containers:
        container.remove(force=True, v=True)  # so that it does not fail the next test, too
    for network in networks:
        network.remove()
    assert [left.name for left in (*containers, *networks)] == []
    left = [volume for volume in daemon.volumes.list() if volume.id not in volumes]
    assert [volume.id for volume in _without_another(left)] == []


def _without_another(found):
    """Leave out what belongs to another running process."""
    return [one for one in found if not _is_of_another(_labels(one))]


def _labels(found):
    labels = found.labels if hasattr(found, "labels") else found.attrs["Labels"]
    return labels or {}


def _is_of_another(labels):
    owner = Owner.of(labels)
    return owner is not None and owner != Owner.here() and not owner.has_ended


@pytest.fixture
def open_env():
    """Return an environment of containers, not reset; it is closed at the end."""
    with contextlib.ExitStack() as stack:

        def open_env(n=1, env_id=CARTPOLE, *, provider=None, **options):
            provider = provider or DockerProvider(n, env_id)
            return stack.enter_context(universe_client.VectorEnv(env_id, provider, **options))

        yield open_env


@pytest.fixture
def running_env(open_env):
    """Return an environment whose remotes all run."""

    def running_env(n=1, env_id=CARTPOLE, **options):
        """`options` are those of `open_env`."""
        env = open_env(n, env_id, **options)
        env.reset()
        until_running(env, 60)
        return env

    return running_env


@pytest.fixture
def containers(daemon):
    """Return the containers of an environment, by slot."""

    def containers(env):
        label = f"{SESSION}={env.provider.session}"
        found = daemon.containers.list(all=True, filters={"label": label}, ignore_removed=True)
        return sorted(found, key=lambda container: container.name)

    return containers


@pytest.fixture
def stranger(daemon):
    """A running container that does not belong to the project."""
    image = daemon.images.get("universe-client/base")
    container = daemon.containers.run(image.id, ["-c", "sleep 600"], entrypoint="sh", detach=True)
    yield container
    container.remove(force=True, v=True)


@pytest.fixture
def agent():
    """Run an agent in another process, which prints its session when its remotes run."""
    process = subprocess.Popen(
        [sys.executable, "-c", AGENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        yield process
        process.kill()


def command(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", "universe_client", *arguments], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def of_session(daemon, session):
    return {
        container.id: container.name
        for container in daemon.containers.list(all=True, filters={"label": f"{SESSION}={session}"})
    }
