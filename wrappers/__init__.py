"""Wrappers: each changes one thing about an environment, and passes the rest on.

`Crop`, `EpisodeStatistics`, `FrameStack`, `Grey`, `Resize`, `RewardClip` and `StickyActions` go around Gymnasium's
vector face, the others around Universe's.
"""

from wrappers.blocking_reset import BlockingReset
from wrappers.crop import Crop
from wrappers.episode_id import EpisodeID
from wrappers.episode_statistics import EpisodeStatistics
from wrappers.frame_stack import FrameStack
from wrappers.grey import Grey
from wrappers.gym_wrapper import GymWrapper
from wrappers.joint import Joint
from wrappers.key_state import KeyState
from wrappers.logger import Logger
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
    "FrameStack",
    "Grey",
    "GymWrapper",
    "Joint",
    "KeyState",
    "Logger",
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
