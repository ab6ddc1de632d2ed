"""A remote with numbered rewards: `universe-client serve chaos.Numbers-v0 --runtime tests.chaos.remote:Numbers`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rewarder.sdk.runtime import Event, Frame, Runtime, Tick
from tests.chaos.ledger import ENV_ID, HEIGHT, REWARDS, TICKS, WIDTH, Life, length, value

LEDGER = "CHAOS_LEDGER"
"""The environment variable with the directory of the files."""


class Numbers(Runtime):
    """Shows its life and its episode as a colour."""

    env_ids = (ENV_ID,)
    fps, width, height = TICKS, WIDTH, HEIGHT

    def __init__(self) -> None:
        self._life = Life.of(Path(os.environ[LEDGER]), os.getpid())
        self._episode = self._ticks = self._rewards = 0

    def reset(self, env_id: str, seed: int | None) -> Tick:
        self._episode += 1
        self._ticks = self._rewards = 0
        return Tick(frame=self._draw())

    def tick(self, events: Sequence[Event]) -> Tick:
        self._ticks += 1
        if self._ticks % (TICKS / REWARDS):
            return Tick(frame=self._draw())
        self._life.write(self._episode)
        number, self._rewards = self._rewards, self._rewards + 1
        done = self._rewards == length(self._episode)
        return Tick(self._draw(), value(number), done, info={"life": self._life.number})

    def _draw(self) -> Frame:
        colour = np.frombuffer(self._life.colour(self._episode).to_bytes(3, "big"), np.uint8)
        return np.tile(colour, (HEIGHT, WIDTH, 1))
