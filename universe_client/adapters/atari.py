"""Atari's games under ids of Gymnasium's, each with the actions of its game, in lock-step unless asked otherwise.

Importing this module registers `universe/<id>` for each id of ale-py's: `universe/BreakoutNoFrameskip-v4`,
`universe/Breakout-v5`. A step is one frame of the console: how many to skip is a wrapper's business. What was written
for ale-py's ids runs with the id changed; `env.unwrapped.ale` tells it of lives and screen.

Example:
    env = gymnasium.make("universe_client.adapters.atari:universe/BreakoutNoFrameskip-v4")
    env = gymnasium.wrappers.AtariPreprocessing(env)
    observation, info = env.reset(seed=1)
"""

from __future__ import annotations

from typing import Any

import gymnasium

from universe_client.gym.atari import Joystick, import_ale, minimal_actions
from universe_client.gym.env import GymEnv
from universe_client.gym.vector_env import GymVectorEnv

__all__ = ["make_single", "make_vector", "register_games"]

NAMESPACE = "universe"


def make_single(game: str, **options: Any) -> GymEnv:
    """Return one remote that plays `game`; the options are those of `GymEnv`."""
    return GymEnv(**_completed(game, options))


def make_vector(game: str, **options: Any) -> GymVectorEnv:
    """Return remotes that play `game`; the options are those of `GymVectorEnv`."""
    return GymVectorEnv(**_completed(game, options))


def _completed(game: str, options: dict[str, Any]) -> dict[str, Any]:
    actions = options.get("actions")
    if actions is None:
        actions = Joystick(minimal_actions(game))
    return {"mode": "lockstep", **options, "actions": actions}


def register_games() -> None:
    """Tell Gymnasium the ids of all games; ids that it knows already are left alone.

    Raises:
        ConfigError: ale-py is not installed.
    """
    gymnasium.register_envs(import_ale())
    own = __name__
    for spec in list(gymnasium.registry.values()):
        name = f"{NAMESPACE}/{spec.name}-v{spec.version}"
        if str(spec.entry_point).startswith("ale_py.") and name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point=f"{own}:make_single",
                vector_entry_point=f"{own}:make_vector",
                nondeterministic=True,
                kwargs={"env_id": f"gym-core.{spec.id}", "game": spec.kwargs["game"]},
            )


register_games()
