"""RLlib's new API stack: a function that creates the environments of an env runner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gymnasium.vector import VectorEnv

from universe_client.errors import ConfigError
from universe_client.gym.vector_env import GymVectorEnv

__all__ = ["env_creator"]


def env_creator(config: Mapping[str, Any]) -> VectorEnv[Any, Any, Any]:
    """Return the remotes of one env runner as one vector environment.

    RLlib calls this function in every env runner, and each call starts its own remotes. Remotes at fixed addresses
    (`vnc://`) can therefore be used with one env runner only.

    Args:
        config: RLlib's `env_config`: the arguments of `GymVectorEnv`, and optionally `wrap`, a function that takes the
            `GymVectorEnv` and returns it with wrappers around it. RLlib adds `num_envs`.

    Raises:
        ConfigError: `num_envs` is missing, which means that RLlib would build a vector of single environments and wait
            for one after the other; or an argument is invalid.
        RemoteError: a remote cannot be reached.

    Example:
        ray.tune.register_env("universe", env_creator)
        config = PPOConfig().environment("universe", env_config={"env_id": "builtin.NeonDrive-v0", "wrap": shrink})
        config.env_runners(num_envs_per_env_runner=8, gym_env_vectorize_mode="vector_entry_point")
    """
    options = dict(config)
    if "num_envs" not in options:
        raise ConfigError(
            "env_creator creates a vector: set env_runners(gym_env_vectorize_mode='vector_entry_point')"
        )
    wrap = options.pop("wrap", None)
    env = GymVectorEnv(**options)
    try:
        return env if wrap is None else wrap(env)
    except BaseException:
        env.close()
        raise
