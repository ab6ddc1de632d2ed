"""Agents that use real screens in real time: many VNC remotes behind one vectorized environment.

`make` returns a `VectorEnv`: lists with one entry per remote, as in OpenAI Universe. `GymVectorEnv` and `GymEnv` give
Gymnasium access to the same remotes; importing this package registers their ids. `Config` documents the options of all
three.
"""

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from rewarder.client import RewarderAddress, RewarderTimeouts
from universe_client import errors, spaces
from universe_client.config import Config
from universe_client.errors import (
    ArgumentTypeError,
    AuthError,
    CallFailed,
    ConfigError,
    ConnectError,
    LimitExceeded,
    LocalStateError,
    NoRoom,
    PeerLost,
    ProtocolError,
    ProviderError,
    RemoteError,
    ResetRejected,
    ResetTimeout,
    StepRejected,
    StepTimeout,
    UniverseError,
    Unsupported,
)
from universe_client.gym.check import VectorEnvError, check_vector_env
from universe_client.gym.env import GymEnv
from universe_client.gym.vector_env import GymVectorEnv
from universe_client.providers.provider import Provider, RemoteAddress
from universe_client.registration import make, register_environments
from universe_client.renamed import missing, refuse_old_names
from universe_client.spaces.action_maps import ActionMap
from universe_client.spaces.actions import chord, click, drag, key, move, scroll, type_text
from universe_client.vector_env import VectorEnv
from vnc.events import KeyEvent, PointerEvent
from vnc.session import Limits, Timeouts, VNCAddress

try:
    __version__ = version("universe-client")
except PackageNotFoundError:  # run from a source tree that is not installed
    __version__ = "0+source"

refuse_old_names(PointerEvent)  # here, because the package vnc does not know OpenAI Universe's names
register_environments()

__all__ = [
    "ActionMap",
    "ArgumentTypeError",
    "AuthError",
    "CallFailed",
    "Config",
    "ConfigError",
    "ConnectError",
    "GymEnv",
    "GymVectorEnv",
    "KeyEvent",
    "LimitExceeded",
    "Limits",
    "LocalStateError",
    "NoRoom",
    "PeerLost",
    "PointerEvent",
    "ProtocolError",
    "Provider",
    "ProviderError",
    "RemoteAddress",
    "RemoteError",
    "ResetRejected",
    "ResetTimeout",
    "RewarderAddress",
    "RewarderTimeouts",
    "StepRejected",
    "StepTimeout",
    "Timeouts",
    "UniverseError",
    "Unsupported",
    "VNCAddress",
    "VectorEnv",
    "VectorEnvError",
    "__version__",
    "check_vector_env",
    "chord",
    "click",
    "drag",
    "errors",
    "key",
    "make",
    "move",
    "scroll",
    "spaces",
    "type_text",
]


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # a type checker would take every name for an attribute of this package

    def __getattr__(name: str) -> Any:
        missing("universe_client", name)
