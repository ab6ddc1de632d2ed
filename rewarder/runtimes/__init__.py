"""The remotes we ship, by env id; each is imported only when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rewarder.environment import Runtime


@dataclass(frozen=True, slots=True)
class RuntimeOptions:
    """What can be chosen about a runtime besides its env id."""

    fps: float | None = None
    """Ticks per second; None takes the environment's own."""
    observation: bool = False
    """Whether an environment's own observation is sent beside the pixels."""


def create(env_id: str, options: RuntimeOptions | None = None) -> Runtime:
    """Return the runtime that plays `env_id`.

    Raises:
        ValueError: no runtime of ours does.
    """
    for name, factory in _RUNTIMES.items():
        if env_id == name or (name.endswith(".") and env_id.startswith(name) and env_id != name):
            return factory(env_id, options or RuntimeOptions())
    raise ValueError(f"unknown env_id {env_id!r}, there are {', '.join(env_ids())}")


def env_ids() -> list[str]:
    """Return what can be played; `process.` needs a display as well, see `rewarder.runtimes.program`."""
    names = [f"{name}<gymnasium id>" if name.endswith(".") else name for name in _RUNTIMES]
    return [*names, "process.<program>"]


def _neon_drive(env_id: str, options: RuntimeOptions) -> Runtime:
    from rewarder.runtimes.neon_drive import NeonDrive

    return NeonDrive(options.fps or 60)


def _gym_core(env_id: str, options: RuntimeOptions) -> Runtime:
    from rewarder.runtimes.gym_core import GymCore

    return GymCore(env_id, fps=options.fps, send_observation=options.observation)


_RUNTIMES: dict[str, Callable[[str, RuntimeOptions], Runtime]] = {
    "builtin.NeonDrive-v0": _neon_drive,
    "gym-core.": _gym_core,
}
