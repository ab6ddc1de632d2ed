"""The usual wrappers for Atari games, in the usual order (Mnih et al. 2015; Machado et al. 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from universe_client.gym.atari import JOYSTICK, Joystick
from universe_client.gym.vector_env import GymVectorEnv
from wrappers.gym.episodic_lives import EpisodicLives
from wrappers.gym.fire_start import FireStart
from wrappers.gym.frame_skip import FrameSkip
from wrappers.gym.history import FrameStack, MaxFrames
from wrappers.gym.noop_start import NoopStart
from wrappers.gym.pixels import Crop, Grey, Resize
from wrappers.gym.reward_clip import RewardClip
from wrappers.gym.sticky_actions import StickyActions
from wrappers.gym.wrapper import GymWrapper

CONSOLE_FPS = 60
WIDTH, HEIGHT = 80, 104
"""The size of an observation: half the width and height of the screen without its first and last row."""


def joystick(actions: Sequence[str] = ("NOOP", *JOYSTICK)) -> Joystick:
    """Return an action map for joystick actions: the arrow keys, and space for the fire button.

    Args:
        actions: names of the actions, as `get_action_meanings` of the Arcade Learning Environment returns them. The
            default is all 18.

    Returns:
        The map, with the action space `Discrete(len(actions))`, for `actions=` of `GymVectorEnv`.

    Raises:
        ConfigError: a name is unknown.
    """
    return Joystick(actions)


def atari(
    env: GymVectorEnv,
    *,
    frame_skip: int = 4,
    num_img_obs: int = 4,
    clip_reward: bool = True,
    episodic_lives: bool = True,
    fire_on_reset: bool = False,
    fire: Any = 1,
    max_start_noops: int = 30,
    repeat_action_probability: float = 0.0,
) -> GymWrapper:
    """Wrap remotes that play an Atari game.

    From the inside out: `NoopStart`, `StickyActions`, `MaxFrames`, `FrameSkip`, `EpisodicLives`, `Crop`, `Grey`,
    `Resize`, `FrameStack`, `RewardClip`, `FireStart`.

    Args:
        env: remotes with screens of 160x210 pixels. Each of its steps should be one frame: `step_rate=60` in real time,
            or lock-step. Its `max_episode_steps` counts frames. Its action 0 must do nothing, as in `joystick()`.
        frame_skip: frames per step.
        num_img_obs: frames in an observation, the newest last.
        clip_reward: clip each step's reward to -1..1; `infos["raw_reward"]` is the game's.
        episodic_lives: end an episode with each life; `infos["traj_done"]` is true when the game is over.
        fire_on_reset: begin each episode with the action `fire`.
        fire: the action that presses the fire button.
        max_start_noops: the largest number of frames without an action at the beginning of a game.
        repeat_action_probability: probability that a frame repeats the previous action (sticky actions).

    Returns:
        The wrapped environment. Its observations are uint8 (n, 104, 80, num_img_obs).

    Raises:
        ConfigError: an argument is invalid, or the screens are smaller.

    Example:
        env = GymVectorEnv("gym-core.ALE/Pong-v5", 8, step_rate=60, actions=joystick(["NOOP", "RIGHT", "LEFT"]))
        env = atari(env)
        observations, infos = env.reset(seed=1)
        assert observations.shape == (8, 104, 80, 4)
    """
    wrapped: Any = NoopStart(env, max_start_noops) if max_start_noops else env
    if repeat_action_probability:
        wrapped = StickyActions(wrapped, repeat_action_probability)
    wrapped = FrameSkip(MaxFrames(wrapped), frame_skip)
    if episodic_lives:
        wrapped = EpisodicLives(wrapped)
    wrapped = Grey(Crop(wrapped, x=0, y=1, width=2 * WIDTH, height=2 * HEIGHT))
    wrapped = FrameStack(Resize(wrapped, WIDTH, HEIGHT), num_img_obs)
    if clip_reward:
        wrapped = RewardClip(wrapped)
    return FireStart(wrapped, fire) if fire_on_reset else wrapped
