"""Old spellings of arguments and command-line options: each raises an error that names the new one."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, TypeVar

from universe_client.errors import ConfigError

_Class = TypeVar("_Class", bound=type)

_CONFIG = {"generic": "env_observation", "call": "allowed_calls"}
_GYM = {**_CONFIG, "screen": "screen_size"}
ARGUMENTS: dict[str, Mapping[str, str]] = {
    "Config": _CONFIG,
    "GymEnv": _GYM,
    "GymVectorEnv": _GYM,
    "ProcessProvider": {"geometry": "screen_size"},
    "Throttle": {"fps": "step_rate"},
    "VectorEnv": _CONFIG,
}
"""The new name of each renamed argument, by class and old name. They go with the next release."""
OPTIONS: dict[str, Mapping[str, str]] = {
    "run": {"--fps": "--step-rate"},
    "serve": {"--call": "--allow-call", "--observation": "--env-observation", "--xvnc": "--screen-size"},
}
"""The new name of each renamed command-line option, by subcommand and old name. They go with the next release."""


def refuse_old_arguments(cls: _Class) -> _Class:
    """Make the constructor of a class raise ConfigError for the arguments that `ARGUMENTS` lists for it.

    A class decorator. The signature that `help()` shows does not change.
    """
    names = ARGUMENTS[cls.__name__]
    init = cls.__init__  # type: ignore[misc]  # the class is a variable, not `self`

    @functools.wraps(init)
    def checked(self: object, *args: Any, **kwargs: Any) -> None:
        for name in names.keys() & kwargs.keys():
            raise ConfigError(f"{name}= is now {names[name]}=: use {names[name]}={kwargs[name]!r}")
        init(self, *args, **kwargs)

    cls.__init__ = checked  # type: ignore[misc]
    return cls
