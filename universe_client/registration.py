"""`make`, and the ids under which Gymnasium makes the environments of this package."""

from __future__ import annotations

from typing import Any

import gymnasium

from universe_client.gym.array_conversion import keep_objects
from universe_client.providers.provider import Provider
from universe_client.vector_env import VectorEnv


def make(env_id: str | None = None, remotes: int | str | Provider = 1, **options: Any) -> VectorEnv:
    """Return a `VectorEnv` over remotes that play `env_id`.

    It returns at once; the remotes start and connect in the background.

    Args:
        env_id: what the remotes play, such as `"builtin.NeonDrive-v0"`; None leaves the choice to each remote.
        remotes: which remotes: a number of remotes that this process starts, `"process:4"`, `"docker:4"`, an address
            such as `"vnc://host:5900+15900"`, or a `Provider`. See `VectorEnv`.
        options: fields of `Config`, such as `mode="lockstep"`, or `config=` with a whole `Config`.

    Returns:
        The environment; close it, or use it as a context manager.

    Raises:
        ConfigError: an argument is invalid; the message names it.

    Example:
        with universe_client.make("builtin.NeonDrive-v0", remotes=4) as env:
            observation_n = env.reset()
    """
    return VectorEnv(env_id, remotes, **options)


GYMNASIUM_IDS: dict[str, dict[str, Any]] = {
    "universe/Remote-v0": {},
    "universe/NeonDrive-v0": {"env_id": "builtin.NeonDrive-v0"},
}
"""The ids of `gymnasium.make` and `gymnasium.make_vec`, and the arguments that each passes on."""


def register_environments() -> None:
    """Register the ids of `GYMNASIUM_IDS` with Gymnasium; ids that are already registered stay unchanged.

    Importing `universe_client` calls it. `gymnasium.make` makes a `GymEnv` from such an id, `gymnasium.make_vec` a
    `GymVectorEnv`.
    """
    keep_objects()
    for name, arguments in GYMNASIUM_IDS.items():
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point="universe_client.gym.env:GymEnv",
                vector_entry_point="universe_client.gym.vector_env:GymVectorEnv",
                nondeterministic=True,
                kwargs=arguments,
            )
