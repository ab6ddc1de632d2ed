"""The environments that this package can serve, by env id. Each is imported only when it is played."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from rewarder.sdk.environment import Runtime
from rewarder.serving import Serving

if TYPE_CHECKING:
    from rewarder.display.xdisplay import XDisplay

_BROWSER, _DESKTOP, _PROCESS = "browser.", "desktop.", "process."


@contextmanager
def opened(
    env_id: str,
    serving: Serving | None = None,
    password: str | None = None,
    view_only_password: str | None = None,
) -> Iterator[tuple[Runtime, XDisplay | None]]:
    """Yield the runtime that plays `env_id`, and its X display if it has one.

    Args:
        env_id: the environment to play.
        serving: the options; None uses the defaults.
        password: the password of the X display's VNC server; None accepts every client.
        view_only_password: the password with which a VNC client of the display can watch but not act.

    Raises:
        ValueError: no runtime plays `env_id`, `serving.runtime` names no such runtime, a program is not installed, or
            strangers could reach the display.
        ImportError: the module in `serving.runtime` cannot be imported.
        OSError: the display does not start.
    """
    serving = serving or Serving()
    if serving.runtime is not None:
        yield _imported(serving.runtime, env_id), None
        return
    on_display = _ON_DISPLAY.get(env_id.partition(".")[0] + ".")
    if on_display is None:
        yield create(env_id, serving), None
        return
    from rewarder.display.xdisplay import XDisplay

    display = XDisplay(
        *serving.screen_size,
        host=serving.host,
        vnc_port=serving.vnc_port,
        password=password,
        view_only_password=view_only_password,
        identity=serving.identity,
        private_network=serving.private_network,
    )
    with on_display(env_id, display, serving) as runtime:
        yield runtime, display


def create(env_id: str, serving: Serving | None = None) -> Runtime:
    """Return the runtime that plays `env_id` without an X display.

    Raises:
        ValueError: there is none.
    """
    for name, factory in _RUNTIMES.items():
        if env_id == name or (name.endswith(".") and env_id.startswith(name) and env_id != name):
            return factory(env_id, serving or Serving())
    raise ValueError(f"unknown env_id {env_id!r}, known are {', '.join(env_ids())}")


def _imported(name: str, env_id: str) -> Runtime:
    module, _, attribute = name.partition(":")
    factory = getattr(importlib.import_module(module), attribute, None) if attribute else None
    if factory is None:
        raise ValueError(f"runtime {name!r} is not the name of a class, such as my_module:MyRuntime")
    runtime = factory()
    if not isinstance(runtime, Runtime):
        raise ValueError(f"runtime {name} is a {type(runtime).__name__}, not a rewarder.sdk.runtime.Runtime")
    if env_id not in runtime.env_ids:
        raise ValueError(f"runtime {name} plays {', '.join(runtime.env_ids) or 'nothing'}, not {env_id!r}")
    return runtime


def env_ids() -> list[str]:
    """Return the env ids that can be played; a name in angle brackets stands for many."""
    names = [f"{name}<gymnasium id>" if name.endswith(".") else name for name in _RUNTIMES]
    return [*names, f"{_BROWSER}<page>", f"{_DESKTOP}<task>", f"{_PROCESS}<program>"]


def _neon_drive(env_id: str, serving: Serving) -> Runtime:
    from rewarder.runtimes.neon.drive import NeonDrive

    return NeonDrive(serving.fps or 60)


def _gym_core(env_id: str, serving: Serving) -> Runtime:
    from rewarder.runtimes.gym.core import GymCore

    return GymCore(env_id, fps=serving.fps, send_env_observation=serving.env_observation)


def _program(env_id: str, display: XDisplay, serving: Serving) -> AbstractContextManager[Runtime]:
    from rewarder.runtimes.program import on_display

    return on_display(env_id, serving.program or [env_id.removeprefix(_PROCESS)], display, serving.fps)


def _browser(env_id: str, display: XDisplay, serving: Serving) -> AbstractContextManager[Runtime]:
    from rewarder.runtimes.browser.browser import on_display

    return on_display(env_id, display, serving.fps)


def _desktop(env_id: str, display: XDisplay, serving: Serving) -> AbstractContextManager[Runtime]:
    from rewarder.runtimes.desktop.desktop import on_display

    return on_display(env_id, display, serving.fps)


_ON_DISPLAY: dict[str, Callable[[str, XDisplay, Serving], AbstractContextManager[Runtime]]] = {
    _BROWSER: _browser,
    _DESKTOP: _desktop,
    _PROCESS: _program,
}
_RUNTIMES: dict[str, Callable[[str, Serving], Runtime]] = {
    "builtin.NeonDrive-v0": _neon_drive,
    "gym-core.": _gym_core,
}
