"""Fixtures of most tests of the agent's side: scripted remotes, and environments over them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.support.drivers import DRIVERS, WAYS
from tests.support.remotes.agent import until_running
from tests.support.remotes.remote import ScriptedRemote
from universe_client import Config, VectorEnv
from universe_client.core.event_loop.loop import LoopThread
from universe_client.providers.address import AddressProvider
from universe_client.providers.provider import RemoteAddress
from vnc.session import Timeouts

# Short, but long enough for a healthy remote on a busy machine. Remotes are often threads of the test's process: a
# large package that is imported, or that builds its classes, takes the GIL from them for seconds.
QUICK = Timeouts(
    connect=10.0, handshake=10.0, update=10.0, probe_interval=0.5, probe_deadline=20.0, close=1.0
)


@pytest.fixture
def far_side() -> Iterator[LoopThread]:
    """The event loop of the scripted remotes; the agent has another."""
    loop = LoopThread("far side")
    yield loop
    loop.stop(asyncio.sleep(0))


@pytest.fixture
def scripted(far_side: LoopThread) -> Iterator[Callable[..., ScriptedRemote]]:
    """Start scripted remotes, and stop them at the end."""
    started: list[ScriptedRemote] = []

    def start(**options: Any) -> ScriptedRemote:
        started.append(ScriptedRemote(far_side, **options))
        return started[-1]

    yield start
    for remote in started:
        remote.stop()


@pytest.fixture(params=DRIVERS)
def driver(request: pytest.FixtureRequest) -> str:
    """Each installed driver."""
    return str(request.param)


@pytest.fixture(name="driver", params=WAYS)
def each_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The driver of each way in which pixels come. Without "shared" the native one takes no server for a near one."""
    if request.param == "native":
        monkeypatch.setattr("vnc.client.native.is_this_host", lambda host: False)
    return "native" if request.param == "shared" else str(request.param)


@pytest.fixture
def open_env(driver: str) -> Iterator[Callable[..., VectorEnv]]:
    """Open environments over remotes, addresses or a provider, with short timeouts, and close them at the end."""
    opened: list[VectorEnv] = []

    def open_one(*remotes: Any, env_id: str | None = None, **options: Any) -> VectorEnv:
        options = {"driver": driver, "backoff": (0.05, 0.2), "timeouts": QUICK} | options
        env = VectorEnv(env_id, provider(*remotes), config=Config(**options))
        opened.append(env)
        return env

    yield open_one
    for env in opened:
        env.close()


@pytest.fixture
def playing(open_env: Callable[..., VectorEnv]) -> Callable[..., VectorEnv]:
    """As `open_env`; the environment is then reset and stepped until every remote runs."""

    def open_one(*remotes: Any, **options: Any) -> VectorEnv:
        env = open_env(*remotes, **options)
        env.reset()
        until_running(env)
        return env

    return open_one


@pytest.fixture
def no_thread_is_left() -> Iterator[None]:
    """Fail when a thread of an environment outlives the test."""
    before = set(threading.enumerate())
    yield
    assert not {thread for thread in threading.enumerate() if thread.name == "universe-client"} - before


def provider(*remotes: Any) -> Any:
    """Return a provider for scripted remotes and addresses, or the given provider."""
    if all(isinstance(remote, ScriptedRemote | RemoteAddress) for remote in remotes):
        return AddressProvider([getattr(remote, "address", remote) for remote in remotes])
    (only,) = remotes
    return only
