"""`builtin.NeonDrive-v0`: drive at night, overtake, collect, do not crash.

Left and right (or a and d) steer, up and down (or w and s) accelerate and brake. Each overtaken car and each caught
ring is worth 1. A crash is worth -1 and ends the episode. After a minute the episode is truncated. The game is a
function of its seed and of the events of each tick: the same input gives the same pixels and rewards. Without a seed,
an episode continues the random numbers of the last seed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

from rewarder.runtimes.neon.scene import (
    HEIGHT,
    ORB_HALF,
    PLAYER_DEPTH,
    PLAYER_HALF,
    TRAFFIC_HALF,
    WIDTH,
    Scene,
    Thing,
    View,
    scene,
)
from rewarder.sdk.environment import Runtime, Tick
from rewarder.sdk.keys import DOWN, LEFT, RIGHT, UP, HeldKeys
from vnc.events import Event
from vnc.session import Frame

ENV_ID = "builtin.NeonDrive-v0"
EPISODE_SECONDS = 60
LANES = (-0.66, 0.0, 0.66)
LIMIT = 0.83  # the guard rails, the player's largest distance from the middle
STEER_SPEED, STEER_TIME = 1.7, 0.07  # road halves per second, and the time constant to get there
SLOW, CRUISE, FAST = 2.4, 4.2, 7.0
SPEED_TIME = 0.35
ONCOMING = 1.2  # the speed of traffic towards the player
SIGHT = 15.0
GONE = 0.85
GAP_FIRST, GAP_LAST = 6.4, 4.8  # between rows of traffic, at the start and after a minute
CRASH_WIDTH = (PLAYER_HALF + TRAFFIC_HALF) * 0.85
CRASH_DEPTH = 0.16
CATCH_WIDTH = PLAYER_HALF + ORB_HALF


class Road:
    """Traffic and rings in rows. One lane of each row is free, at most one lane from that of the last row."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)
        self._free = 1
        self._next = SIGHT + 4
        self.things: list[Thing] = []
        """All things, the nearest first."""

    def advance(self, distance: float, progress: float) -> None:
        """Move everything closer by `distance`, and add rows at the horizon.

        Args:
            distance: in road units.
            progress: of the episode, 0 to 1; later rows are denser.
        """
        self.things = [Thing(thing.kind, thing.x, thing.z - distance) for thing in self.things]
        self._next -= distance
        while self._next < SIGHT:
            self._spawn(self._next)
            self._next += GAP_FIRST + (GAP_LAST - GAP_FIRST) * progress

    def _spawn(self, z: float) -> None:
        if self._dice.random() < 0.7:
            self._free = min(max(self._free + self._dice.choice((-1, 1)), 0), 2)
        blocked = [lane for lane in range(3) if lane != self._free]
        if self._dice.random() < 0.75:
            blocked = [self._dice.choice(blocked)]
        self.things += [Thing("traffic", LANES[lane], z) for lane in blocked]
        if self._dice.random() < 0.7:
            self.things.append(Thing("orb", LANES[self._free], z + self._dice.choice((0.0, 1.2))))
        self.things.sort(key=lambda thing: thing.z)


class NeonDrive(Runtime):
    """The game NeonDrive, which the module's docstring describes."""

    env_ids = (ENV_ID,)
    width, height = WIDTH, HEIGHT
    lockstep = quick = True

    def __init__(self, fps: float = 60) -> None:
        self.fps = fps
        self._dice = random.Random()
        self._keys = HeldKeys()
        self._scene: Scene | None = None

    def open(self) -> None:
        """Draw the parts of the picture that do not change."""
        self._scene = scene()

    def reset(self, env_id: str, seed: int | None) -> Tick:
        """Put the car on the middle lane of an empty road."""
        self._keys.clear()
        # The game advances in steps of about 1/60 s, so that slow ticks do not skip collisions.
        self._steps = max(1, round(60 / self.fps))
        self._step = 1 / (self.fps * self._steps)
        self._episode_ticks = round(EPISODE_SECONDS * self.fps)
        if seed is None:
            seed = self._dice.getrandbits(63)
        else:
            self._dice.seed(seed)
        self._road = Road(seed)
        self._bends = random.Random(seed).random() * 100
        self._player = self._drift = self._distance = 0.0
        self._speed = CRUISE
        self._ticks = self._score = 0
        self._crashed = False
        self._road.advance(0.0, 0.0)
        return Tick(frame=self._draw())

    def tick(self, events: Sequence[Event]) -> Tick:
        """Advance the game by one tick."""
        keys = self._keys.tick(events)
        side = _axis(keys, (LEFT, ord("a")), (RIGHT, ord("d")))
        pedal = _axis(keys, (DOWN, ord("s")), (UP, ord("w")))
        self._ticks += 1
        reward = 0
        for _ in range(self._steps):
            if not self._crashed:
                self._drive(side, pedal)
                reward += self._meet()
        self._score += max(reward, 0)
        timeout = self._ticks >= self._episode_ticks and not self._crashed
        done = self._crashed or timeout
        frame = self._draw() if self.frame_wanted or done else None
        return Tick(frame=frame, reward=float(reward), done=done, truncated=timeout)

    def _drive(self, side: int, pedal: int) -> None:
        self._drift += (side * STEER_SPEED - self._drift) * (1 - math.exp(-self._step / STEER_TIME))
        moved = self._player + self._drift * self._step
        self._player = min(max(moved, -LIMIT), LIMIT)
        if moved != self._player:
            self._drift = 0.0
        wanted = (CRUISE, FAST, SLOW)[pedal]
        self._speed += (wanted - self._speed) * (1 - math.exp(-self._step / SPEED_TIME))
        self._distance += self._speed * self._step
        self._road.advance((self._speed + ONCOMING) * self._step, self._ticks / self._episode_ticks)

    def _meet(self) -> int:
        """Handle crashes, caught rings and overtaken cars; return the reward."""
        reward, kept = 0, []
        for thing in self._road.things:
            aside = abs(thing.x - self._player)
            near = abs(thing.z - PLAYER_DEPTH) < CRASH_DEPTH
            if thing.kind == "traffic" and near and aside < CRASH_WIDTH:
                self._crashed = True
            if thing.kind == "orb" and near and aside < CATCH_WIDTH:
                reward += 1
            elif thing.z < GONE:
                reward += thing.kind == "traffic"
            else:
                kept.append(thing)
        self._road.things = kept
        return -1 if self._crashed else reward

    def _draw(self) -> Frame:
        assert self._scene is not None, "open() comes before reset()"
        travelled = self._distance * 0.11 + self._bends
        view = View(
            player=self._player,
            steering=self._drift / STEER_SPEED,
            distance=self._distance,
            curve=0.65 * math.sin(travelled) + 0.35 * math.sin(2.3 * travelled),
            ticks=self._ticks,
            score=self._score,
            speed=(self._speed - SLOW) / (FAST - SLOW),
            time_left=1 - self._ticks / self._episode_ticks,
            crashed=self._crashed,
        )
        return self._scene.draw(view, self._road.things)


def _axis(keys: frozenset[int], back: tuple[int, ...], forth: tuple[int, ...]) -> int:
    return any(key in keys for key in forth) - any(key in keys for key in back)
