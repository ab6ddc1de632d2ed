"""Agents that use real screens in real time: many VNC remotes behind one vectorized environment.

`make` returns a `VectorEnv`: lists with one entry per remote, as in OpenAI Universe. `GymVectorEnv` and `GymEnv` give
Gymnasium access to the same remotes; importing this package registers their ids. `Config` documents the options of all
three.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from universe_client.registration import register_environments
from universe_client.renamed import missing

if TYPE_CHECKING:
    from rewarder.client import RewarderAddress, RewarderTimeouts
    from rewarder.version import VERSION as __version__
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
        ModelError,
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
    from universe_client.spaces import KeyEvent, PointerEvent
    from universe_client.spaces.action_maps import ActionMap
    from universe_client.spaces.actions import chord, click, drag, key, move, scroll, type_text
    from universe_client.vector_env import VectorEnv, make
    from vnc.session import Limits, Timeouts, VNCAddress

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
    "ModelError",
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

_MODULES = {
    "rewarder.client": ("RewarderAddress", "RewarderTimeouts"),
    "universe_client.config": ("Config",),
    "universe_client.gym.check": ("VectorEnvError", "check_vector_env"),
    "universe_client.gym.env": ("GymEnv",),
    "universe_client.gym.vector_env": ("GymVectorEnv",),
    "universe_client.providers.provider": ("Provider", "RemoteAddress"),
    "universe_client.spaces": ("KeyEvent", "PointerEvent"),
    "universe_client.spaces.action_maps": ("ActionMap",),
    "universe_client.spaces.actions": ("chord", "click", "drag", "key", "move", "scroll", "type_text"),
    "universe_client.vector_env": ("VectorEnv", "make"),
    "vnc.session": ("Limits", "Timeouts", "VNCAddress"),
}
"""The public names by module; those that are missing here are errors."""
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # a type checker would take every name for an attribute of this package

    def __getattr__(name: str) -> Any:
        """Import a public name when it is used first: a program that only registers the environments is quick."""
        if name not in __all__:
            missing("universe_client", name)
        globals()[name] = value = _imported(name)
        return value


def _imported(name: str) -> Any:
    match name:
        case "__version__":
            return import_module("rewarder.version").VERSION
        case "errors" | "spaces":
            return import_module(f"universe_client.{name}")
    return getattr(import_module(_MODULE_OF.get(name, "universe_client.errors")), name)
