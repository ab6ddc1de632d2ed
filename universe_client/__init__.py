"""Agents that live in real time on real screens: many VNC remotes behind one vectorized environment."""

from importlib.metadata import PackageNotFoundError, version

from universe_client.config import Config
from universe_client.errors import ConfigError, LocalStateError, RemoteError, UniverseError
from universe_client.gym.env import GymEnv
from universe_client.gym.vector_env import GymVectorEnv
from universe_client.registration import make, register_environments
from universe_client.spaces.actions import chord, click, drag, key, move, scroll, type_text
from universe_client.vector_env import VectorEnv
from vnc.events import KeyEvent, PointerEvent

try:
    __version__ = version("universe-client")
except PackageNotFoundError:  # run from a source tree that is not installed
    __version__ = "0+source"

register_environments()

__all__ = [
    "Config",
    "ConfigError",
    "GymEnv",
    "GymVectorEnv",
    "KeyEvent",
    "LocalStateError",
    "PointerEvent",
    "RemoteError",
    "UniverseError",
    "VectorEnv",
    "chord",
    "click",
    "drag",
    "key",
    "make",
    "move",
    "scroll",
    "type_text",
]
