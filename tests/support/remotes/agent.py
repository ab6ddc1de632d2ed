"""Step an environment until an event, without fixed sleeps."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from universe_client import VectorEnv
from universe_client.core.vector import RemoteVector

LEFT = 0xFF51
PRESS = [[("KeyEvent", "Left", True)]]


@dataclass(frozen=True)
class Step:
    """The results of one step, one entry per slot."""

    observation_n: list[Any]
    reward_n: list[Any]
    done_n: list[Any]
    info_n: list[dict[str, Any]]

    @property
    def observation(self) -> Any:
        return self.observation_n[0]

    @property
    def reward(self) -> Any:
        return self.reward_n[0]

    @property
    def done(self) -> Any:
        return self.done_n[0]

    @property
    def info(self) -> dict[str, Any]:
        return self.info_n[0]

    @property
    def pixel(self) -> int:
        """Return the value of the first slot's screen, all of whose pixels are equal."""
        vision = self.observation["vision"]
        assert (vision == vision[0, 0, 0]).all(), "a frame of two pictures"
        return int(vision[0, 0, 0])


def one_step(env: Any, action_n: Sequence[Any] | None = None) -> Step:
    observation_n, reward_n, done_n, info = env.step([[]] * env.n if action_n is None else action_n)
    return Step(observation_n, reward_n, done_n, info["n"])


def steps(env: Any, timeout: float = 60.0) -> Iterator[Step]:
    """Step whenever new data arrives; fail after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    while True:
        yield one_step(env)
        left = deadline - time.monotonic()
        assert left > 0, f"not within {timeout} s"
        env.wait(min(left, 0.25))


def until(env: Any, condition: Callable[[Step], bool], timeout: float = 60.0) -> list[Step]:
    """Step until `condition` holds; return all steps, the last of which fulfils it."""
    seen: list[Step] = []
    for step in steps(env, timeout):
        seen.append(step)
        if condition(step):
            return seen
    raise AssertionError("unreachable")


def running(step: Step) -> bool:
    return all(observation is not None for observation in step.observation_n)


def is_done(step: Step) -> bool:
    return bool(step.done)


def failed(step: Step) -> bool:
    return any(info["error"] is not None for info in step.info_n)


def until_running(env: Any, timeout: float = 60.0) -> Step:
    return until(env, running, timeout)[-1]


def set_reset_timeout(env: VectorEnv | RemoteVector, seconds: float) -> None:
    """Shorten the reset timeout once the remotes run, so that a slow machine does not fail their start."""
    core = env.core if isinstance(env, VectorEnv) else env
    core.config = replace(core.config, reset_timeout=seconds)


def wait_until(condition: Callable[[], bool], timeout: float = 60.0, what: str = "it") -> None:
    """Poll a state that has no event; fail at the deadline."""
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen within {timeout} s"
        time.sleep(0.005)
