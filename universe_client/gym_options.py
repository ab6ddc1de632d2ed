"""Reading the arguments that Gymnasium's two faces share."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec
from numpy.typing import NDArray

from universe_client.config import Config
from universe_client.errors import ConfigError
from universe_client.pixel_box import PixelBox
from universe_client.remotes.provider import Provider
from universe_client.states import States
from universe_client.text_space import TextSpace


def remotes_argument(remotes: int | str | Provider | None, num_envs: int) -> int | str | Provider:
    """Return what `VectorEnv` is to be given: `num_envs` fills in what `remotes` leaves open."""
    if remotes is None:
        return num_envs
    if isinstance(remotes, str) and ":" not in remotes:
        return f"{remotes}:{num_envs}"
    return remotes


def check_count(num_envs: int, n: int) -> None:
    """Raise ConfigError when there are `n` remotes, and `num_envs`, if it was given, is another number."""
    if num_envs not in (1, n):
        raise ConfigError(f"num_envs={num_envs}, but remotes names {n}")


def asking_for(kind: str, config: Config | None, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of `VectorEnv` with which remotes tell what observations of this `kind` need.

    Raises:
        ConfigError: `kind` is none of "pixels", "dict" and "state".
    """
    if kind not in ("pixels", "dict", "state"):
        raise ConfigError(f"observation={kind!r} is none of 'pixels', 'dict' and 'state'")
    if kind != "state":
        return {"config": config, **options}
    return (
        {**options, "generic": True}
        if config is None
        else {"config": replace(config, generic=True), **options}
    )


def observation_space(kind: str, width: int, height: int, states: States | None) -> gymnasium.Space[Any]:
    """Return the space of one remote's observations."""
    if states is not None:
        return states.space
    pixels = PixelBox((height, width, 3))
    return pixels if kind == "pixels" else gymnasium.spaces.Dict(vision=pixels, text=TextSpace())


def own_spec(spec: EnvSpec | None, deterministic: bool) -> EnvSpec | None:
    """Return a copy of what Gymnasium has registered that says whether this environment is deterministic."""
    own = copy(spec)
    if own is not None:
        own.nondeterministic = not deterministic
    return own


def reset_mask(options: dict[str, Any] | None, n: int) -> NDArray[np.bool_]:
    """Return which of `n` rows the options of a reset choose.

    Raises:
        ConfigError: the mask is not `n` bools with a True among them, or there are other options.
    """
    given = {} if options is None else options
    unknown = given.keys() - {"reset_mask"}
    if unknown:
        raise ConfigError(f"unknown reset options {sorted(unknown)}: reset_mask is known")
    mask = np.asarray(given.get("reset_mask", np.ones(n, np.bool_)))
    if mask.shape != (n,) or mask.dtype != np.bool_ or not mask.any():
        raise ConfigError(f"reset_mask {mask} is not {n} bools of which one at least is True")
    return mask.copy()
