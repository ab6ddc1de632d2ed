"""Agents for the command line: what `--agent` names."""

from __future__ import annotations

import importlib
import inspect
import logging
import os
import random
import reprlib
import sys
import sysconfig
import traceback
from collections.abc import Callable, Mapping, Sequence, Sized
from pathlib import Path
from typing import Any

from universe_client.core.info import blank
from universe_client.errors import ConfigError
from universe_client.spaces.actions import key
from universe_client.vector_env import ObservationN, StepResult
from vnc.events import Event
from vnc.keysyms import keysym

logger = logging.getLogger(__name__)

_OURS = [
    str(Path(__file__).parents[2] / name) + os.sep
    for name in ("universe_client", "rewarder", "vnc", "wrappers")
]
_NOT_THE_USERS = ("<", *_OURS, *(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")))

ActionN = Sequence[Sequence[Any]]
Agent = Callable[[list[Any], list[float | None], list[bool | None], dict[str, Any]], ActionN]
"""Called with what a step returned, the first time with that of `after_reset`; returns the next `action_n`.

These are the types that agents are given, so that one which asks for less, such as a `Sequence`, is an agent too.
"""

SIGNATURE = "agent(observation_n, reward_n, done_n, info) -> action_n"
AGENT_HELP = f"""\
an agent of your own, --agent module:callable:
  {SIGNATURE}
  observation_n  per remote {{"vision": uint8 (height, width, 3), "text": [...], "instruction": ...}},
                 None while it does not run
  reward_n       per remote the rewards since the last call; None from a remote without a rewarder
  done_n         per remote whether its episode has ended
  info           info["n"][i] has times, counters and errors of remote i
  action_n       per remote a list of events: ("KeyEvent", "Left", True), ("PointerEvent", x, y, button_mask)
  The module may be in the working directory. A class is called without arguments for its agent.
"""

DEFAULT_KEYS = ("Left", "Right", "Up", "Down", "space")
_ARGUMENTS = 4
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


class NamedAgent:
    """An agent from somebody's module: what goes wrong in it is a ConfigError of one line that says where."""

    def __init__(self, name: str, agent: Agent) -> None:
        """Take `agent`, which the user called `name`.

        Raises:
            ConfigError: it cannot be called like an agent.
        """
        self._name, self._agent = name, agent
        try:
            inspect.signature(agent).bind(*[None] * _ARGUMENTS)
        except TypeError as error:
            raise ConfigError(
                f"agent {name} cannot be called with {_ARGUMENTS} arguments ({error}); its signature is {SIGNATURE}"
            ) from None
        except ValueError:
            return  # written in C: its signature is not known

    def __call__(
        self,
        observation_n: list[Any],
        reward_n: list[float | None],
        done_n: list[bool | None],
        info: dict[str, Any],
    ) -> ActionN:
        """Return what the agent returns, if it can be an action.

        Raises:
            ConfigError: the agent raised, or returned something else.
        """
        try:
            action_n = self._agent(observation_n, reward_n, done_n, info)
        except Exception as error:
            raise _failure(f"agent {self._name} raised", error, f"; its signature is {SIGNATURE}") from error
        return self._checked(action_n, len(observation_n))

    def _checked(self, action_n: Any, n: int) -> ActionN:
        wrong = isinstance(action_n, str | bytes | Mapping) or not isinstance(action_n, Sized)
        if wrong or len(action_n) != n:
            what = "None" if action_n is None else f"{reprlib.repr(action_n)} ({type(action_n).__name__})"
            raise ConfigError(
                f"agent {self._name} returned {what}, not a list of events for each of {n} remotes; "
                f"its signature is {SIGNATURE}"
            )
        actions: ActionN = action_n
        return actions


def find_agent(name: str, keys: Sequence[str], seed: int | None) -> Agent:
    """Return the agent called `name`: `random`, `noop` or `module:callable`.

    A class is called for its agent; modules in the working directory are found too.

    Raises:
        ConfigError: there is no such module or callable in it, or it is no agent.
    """
    if name == "random":
        return RandomAgent(keys, seed)
    if name == "noop":
        return NoopAgent()
    module_name, _, attribute = name.partition(":")
    if not module_name or not attribute:
        raise ConfigError(f"agent {name!r} is neither random, noop nor module:callable")
    loaded = _load(module_name, attribute)
    if isinstance(loaded, type):
        try:
            loaded = loaded()
        except Exception as error:
            raise _failure(f"agent {name}, called without arguments, raised", error) from error
    if not callable(loaded):
        raise ConfigError(f"agent {name} is not callable; its signature is {SIGNATURE}")
    return NamedAgent(name, loaded)


def import_from_here() -> None:
    """Have modules in the working directory found, as under `python -m`."""
    if "" not in sys.path:
        sys.path.insert(0, "")


def _load(module_name: str, attribute: str) -> Any:
    import_from_here()
    try:
        return getattr(importlib.import_module(module_name), attribute)
    except AttributeError as error:
        if _line(error) is not None:
            raise _failure(f"agent module {module_name!r}:", error) from error
        raise ConfigError(f"agent module {module_name!r} has no {attribute!r}") from None
    except Exception as error:
        raise _failure(f"agent module {module_name!r}:", error) from error


def _failure(what: str, error: Exception, hint: str = "") -> ConfigError:
    """One line for an exception in somebody's code; the traceback goes to the log, for --log-level debug."""
    logger.debug("%s", what, exc_info=error)
    words = " ".join(f"{type(error).__name__}: {error}".split())
    line = _line(error)
    return ConfigError(f"{what} {words}{'' if line is None else f' at {line}'}{hint}")


def _line(error: Exception) -> str | None:
    """`file:line` of the innermost line of the user's own code, neither ours nor that of an installed package."""
    if isinstance(error, SyntaxError) and error.filename is not None:
        return f"{_shortest(error.filename)}:{error.lineno}"
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not frame.filename.startswith(_NOT_THE_USERS):
            return f"{_shortest(frame.filename)}:{frame.lineno}"
    return None


def _shortest(path: str) -> str:
    return min(path, os.path.relpath(path), key=len)
