"""Wrappers: each changes one thing about an environment, and passes the rest on.

`Crop`, `FrameStack`, `Grey`, `Resize`, `RewardClip` and `StickyActions` go around Gymnasium's vector face, the others
around Universe's.
"""

from wrappers.blocking_reset import BlockingReset
from wrappers.crop import Crop
from wrappers.frame_stack import FrameStack
from wrappers.grey import Grey
from wrappers.gym_wrapper import GymWrapper
from wrappers.logger import Logger
from wrappers.pixel_wrapper import PixelWrapper
from wrappers.resize import Resize
from wrappers.reward_clip import RewardClip
from wrappers.sticky_actions import StickyActions
from wrappers.throttle import Throttle
from wrappers.time_limit import TimeLimit
from wrappers.unvectorize import Unvectorize
from wrappers.vision import Vision
from wrappers.wrapper import Wrapper

__all__ = [
    "BlockingReset",
    "Crop",
    "FrameStack",
    "Grey",
    "GymWrapper",
    "Logger",
    "PixelWrapper",
    "Resize",
    "RewardClip",
    "StickyActions",
    "Throttle",
    "TimeLimit",
    "Unvectorize",
    "Vision",
    "Wrapper",
]
