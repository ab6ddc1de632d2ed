"""The ids under which Gymnasium makes the environments of this package."""

from __future__ import annotations

from typing import Any

import gymnasium

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
    for name, arguments in GYMNASIUM_IDS.items():
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point="universe_client.gym.env:GymEnv",
                vector_entry_point="universe_client.gym.vector_env:GymVectorEnv",
                nondeterministic=True,
                kwargs=arguments,
            )
