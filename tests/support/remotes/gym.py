"""Gymnasium's faces over scripted remotes, with short timeouts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests.support.fixtures import QUICK, provider
from universe_client import GymEnv, GymVectorEnv
from universe_client.core.remote import Remote

QUICKLY: dict[str, Any] = {
    "backoff": (0.05, 0.2),
    "timeouts": QUICK,
    "reset_timeout": 60.0,
    "start_timeout": 60.0,
}


@pytest.fixture
def open_gym(driver: str) -> Iterator[Callable[..., Any]]:
    """Open `GymVectorEnv` (or `face=GymEnv`) over remotes or a provider, on every driver; close them at the end."""
    opened: list[GymVectorEnv | GymEnv] = []

    def open_one(*remotes: Any, face: Any = GymVectorEnv, **options: Any) -> Any:
        opened.append(face(None, provider(*remotes), **(QUICKLY | {"driver": driver} | options)))
        return opened[-1]

    yield open_one
    for env in opened:
        env.close()


def values(observations: Any) -> list[int]:
    """Return the value of each row, all of whose pixels are equal."""
    frames = observations["vision"] if isinstance(observations, dict) else observations
    for frame in frames:
        assert (frame == frame[0, 0, 0]).all(), "a frame of two pictures"
    return [int(frame[0, 0, 0]) for frame in frames]


def noop(env: Any) -> Any:
    return np.zeros(env.num_envs, np.int64)


def step_until(env: Any, condition: Callable[[Any], bool], timeout: float = 60.0) -> list[Any]:
    """Step whenever new data arrives; return all results, the last of which fulfils `condition`."""
    results = []
    deadline = time.monotonic() + timeout
    while True:
        results.append(env.step(noop(env)))
        if condition(results[-1]):
            return results
        assert time.monotonic() < deadline, f"not within {timeout} s"
        env.unwrapped.core.wait(0.1)


def any_done(result: Any) -> bool:
    return bool((result[2] | result[3]).any())


def new_value(row: int, value: int) -> Callable[[Any], bool]:
    """Return the condition that a row shows this value."""
    return lambda result: values(result[0])[row] == value


def has_shown(remote: Remote, value: int) -> bool:
    """Whether the newest frame has this value and is ready for the agent.

    `Remote.has_news` alone is not enough: the answer to a probe is also a frame, with the old pixels.
    """
    link = remote.link
    session = link.session
    newest = np.zeros(session.shape, np.uint8)
    session.take(newest)
    return bool((newest == value).all() and link._progress._processed >= session.frame_time)


@pytest.fixture
def three(scripted: Callable[..., Any]) -> list[Any]:
    """Three scripted remotes."""
    return [scripted() for _ in range(3)]
