"""Import and compute in one process what remotes of an env id need, so that its forks share the memory."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import suppress
from functools import partial

_EVERYWHERE = (
    "rewarder.runtimes.serve",
    "numpy.random",
    "encodings.idna",  # for a server's host name
    "cryptography.hazmat.decrepit.ciphers.algorithms",  # with the next, for a client's password
    "cryptography.hazmat.primitives.ciphers",
)


def preload(env_id: str) -> None:
    """Import what all remotes of `env_id` need.

    No environment is created and no module of the user is imported. What cannot be imported is left to the remotes,
    which report it.
    """
    _import(*_EVERYWHERE)
    for prefix, function in _PRELOADS.items():
        if env_id.startswith(prefix):
            with suppress(ImportError):
                function(env_id)


def _import(*modules: str) -> None:
    for name in modules:
        importlib.import_module(name)


def _neon_drive(env_id: str) -> None:
    from rewarder.runtimes.neon.scene import scene

    _import("rewarder.runtimes.neon.drive")
    scene()


def _gym_core(env_id: str) -> None:
    from rewarder.runtimes.gym.core import preload_env

    preload_env(env_id)


def _on_display(module: str, env_id: str) -> None:
    _import("rewarder.display.xdisplay", module)


_PRELOADS: dict[str, Callable[[str], None]] = {
    "builtin.NeonDrive-v0": _neon_drive,
    "gym-core.": _gym_core,
    "browser.": partial(_on_display, "rewarder.runtimes.browser.browser"),
    "desktop.": partial(_on_display, "rewarder.runtimes.desktop.desktop"),
    "process.": partial(_on_display, "rewarder.runtimes.program"),
}
