"""Wiring: the function that builds an environment, and the ids under which Gymnasium does."""

from __future__ import annotations

from typing import Any

import gymnasium

from universe_client.gym.array_conversion import keep_objects
from universe_client.providers.provider import Provider
from universe_client.vector_env import VectorEnv


def make(env_id: str | None = None, remotes: int | str | Provider = 1, **options: Any) -> VectorEnv:
    """Return a `VectorEnv` over `remotes` that play `env_id`; see there for the arguments."""
    return VectorEnv(env_id, remotes, **options)


GYMNASIUM_IDS: dict[str, dict[str, Any]] = {
    "universe/Remote-v0": {},
    "universe/NeonDrive-v0": {"env_id": "builtin.NeonDrive-v0"},
}
"""What `gymnasium.make` and `make_vec` know, and the arguments that each id stands for."""


def register_environments() -> None:
    """Tell Gymnasium the ids of `GYMNASIUM_IDS`; ids that it knows already are left alone."""
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
