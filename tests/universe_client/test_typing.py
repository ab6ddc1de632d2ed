"""What users hand to us may be annotated as they like; `make lint` has mypy check this file, too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import gymnasium
import pytest

from universe_client import VectorEnv
from universe_client.cli.agents import Agent, NoopAgent, RandomAgent
from universe_client.spaces.action_maps import ActionMap, Held
from universe_client.spaces.actions import key
from universe_client.vector_env import ObservationN
from vnc.events import Event
from wrappers import Unvectorize, Wrapper


def as_given(
    observation_n: ObservationN,
    reward_n: list[float | None],
    done_n: list[bool | None],
    info: dict[str, Any],
) -> list[list[tuple[str, str, bool]]]:
    return [[("KeyEvent", "Left", info["n"][0]["error"] is None)]]


def as_sequences(
    observation_n: Sequence[Mapping[str, object] | None],
    reward_n: Sequence[float | None],
    done_n: Sequence[bool | None],
    info: Mapping[str, Any],
) -> tuple[tuple[Event, ...], ...]:
    return ((key("Left", True),),)


def as_little_as_possible(
    observation_n: Iterable[object], _: object, __: object, ___: object
) -> Sequence[Sequence[object]]:
    return [[] for _ in observation_n]


AGENTS: list[Agent] = [as_given, as_sequences, as_little_as_possible, NoopAgent(), RandomAgent()]


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: getattr(agent, "__name__", type(agent).__name__))
def test_an_agent_may_ask_for_less_than_it_is_given(
    open_env: Callable[..., VectorEnv], scripted: Callable[..., Any], agent: Agent
) -> None:
    env = open_env(scripted())
    env.reset()
    env.step(agent(*env.step([[]])))


def test_our_agents_take_any_sequence() -> None:
    seen: tuple[Sequence[object], Sequence[float], Sequence[bool], Mapping[str, Any]]
    seen = ((None, None), (0.0, 0.0), (False, False), {})
    assert NoopAgent()(*seen) == RandomAgent()(*seen) == [[], []]


class Wait:
    """An action map of one action, which does nothing."""

    def space(self, width: int, height: int) -> gymnasium.spaces.Discrete:
        return gymnasium.spaces.Discrete(1)

    def events(self, action: int, held: Held, screen_size: tuple[int, int]) -> tuple[Event, ...]:
        return ()


class Doubled(Wrapper):
    """One remote's rewards, twice as high."""

    env: Wrapper  # an Unvectorize

    def reset(self, **options: Any) -> Mapping[str, Any] | None:
        observation: Mapping[str, Any] | None = self.env.reset(**options)
        return observation

    def recv(
        self, mask: Sequence[bool] | None = None
    ) -> tuple[Mapping[str, Any] | None, float, bool, dict[str, Any]]:
        observation, reward, done, info = self.env.recv(mask)
        return observation, 2 * reward, done, info


def test_maps_and_wrappers_may_promise_more(
    open_env: Callable[..., VectorEnv], scripted: Callable[..., Any]
) -> None:
    wait: ActionMap = Wait()
    assert not wait.events(0, ((), None), (1, 1))
    remote = scripted()
    env = Doubled(Unvectorize(open_env(remote)))
    env.reset()
    while env.step([])[0] is None:
        assert env.unwrapped.wait(60)
    remote.reward(1.5)
    while not (reward := env.step([])[1]):
        assert env.unwrapped.wait(60)
    assert reward == 3.0
