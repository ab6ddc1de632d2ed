"""`universe-client record ADDRESSES --run DIR`: what remotes show while others play on them."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from rich.console import Console

from universe_client.errors import ConfigError
from universe_client.vector_env import VectorEnv
from wrappers import Record, Throttle

_STEP_RATE = 30
"""How often rewards and texts are collected, per second; frames do not depend on it."""


def record_run(options: argparse.Namespace) -> int:
    """Record for some seconds; return the exit status: 0, or 1 if no frame has come.

    Args:
        options: of `record`: `address`, `run`, `seconds`, `out` and `port`.

    Raises:
        ConfigError: the options contradict each other, or the folder cannot be recorded into.
    """
    if options.out is not None or options.port is not None:
        raise ConfigError("--run records a folder: it goes with neither --out nor --port")
    console = Console(stderr=True, markup=False, highlight=False, soft_wrap=True)
    record(options.address, options.run, options.seconds)
    frames = _frames(options.run)
    console.print(f"{options.run}: {frames} frames in {options.seconds:g} s")
    return 0 if frames else 1


def record(addresses: str, directory: Path, seconds: float) -> None:
    """Record remotes beside those who play on them, without sending them anything."""
    with Throttle(
        Record(VectorEnv(None, addresses, observer=True), directory), step_rate=_STEP_RATE
    ) as watching:
        watching.reset()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            watching.recv()


def _frames(directory: Path) -> int:
    from universe_client.recording.events import EventReader
    from universe_client.recording.recorder import EVENTS_FILE

    return sum(event.kind == "frame" for event in EventReader(directory / EVENTS_FILE))
