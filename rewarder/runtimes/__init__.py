"""The remotes we ship, by env id; each is imported only when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict, Unpack

from rewarder.sdk.environment import Runtime
from vnc.tls import Identity

if TYPE_CHECKING:
    from rewarder.display.xdisplay import XDisplay

_BROWSER, _DESKTOP, _PROCESS = "browser.", "desktop.", "process."


@dataclass(frozen=True, slots=True)
class RuntimeOptions:
    """What can be chosen about a runtime besides its env id."""

    fps: float | None = None
    """Ticks per second; None takes the environment's own."""
    env_observation: bool = False
    """Whether an environment's own observation is sent beside the pixels."""
    program: Sequence[str] | None = None
    """The command line of a `process.` environment; None runs the program that its env id names."""
    screen_size: tuple[int, int] = (1024, 768)
    """Width and height of the display of an environment on an X display."""
    runtime: str | None = None
    """`module:class` of a runtime that is none of ours; it is made without arguments."""


class Access(TypedDict, total=False):
    """Who may connect to the VNC server of an X display: see `rewarder.display.xdisplay.XDisplay`."""

    host: str
    vnc_port: int
    password: str | None
    view_only_password: str | None
    identity: Identity | None
    private_network: bool


@contextmanager
def opened(
    env_id: str, options: RuntimeOptions | None = None, **access: Unpack[Access]
) -> Iterator[tuple[Runtime, int | None]]:
    """Yield the runtime that plays `env_id` and, if it plays on an X display, the port of that display's VNC server.

    Raises:
        ValueError: no runtime of ours does, or the one named in `options`; its program is not installed; or strangers
            could reach the display.
        ImportError: the one named in `options` is not there.
        OSError: the display does not start.
    """
    options = options or RuntimeOptions()
    if options.runtime is not None:
        yield _imported(options.runtime, env_id), None
        return
    on_display = _ON_DISPLAY.get(env_id.partition(".")[0] + ".")
    if on_display is None:
        yield create(env_id, options), None
        return
    from rewarder.display.xdisplay import XDisplay

    display = XDisplay(*options.screen_size, **access)
    with on_display(env_id, display, options) as runtime:
        yield runtime, display.port


def create(env_id: str, options: RuntimeOptions | None = None) -> Runtime:
    """Return the runtime that plays `env_id`, one that needs no display.

    Raises:
        ValueError: no runtime of ours does.
    """
    for name, factory in _RUNTIMES.items():
        if env_id == name or (name.endswith(".") and env_id.startswith(name) and env_id != name):
            return factory(env_id, options or RuntimeOptions())
    raise ValueError(f"unknown env_id {env_id!r}, there are {', '.join(env_ids())}")


def _imported(name: str, env_id: str) -> Runtime:
    module, _, attribute = name.partition(":")
    factory = getattr(importlib.import_module(module), attribute, None) if attribute else None
    if factory is None:
        raise ValueError(f"{name!r} names no class: module:class is wanted")
    runtime = factory()
    if not isinstance(runtime, Runtime):
        raise ValueError(f"{name} makes a {type(runtime).__name__}, not a Runtime")
    if env_id not in runtime.env_ids:
        raise ValueError(f"{name} plays {', '.join(runtime.env_ids) or 'nothing'}, not {env_id!r}")
    return runtime


def env_ids() -> list[str]:
    """Return what can be played."""
    names = [f"{name}<gymnasium id>" if name.endswith(".") else name for name in _RUNTIMES]
    return [*names, f"{_BROWSER}<page>", f"{_DESKTOP}<task>", f"{_PROCESS}<program>"]


def _neon_drive(env_id: str, options: RuntimeOptions) -> Runtime:
    from rewarder.runtimes.neon.drive import NeonDrive

    return NeonDrive(options.fps or 60)


def _gym_core(env_id: str, options: RuntimeOptions) -> Runtime:
    from rewarder.runtimes.gym.core import GymCore

    return GymCore(env_id, fps=options.fps, send_env_observation=options.env_observation)


def _program(env_id: str, display: XDisplay, options: RuntimeOptions) -> AbstractContextManager[Runtime]:
    from rewarder.runtimes.program import on_display

    return on_display(env_id, options.program or [env_id.removeprefix(_PROCESS)], display, options.fps)


def _browser(env_id: str, display: XDisplay, options: RuntimeOptions) -> AbstractContextManager[Runtime]:
    from rewarder.runtimes.browser.browser import on_display

    return on_display(env_id, display, options.fps)


def _desktop(env_id: str, display: XDisplay, options: RuntimeOptions) -> AbstractContextManager[Runtime]:
    from rewarder.runtimes.desktop.desktop import on_display

    return on_display(env_id, display, options.fps)


_ON_DISPLAY: dict[str, Callable[[str, XDisplay, RuntimeOptions], AbstractContextManager[Runtime]]] = {
    _BROWSER: _browser,
    _DESKTOP: _desktop,
    _PROCESS: _program,
}
_RUNTIMES: dict[str, Callable[[str, RuntimeOptions], Runtime]] = {
    "builtin.NeonDrive-v0": _neon_drive,
    "gym-core.": _gym_core,
}
