"""Check and convert the arguments of `GymVectorEnv` and `GymEnv`."""

from __future__ import annotations

from copy import copy
from dataclasses import fields, replace
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from universe_client.config import Config
from universe_client.errors import ArgumentTypeError, ConfigError
from universe_client.gym.batch.env_observations import EnvObservations
from universe_client.providers.provider import Provider
from universe_client.spaces.pixel_box import PixelBox
from universe_client.spaces.text_space import TextSpace


def remotes_argument(remotes: int | str | Provider | None, num_envs: int) -> int | str | Provider:
    """Return `remotes` with the number of remotes, which is `num_envs` if `remotes` contains none."""
    if remotes is None:
        return num_envs
    if isinstance(remotes, str) and ":" not in remotes:
        return f"{remotes}:{num_envs}"
    return remotes


def check_count(num_envs: int, n: int) -> None:
    """Raise ConfigError if `num_envs` was given, and is not the number `n` of remotes."""
    if num_envs not in (1, n):
        raise ConfigError(f"num_envs={num_envs}, but remotes names {n} remotes: leave num_envs out")


def check_fill(fill: int | None, reset_mode: str, copy: bool) -> None:
    """Raise ConfigError if rows that are resetting cannot be filled with `fill`."""
    if fill is None:
        return
    if reset_mode != "mask" or not copy:
        raise ConfigError(f"fill={fill!r} needs reset_mode='mask' and copy=True")
    if not 0 <= fill <= 255:
        raise ConfigError(f"fill={fill!r} is not within 0..255")


def check_batch(
    env: VectorEnv[Any, Any, Any], min_ready: int | None, max_ready: int | None, out: Any
) -> None:
    """Raise ConfigError if `recv` of `env` cannot return such a batch; see `GymVectorEnv.recv`."""
    if max_ready is not None and (min_ready is None or not 1 <= max_ready >= min_ready):
        raise ConfigError(f"max_ready={max_ready!r} needs a min_ready that is not larger, not {min_ready!r}")
    if out is None:
        return
    space = env.single_observation_space
    single = space["vision"] if isinstance(space, gymnasium.spaces.Dict) else space
    rows = env.num_envs if max_ready is None else min(max_ready, env.num_envs)
    fits = isinstance(out, np.ndarray) and out.dtype == single.dtype and out.shape[1:] == single.shape
    if not fits or len(out) < rows:
        shape = getattr(out, "shape", type(out).__name__)
        raise ConfigError(
            f"out={shape} must be an array of {single.dtype} of shape {(rows, *(single.shape or ()))}"
        )


def environment_options(kind: str, config: Config | None, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of `RemoteVector` for observations of this `kind`.

    Raises:
        ConfigError: `kind` is not one of "pixels", "dict" and "env_observation".
        ArgumentTypeError: an option is not a field of `Config`.
    """
    known = sorted(field.name for field in fields(Config))
    for name in options.keys() - set(known):
        # Python's own wording: some learners try arguments, and parse this message to find out which are unknown.
        raise ArgumentTypeError(
            f"got an unexpected keyword argument '{name}': options are {', '.join(known)}"
        )
    if kind not in ("pixels", "dict", "env_observation"):
        raise ConfigError(f"observation={kind!r} is none of 'pixels', 'dict' and 'env_observation'")
    if kind != "env_observation":
        return {"config": config, **options}
    return (
        {**options, "env_observation": True}
        if config is None
        else {"config": replace(config, env_observation=True), **options}
    )


def observation_space(
    kind: str, shape: tuple[int, int, int], env_observations: EnvObservations | None
) -> gymnasium.Space[Any]:
    """Return the space of the observations of one remote, whose pixels have `shape`; `kind` as above."""
    if env_observations is not None:
        return env_observations.space
    pixels = PixelBox(shape)
    return (
        pixels
        if kind == "pixels"
        else gymnasium.spaces.Dict(vision=pixels, text=TextSpace(), instruction=TextSpace())
    )


def own_spec(spec: EnvSpec | None, deterministic: bool) -> EnvSpec | None:
    """Return a copy of a registered spec whose `nondeterministic` is right for this environment."""
    own = copy(spec)
    if own is not None:
        own.nondeterministic = not deterministic
    return own


_VECTOR_ARGUMENTS = (
    "autoreset_mode",
    "fill",
    "letterbox",
    "max_episode_steps",
    "num_envs",
    "reset_mode",
    "vector_kwargs",
    "vectorization_mode",
)


def single_spec(spec: EnvSpec | None) -> EnvSpec | None:
    """Return the spec from which `gymnasium.make` would make one environment of a vector."""
    single = copy(spec)
    if single is not None:
        single.kwargs = {key: value for key, value in single.kwargs.items() if key not in _VECTOR_ARGUMENTS}
    return single


def autoreset(mode: str | AutoresetMode, reset_mode: str) -> AutoresetMode:
    """Return the autoreset mode for an argument: an `AutoresetMode` or its value, such as "NextStep".

    Raises:
        ConfigError: the mode does not exist, or needs `reset_mode="block"`.
    """
    try:
        parsed = AutoresetMode(mode)
    except ValueError:
        raise ConfigError(
            f"autoreset_mode={mode!r} is none of {', '.join(known.value for known in AutoresetMode)}"
        ) from None
    if parsed is AutoresetMode.SAME_STEP and reset_mode != "block":
        raise ConfigError(
            f"autoreset_mode='SameStep' waits for first frames: it needs reset_mode='block', not {reset_mode!r}"
        )
    return parsed


def reset_mask(options: dict[str, Any] | None, n: int) -> NDArray[np.bool_]:
    """Return a copy of the reset mask in the options of a reset: bool (n,), all True without one.

    Raises:
        ArgumentTypeError: the mask is not a numpy array of bool.
        ConfigError: the mask has not `n` entries, or no True.
    """
    mask = (options or {}).get("reset_mask", np.ones(n, np.bool_))
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
        kind = f"an array of {mask.dtype}" if isinstance(mask, np.ndarray) else f"a {type(mask).__name__}"
        raise ArgumentTypeError(f"options['reset_mask'] must be a numpy array of bool, not {kind}")
    if mask.shape != (n,) or not mask.any():
        raise ConfigError(f"options['reset_mask']={mask} must have {n} entries, at least one of them True")
    return mask.copy()
