"""Agents for the command line: what `--agent` names."""

from __future__ import annotations

import importlib
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from universe_client.actions import key
from universe_client.errors import ConfigError
from universe_client.info import blank
from universe_client.vector_env import ObservationN, StepResult
from vnc.events import Event
from vnc.keysyms import keysym

ActionN = Sequence[Sequence[Any]]
Agent = Callable[[list[Any], list[float | None], list[bool | None], dict[str, Any]], ActionN]
"""Called with what a step returned, the first time with that of `after_reset`; returns the next `action_n`.

These are the types that agents are given, so that one which asks for less, such as a `Sequence`, is an agent too.
"""

DEFAULT_KEYS = ("Left", "Right", "Up", "Down", "space")
_CHANGE = 0.1  # of a random agent's steps


def after_reset(observation_n: ObservationN) -> StepResult:
    """Return what `reset` returned as if by a step: no rewards, no ends of episodes, blank infos."""
    n = len(observation_n)
    return observation_n, [0.0] * n, [False] * n, {"n": [blank() for _ in range(n)]}


class NoopAgent:
    """Does nothing; the world goes on all the same."""

    def __call__(
        self,
        observation_n: Sequence[Any],
        reward_n: Sequence[float | None],
        done_n: Sequence[bool | None],
        info: Mapping[str, Any],
    ) -> ActionN:
        """Return no event for every remote."""
        return [[] for _ in observation_n]


class RandomAgent:
    """Holds one random key after the other on each remote."""

    def __init__(self, keys: Sequence[str] = DEFAULT_KEYS, seed: int | None = None) -> None:
        try:
            self._keys = [keysym(name) for name in keys]
        except ValueError as error:
            raise ConfigError(str(error)) from None
        self._random = random.Random(seed)
        self._held: dict[int, int] = {}

    def __call__(
        self,
        observation_n: Sequence[Any],
        reward_n: Sequence[float | None],
        done_n: Sequence[bool | None],
        info: Mapping[str, Any],
    ) -> ActionN:
        """Return, now and then, the release of the held key and the press of another."""
        return [self._act(index, observation is not None) for index, observation in enumerate(observation_n)]

    def _act(self, index: int, running: bool) -> list[Event]:
        if not running:
            self._held.pop(index, None)  # released for us at the end of the episode
            return []
        if self._random.random() > _CHANGE:
            return []
        before = self._held.get(index)
        self._held[index] = chosen = self._random.choice(self._keys)
        press: list[Event] = [key(chosen, True)]
        return press if before is None else [key(before, False), *press]


def find_agent(name: str, keys: Sequence[str], seed: int | None) -> Agent:
    """Return the agent called `name`: `random`, `noop` or `module:callable`.

    A class is called for its agent; modules in the working directory are found too.

    Raises:
        ConfigError: there is no such module or callable in it.
    """
    if name == "random":
        return RandomAgent(keys, seed)
    if name == "noop":
        return NoopAgent()
    module_name, _, attribute = name.partition(":")
    if not module_name or not attribute:
        raise ConfigError(f"agent {name!r} is neither random, noop nor module:callable")
    loaded = _load(module_name, attribute)
    agent: Agent = loaded() if isinstance(loaded, type) else loaded
    return agent


def import_from_here() -> None:
    """Have modules in the working directory found, as under `python -m`."""
    if "" not in sys.path:
        sys.path.insert(0, "")


def _load(module_name: str, attribute: str) -> Any:
    import_from_here()
    try:
        agent = getattr(importlib.import_module(module_name), attribute)
    except ModuleNotFoundError as error:
        raise ConfigError(f"agent module {module_name!r}: {error}") from error
    except AttributeError:
        raise ConfigError(f"agent module {module_name!r} has no {attribute!r}") from None
    if not callable(agent):
        raise ConfigError(f"agent {module_name}:{attribute} is not callable")
    return agent
