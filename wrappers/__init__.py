"""Wrappers: each changes one aspect of an environment and passes everything else through.

Wrappers of pixels (`Crop`, `Resize`, `Grey`, `FrameStack`, `MaxFrames`), of rewards and episodes (`RewardClip`,
`EpisodicLives`, `EpisodeStatistics`) and of actions (`FrameSkip`, `StickyActions`, `NoopStart`, `FireStart`) wrap
`universe_client.GymVectorEnv`. The others wrap `universe_client.VectorEnv`.
"""

from typing import TYPE_CHECKING, Any

from universe_client.renamed import missing
from wrappers.gym.episode_statistics import EpisodeStatistics
from wrappers.gym.episodic_lives import EpisodicLives
from wrappers.gym.fire_start import FireStart
from wrappers.gym.frame_skip import FrameSkip
from wrappers.gym.history import FrameStack, HistoryWrapper, MaxFrames
from wrappers.gym.noop_start import NoopStart
from wrappers.gym.pixel_wrapper import PixelWrapper
from wrappers.gym.pixels import Crop, Grey, Resize
from wrappers.gym.reward_clip import RewardClip
from wrappers.gym.sticky_actions import StickyActions
from wrappers.gym.wrapper import GymWrapper
from wrappers.universe.action_buffer import ActionBuffer
from wrappers.universe.blocking_reset import BlockingReset
from wrappers.universe.episode_id import EpisodeID
from wrappers.universe.joint import Joint
from wrappers.universe.key_state import KeyState
from wrappers.universe.logger import Logger
from wrappers.universe.random_env import RandomEnv
from wrappers.universe.record import Record
from wrappers.universe.softmax_click_mouse import SoftmaxClickMouse
from wrappers.universe.throttle import Throttle
from wrappers.universe.time_limit import TimeLimit
from wrappers.universe.unvectorize import Unvectorize
from wrappers.universe.vectorize import Vectorize
from wrappers.universe.vision import Vision
from wrappers.universe.watch import Watch
from wrappers.universe.wrapper import Wrapper

__all__ = [
    "ActionBuffer",
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
    "Record",
    "Resize",
    "RewardClip",
    "SoftmaxClickMouse",
    "StickyActions",
    "Throttle",
    "TimeLimit",
    "Unvectorize",
    "Vectorize",
    "Vision",
    "Watch",
    "Wrapper",
]


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # a type checker would take every name for an attribute of this package

    def __getattr__(name: str) -> Any:
        missing("wrappers", name)
