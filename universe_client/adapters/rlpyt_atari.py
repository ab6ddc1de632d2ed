"""rlpyt's Atari environment, played on a remote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium.spaces import Discrete

from universe_client.adapters.rlpyt import EnvSpaces, EnvStep, GymSpaceWrapper, TrajInfo
from universe_client.errors import ConfigError
from universe_client.gym.atari import Joystick, import_ale, minimal_actions
from universe_client.gym.vector_env import GymVectorEnv
from universe_client.spaces.pixel_box import PixelBox
from wrappers.gym.atari import CONSOLE_FPS, HEIGHT, WIDTH, atari
from wrappers.gym.episodic_lives import TRAJ_DONE

__all__ = ["AtariEnv", "AtariTrajInfo", "minimal_actions"]


class AtariEnvInfo(NamedTuple):
    """The `env_info` of a step of `AtariEnv`."""

    game_score: np.float32
    """The reward before clipping."""
    traj_done: bool
    """Whether the game ended, terminated or truncated."""
    timeout: bool
    """Whether the game was truncated: by the horizon, or because the remote was lost."""


class AtariTrajInfo(TrajInfo):
    """A `TrajInfo` that also sums the `GameScore`: the rewards before clipping."""

    def __init__(self) -> None:
        super().__init__()
        self["GameScore"] = 0.0

    def step(
        self,
        observation: Any,
        action: Any,
        reward: float,
        done: bool,
        agent_info: Any,
        env_info: AtariEnvInfo,
    ) -> None:
        """Add one step of the episode."""
        super().step(observation, action, reward, done, agent_info, env_info)
        self["GameScore"] += float(env_info.game_score)


class AtariEnv:
    """One Atari game with rlpyt's interface.

    A step is `frame_skip` frames. An observation is uint8 (num_img_obs, 104, 80). The game runs in real time at 60
    frames per second, or in lock-step with `mode="lockstep"`. When a step is `done` and its `env_info.traj_done` is
    false, the game continues with the next life and needs no reset.

    Attributes:
        env: the `GymVectorEnv` of one remote, in the wrappers of `wrappers.gym.atari.atari`.
        action_space: a `GymSpaceWrapper` of `Discrete`.
        observation_space: a `GymSpaceWrapper` of uint8 (num_img_obs, 104, 80).
        horizon: steps after which a game is truncated.

    Example:
        env = AtariEnv("breakout", fire_on_reset=True)
        observation, trajectory = env.reset(), AtariTrajInfo()
        while not trajectory.Length or not env_info.traj_done:
            action = env.action_space.sample()
            observation, reward, done, env_info = env.step(action)
            trajectory.step(observation, action, reward, done, None, env_info)
    """

    def __init__(
        self,
        game: str = "pong",
        frame_skip: int = 4,
        num_img_obs: int = 4,
        clip_reward: bool = True,
        episodic_lives: bool = True,
        fire_on_reset: bool = False,
        max_start_noops: int = 30,
        repeat_action_probability: float = 0.0,
        horizon: int = 27000,
        *,
        remotes: Any = None,
        actions: Sequence[str] | None = None,
        **options: Any,
    ) -> None:
        """Connect to a remote that plays `game`.

        Args:
            game: the name of the ROM, such as `space_invaders`.
            frame_skip: frames per step.
            num_img_obs: frames in an observation, the newest last.
            clip_reward: clip rewards to -1..1.
            episodic_lives: report `done` at the end of each life.
            fire_on_reset: begin each life with the fire button.
            max_start_noops: the largest number of frames without an action at the beginning of a game.
            repeat_action_probability: probability that a frame repeats the previous action (sticky actions). Games
                without a `NoFrameskip-v4` id repeat actions with a probability of 0.25 in addition.
            horizon: steps after which a game is truncated.
            remotes: one remote, as for `GymVectorEnv`; the default starts a process on this machine.
            actions: names of the joystick actions, NOOP first; the default is the game's minimal action set.
            options: arguments of `GymVectorEnv`, such as `mode="lockstep"`.

        Raises:
            ConfigError: an argument is invalid, or the game is unknown.
            RemoteError: the remote cannot be reached.
        """
        names = minimal_actions(game) if actions is None else list(actions)
        if options.get("mode") != "lockstep":
            options = {"step_rate": CONSOLE_FPS} | options
        self.horizon = horizon
        env = GymVectorEnv(
            f"gym-core.{_gymnasium_id(game)}",
            remotes,
            actions=Joystick(names),
            max_episode_steps=horizon * frame_skip,
            **options,
        )
        try:
            if env.num_envs != 1:
                raise ConfigError(f"AtariEnv is for one remote, and remotes names {env.num_envs}")
            self.env = atari(
                env,
                frame_skip=frame_skip,
                num_img_obs=num_img_obs,
                clip_reward=clip_reward,
                episodic_lives=episodic_lives,
                fire_on_reset=fire_on_reset,
                fire=names.index("FIRE") if fire_on_reset else 0,
                max_start_noops=max_start_noops,
                repeat_action_probability=repeat_action_probability,
            )
        except BaseException:
            env.close()
            raise
        self.action_space = GymSpaceWrapper(Discrete(len(names)), name="act")
        self.observation_space = GymSpaceWrapper(PixelBox((num_img_obs, HEIGHT, WIDTH)), name="obs")
        self._over = False

    @property
    def spaces(self) -> EnvSpaces:
        """The observation space and the action space."""
        return EnvSpaces(self.observation_space, self.action_space)

    def reset(self) -> Any:
        """Begin a game and return its first observation.

        After the end of a game this is the game that the remote has begun already.
        """
        if self._over:
            observations, *_ = self.env.step(np.zeros(1, np.int64))  # the reset step ignores the action
        else:
            observations, _ = self.env.reset()
        self._over = False
        return _channels_first(observations)

    def step(self, action: Any) -> EnvStep:
        """Take a step of `frame_skip` frames and return an `EnvStep` whose `env_info` is an `AtariEnvInfo`."""
        observations, rewards, terminations, truncations, infos = self.env.step(np.array([action], np.int64))
        done = bool(terminations[0] or truncations[0])
        self._over = bool(infos[TRAJ_DONE][0]) if TRAJ_DONE in infos else done
        scores: Any = infos.get("raw_reward", rewards)
        env_info = AtariEnvInfo(np.float32(scores[0]), self._over, bool(truncations[0]))
        return EnvStep(_channels_first(observations), np.float32(rewards[0]), done, env_info)

    def close(self) -> None:
        """Close the connection and release the remote."""
        self.env.close()


def _gymnasium_id(game: str) -> str:
    """Return the id of the game without sticky actions if there is one, else the `-v5` id, which has them."""
    name = "".join(map(str.capitalize, game.split("_")))
    exact = f"{name}NoFrameskip-v4"
    gymnasium.register_envs(import_ale())
    return exact if exact in gymnasium.registry else f"ALE/{name}-v5"


def _channels_first(observations: Any) -> Any:
    return np.ascontiguousarray(observations[0].transpose(2, 0, 1))
