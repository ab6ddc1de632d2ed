"""Atari games with Gymnasium's ids: each environment has the actions of its game and runs in lock-step by default.

Importing this module registers `universe/<id>` for each id of ale-py, such as `universe/BreakoutNoFrameskip-v4` and
`universe/Breakout-v5`. A step is one frame of the console; wrappers skip frames. A script written for ale-py runs with
the id changed: `env.unwrapped.ale` provides the lives and the screen.

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
    """Return one remote that plays a game.

    Args:
        game: the name of the ROM, such as `space_invaders`.
        options: arguments of `GymEnv`. The defaults are `mode="lockstep"` and the joystick actions of the game.

    Raises:
        ConfigError: the game is unknown, or an option is invalid.
        RemoteError: the remote cannot be reached.
    """
    return GymEnv(**_completed(game, options))


def make_vector(game: str, **options: Any) -> GymVectorEnv:
    """Return a vector of remotes that play a game.

    Args:
        game: the name of the ROM, such as `space_invaders`.
        options: arguments of `GymVectorEnv`. The defaults are `mode="lockstep"` and the joystick actions of the game.

    Raises:
        ConfigError: the game is unknown, or an option is invalid.
        RemoteError: a remote cannot be reached.
    """
    return GymVectorEnv(**_completed(game, options))


def _completed(game: str, options: dict[str, Any]) -> dict[str, Any]:
    actions = options.get("actions")
    if actions is None:
        actions = Joystick(minimal_actions(game))
    return {"mode": "lockstep", **options, "actions": actions}


def register_games() -> None:
    """Register the ids of all games with Gymnasium, except those that are registered already.

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
