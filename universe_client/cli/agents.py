"""The agents that `--agent` can name."""

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
_NOT_OF_USERS = ("<", *_OURS, *(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")))

ActionN = Sequence[Sequence[Any]]
Agent = Callable[[list[Any], list[float | None], list[bool | None], dict[str, Any]], ActionN]
"""A callable from the results of a step, at first those of `after_reset`, to the next `action_n`.

The parameters have concrete types, so that an agent whose parameters are more general (`Sequence`) matches too.
"""

SIGNATURE = "agent(observation_n, reward_n, done_n, info) -> action_n"
AGENT_HELP = f"""\
your own agent, --agent module:callable:
  {SIGNATURE}
  observation_n  per remote {{"vision": uint8 (height, width, 3), "text": [...], "instruction": ...}},
                 None while it does not run
  reward_n       per remote sum of rewards since the last call; None without a rewarder
  done_n         per remote whether its episode has ended
  info           info["n"][i] contains times, counters and errors of remote i
  action_n       per remote a list of events: ("KeyEvent", "Left", True), ("PointerEvent", x, y, button_mask)
  Modules in the working directory are found too. A class is instantiated without arguments.
"""

DEFAULT_KEYS = ("Left", "Right", "Up", "Down", "space")
_ARGUMENTS = 4
_CHANGE = 0.1  # probability per step that a random agent presses another key


def after_reset(observation_n: ObservationN) -> StepResult:
    """Return the observations of a reset as a step's results: without rewards, ends of episodes or infos."""
    n = len(observation_n)
    return observation_n, [0.0] * n, [False] * n, {"n": [blank() for _ in range(n)]}


class NoopAgent:
    """Sends no events."""

    def __call__(
        self,
        observation_n: Sequence[Any],
        reward_n: Sequence[float | None],
        done_n: Sequence[bool | None],
        info: Mapping[str, Any],
    ) -> ActionN:
        """Return an empty list of events for each remote."""
        return [[] for _ in observation_n]


class RandomAgent:
    """Holds a random key on each remote, and now and then replaces it by another."""

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
        """Return the events for each remote."""
        return [self._act(index, observation is not None) for index, observation in enumerate(observation_n)]

    def _act(self, index: int, running: bool) -> list[Event]:
        if not running:
            self._held.pop(index, None)  # the environment releases keys at the end of an episode
            return []
        if self._random.random() > _CHANGE:
            return []
        before = self._held.get(index)
        self._held[index] = chosen = self._random.choice(self._keys)
        press: list[Event] = [key(chosen, True)]
        return press if before is None else [key(before, False), *press]


class NamedAgent:
    """An agent from a user's module. Its exceptions become a ConfigError of one line with file and line number."""

    def __init__(self, name: str, agent: Agent) -> None:
        """Wrap `agent`, which the user named `name`.

        Raises:
            ConfigError: it does not accept an agent's four arguments.
        """
        self._name, self._agent = name, agent
        try:
            inspect.signature(agent).bind(*[None] * _ARGUMENTS)
        except TypeError as error:
            raise ConfigError(
                f"agent {name} cannot be called with {_ARGUMENTS} arguments ({error}); its signature is {SIGNATURE}"
            ) from None
        except ValueError:
            return  # a C function without a signature

    @property
    def plan(self) -> Any:
        """The agent's own method `plan`, which examples/evaluate.py describes; None without one."""
        return getattr(self._agent, "plan", None)

    def __call__(
        self,
        observation_n: list[Any],
        reward_n: list[float | None],
        done_n: list[bool | None],
        info: dict[str, Any],
    ) -> ActionN:
        """Return the agent's actions.

        Raises:
            ConfigError: the agent raised an exception, or did not return one list of events per remote.
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
    """Return the agent that `name` stands for: `random`, `noop` or `module:callable`.

    Args:
        name: a class in the module is instantiated without arguments; modules in the working directory are found too.
        keys: the names of the keys that the random agent presses.
        seed: the seed of the random agent.

    Raises:
        ConfigError: the module or the callable does not exist, or it is not an agent.
    """
    if name == "random":
        return RandomAgent(keys, seed)
    if name == "noop":
        return NoopAgent()
    module_name, _, attribute = name.partition(":")
    if not module_name or not attribute:
        raise ConfigError(f"agent {name!r} is not random, noop or module:callable")
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
    """Add the working directory to the module search path, as `python -m` does."""
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
    """Return an exception of a user's code as one line; --log-level debug shows its traceback."""
    logger.debug("%s", what, exc_info=error)
    words = " ".join(f"{type(error).__name__}: {error}".split())
    line = _line(error)
    return ConfigError(f"{what} {words}{'' if line is None else f' at {line}'}{hint}")


def _line(error: Exception) -> str | None:
    """Return `file:line` of the innermost frame that is in neither this project nor an installed package."""
    if isinstance(error, SyntaxError) and error.filename is not None:
        return f"{_shortest(error.filename)}:{error.lineno}"
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not frame.filename.startswith(_NOT_OF_USERS):
            return f"{_shortest(frame.filename)}:{frame.lineno}"
    return None


def _shortest(path: str) -> str:
    return min(path, os.path.relpath(path), key=len)
