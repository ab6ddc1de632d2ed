"""Wrappers: each changes one thing about an environment, and passes the rest on.

Those of pixels (`Crop`, `Resize`, `Grey`, `FrameStack`, `MaxFrames`), of rewards and episodes (`RewardClip`,
`EpisodicLives`, `EpisodeStatistics`) and of actions (`FrameSkip`, `StickyActions`, `NoopStart`, `FireStart`) go around
Gymnasium's vector face, the others around Universe's.
"""

from wrappers.blocking_reset import BlockingReset
from wrappers.crop import Crop
from wrappers.episode_id import EpisodeID
from wrappers.episode_statistics import EpisodeStatistics
from wrappers.episodic_lives import EpisodicLives
from wrappers.fire_start import FireStart
from wrappers.frame_skip import FrameSkip
from wrappers.frame_stack import FrameStack
from wrappers.grey import Grey
from wrappers.gym_wrapper import GymWrapper
from wrappers.history_wrapper import HistoryWrapper
from wrappers.joint import Joint
from wrappers.key_state import KeyState
from wrappers.logger import Logger
from wrappers.max_frames import MaxFrames
from wrappers.noop_start import NoopStart
from wrappers.pixel_wrapper import PixelWrapper
from wrappers.random_env import RandomEnv
from wrappers.resize import Resize
from wrappers.reward_clip import RewardClip
from wrappers.softmax_click_mouse import SoftmaxClickMouse
from wrappers.sticky_actions import StickyActions
from wrappers.throttle import Throttle
from wrappers.time_limit import TimeLimit
from wrappers.unvectorize import Unvectorize
from wrappers.vectorize import Vectorize
from wrappers.vision import Vision
from wrappers.wrapper import Wrapper

__all__ = [
    "BlockingReset",
    "Crop",
    "EpisodeID",
    "EpisodeStatistics",
    "EpisodicLives",
    "FireStart",
    "FrameSkip",
    "FrameStack",
    "Grey",
    "GymWrapper",
    "HistoryWrapper",
    "Joint",
    "KeyState",
    "Logger",
    "MaxFrames",
    "NoopStart",
    "PixelWrapper",
    "RandomEnv",
    "Resize",
    "RewardClip",
    "SoftmaxClickMouse",
    "StickyActions",
    "Throttle",
    "TimeLimit",
    "Unvectorize",
    "Vectorize",
    "Vision",
    "Wrapper",
]
