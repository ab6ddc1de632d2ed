"""RLlib's face: what its new API stack makes the environments of an env runner with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gymnasium.vector import VectorEnv

from universe_client.errors import ConfigError
from universe_client.gym.vector_env import GymVectorEnv

__all__ = ["env_creator"]


def env_creator(config: Mapping[str, Any]) -> VectorEnv[Any, Any, Any]:
    """Return the remotes of one env runner: all of them behind one vector, whose episodes begin again by themselves.

    RLlib calls it in every env runner, so each starts remotes of its own. Remotes at addresses (`vnc://`) can serve one
    env runner only.

    Args:
        config: RLlib's `env_config`: the arguments of `GymVectorEnv`, and `wrap`, a function from that vector to a
            wrapped one. RLlib adds `num_envs`.

    Raises:
        ConfigError: `num_envs` is missing, for RLlib would make its own vector of single environments, and wait for
            them one after the other; or an argument makes no sense.
        RemoteError: a remote cannot be reached.

    Example:
        ray.tune.register_env("universe", env_creator)
        config = PPOConfig().environment("universe", env_config={"env_id": "builtin.NeonDrive-v0", "wrap": shrink})
        config.env_runners(num_envs_per_env_runner=8, gym_env_vectorize_mode="vector_entry_point")
    """
    options = dict(config)
    if "num_envs" not in options:
        raise ConfigError(
            "env_creator makes vectors: set env_runners(gym_env_vectorize_mode='vector_entry_point')"
        )
    wrap = options.pop("wrap", None)
    env = GymVectorEnv(**options)
    try:
        return env if wrap is None else wrap(env)
    except BaseException:
        env.close()
        raise
