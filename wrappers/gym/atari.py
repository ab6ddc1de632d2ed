"""The usual Atari set: what most papers do to a game before they learn it, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from universe_client.gym.atari import JOYSTICK, Joystick
from universe_client.gym.vector_env import GymVectorEnv
from wrappers.gym.crop import Crop
from wrappers.gym.episodic_lives import EpisodicLives
from wrappers.gym.fire_start import FireStart
from wrappers.gym.frame_skip import FrameSkip
from wrappers.gym.frame_stack import FrameStack
from wrappers.gym.grey import Grey
from wrappers.gym.gym_wrapper import GymWrapper
from wrappers.gym.max_frames import MaxFrames
from wrappers.gym.noop_start import NoopStart
from wrappers.gym.resize import Resize
from wrappers.gym.reward_clip import RewardClip
from wrappers.gym.sticky_actions import StickyActions

CONSOLE_FPS = 60
WIDTH, HEIGHT = 80, 104
"""Of an observation: half of the screen without its first and its last row."""


def joystick(actions: Sequence[str] = ("NOOP", *JOYSTICK)) -> Joystick:
    """Return the keys that stand for joystick actions: arrows, and space to fire.

    Args:
        actions: names as the Arcade Learning Environment's `get_action_meanings` has them.

    Raises:
        ConfigError: there is no such action.
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
    """Wrap remotes that play an Atari game; observations are uint8 (n, 104, 80, num_img_obs).

    `env` should take a step per frame: `step_rate=60` in real time, or lock-step. The horizon is its
    `max_episode_steps`, in frames. Action 0 must be the one that does nothing, as in `joystick()`.

    Args:
        env: remotes with screens of 160x210 pixels.
        frame_skip: frames per step.
        num_img_obs: frames in an observation, the newest last.
        clip_reward: bring each step's reward into -1..1; the game's is `infos["raw_reward"]`.
        episodic_lives: end an episode with each life; `infos["traj_done"]` is the end of a game.
        fire_on_reset: begin each episode with the action `fire`.
        fire: that action.
        max_start_noops: frames at the beginning of a game in which nothing is done, at most.
        repeat_action_probability: how likely the action before is heard instead of a new one, frame by frame.

    Raises:
        ConfigError: an option makes no sense, or the screens are smaller.

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
