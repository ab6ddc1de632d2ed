"""A scripted agent that drives NeonDrive from its pixels, without learning and without access to the game's state.

It finds the bright edges of the road, which give every pixel a position across the road. Red pixels are traffic, green
pixels are rings. It steers to the lane whose traffic is farthest away, prefers lanes with rings, and accelerates while
nothing is near.

An agent that needs time to think acts on the past. `plan` predicts: it moves the car and the traffic on to the moment
at which its actions can be played, with the actions that are on their way, and decides what to do from then on.

    python examples/pixel_agent.py --remotes 4 --seconds 60
    universe-client run builtin.NeonDrive-v0 --remotes 4 --agent pixel_agent:PixelAgent   (in examples/)
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import universe_client
from wrappers import BlockingReset, Throttle

Array = NDArray[Any]
Event = tuple[str, str, bool]

HORIZON, BOTTOM = 88, 240  # screen rows of the road's far and near end
ROAD = 150  # half the road's width in the bottom row, in pixels
CAR = 208  # the screen row of the player's wheels
LANES = np.array([-0.66, 0.0, 0.66])  # positions across the road, whose edges are -1 and 1
FIRST, LAST = 104, 226  # the screen rows to examine
NEAR, TOLERANCE = 1.8, 0.07
BEHIND = -0.35  # the distance at which the player has passed something

# How the car moves. Lengths are halves of the road's width across it, and road units along it.
TICK = 1 / 60  # seconds
STEER_SPEED, STEER_TIME = 1.7, 0.07  # the speed to the side, and the time in which it is nearly reached
CRUISE, FAST, SPEED_TIME = 4.2, 7.0, 0.35  # the same along the road, without and with the pedal
ONCOMING = 1.2  # the speed of the traffic
GUARD_RAIL = 0.83


@dataclass
class Car:
    """What is known of the player's car at a moment, and how that changes."""

    moment: float
    place: float = 0.0
    drift: float = 0.0  # the speed to the side
    speed: float = CRUISE
    traffic: Array = field(default_factory=lambda: np.full(3, np.inf))
    rings: Array = field(default_factory=lambda: np.full(3, np.inf))

    def advance(self, keys: set[str]) -> None:
        """Drive for one tick with these keys held."""
        side = ("Right" in keys) - ("Left" in keys)
        self.drift += (side * STEER_SPEED - self.drift) * (1 - math.exp(-TICK / STEER_TIME))
        self.place = min(max(self.place + self.drift * TICK, -GUARD_RAIL), GUARD_RAIL)
        wanted = FAST if "Up" in keys else CRUISE
        self.speed += (wanted - self.speed) * (1 - math.exp(-TICK / SPEED_TIME))
        for things in (self.traffic, self.rings):
            things -= (self.speed + ONCOMING) * TICK
            things[things < BEHIND] = np.inf
        self.moment += TICK


@dataclass
class Drive:
    """One remote's episode: the car when it was last seen, and what is planned, as (moment, keys held from then on)."""

    car: Car
    plan: list[tuple[float, set[str]]] = field(default_factory=list)

    def keys(self, moment: float) -> set[str]:
        """Return the keys that are held at a moment, if the plan does not change."""
        return next((keys for at, keys in reversed(self.plan) if at <= moment), set())

    def see(self, seen: float, frame: Array) -> None:
        """Correct the car by a frame of the moment `seen`."""
        while self.car.moment + TICK <= seen:
            self.car.advance(self.keys(self.car.moment))
        place, traffic, rings = look(frame)
        if place is not None:
            self.car.place, self.car.traffic, self.car.rings = place, traffic, rings
        self.plan = [entry for entry in self.plan if entry[0] > seen - 1]

    def think(self, start: float, seconds: float) -> list[tuple[float, set[str]]]:
        """Plan the keys from `start` on, for some seconds."""
        car = Car(**{**vars(self.car), "traffic": self.car.traffic.copy(), "rings": self.car.rings.copy()})
        while car.moment < start:
            car.advance(self.keys(car.moment))
        chunk: list[tuple[float, set[str]]] = []
        for step in range(round(seconds / TICK)):
            keys = decide(car.place, car.traffic, car.rings)
            if not chunk or keys != chunk[-1][1]:
                chunk.append((start + step * TICK, keys))
            car.advance(keys)
        self.plan = [entry for entry in self.plan if entry[0] < start] + chunk
        return chunk


class PixelAgent:
    """Plays each remote of a vector separately; `universe_client.cli.agents` describes the call."""

    def __init__(self) -> None:
        self.held: dict[int, set[str]] = {}
        self.drives: dict[int, Drive] = {}

    def plan(
        self, index: int, observation: Any, seen: float, start: float, seconds: float = 0.25
    ) -> list[tuple[float, list[Event]]] | None:
        """Return what one remote is to play from a later moment on, for `VectorEnv.play`.

        Args:
            index: the remote.
            observation: of a remote that runs an episode; otherwise None.
            seen: the moment of its frame. All moments are seconds of `time.monotonic()`.
            start: the first moment to plan for. What was planned for it or later is replaced.
            seconds: how long the plan is.
        """
        if observation is None:
            self.drives.pop(index, None)
            return None
        drive = self.drives.setdefault(index, Drive(Car(seen)))
        drive.see(seen, observation["vision"])
        held = drive.keys(start)
        # Press again what is held: the plan that is replaced may have released it later.
        sequence = [(start, [("KeyEvent", key, True) for key in sorted(held)])]
        for at, keys in drive.think(start, seconds):
            released = [("KeyEvent", key, False) for key in held - keys]
            sequence.append((at, released + [("KeyEvent", key, True) for key in keys - held]))
            held = keys
        return sequence

    def __call__(
        self, observation_n: Sequence[Any], reward_n: object = None, done_n: Sequence[Any] = (), *_: object
    ) -> list[list[Event]]:
        for index in np.flatnonzero(done_n):
            self.held.pop(int(index), None)  # the end of an episode releases all keys
        return [self.act(index, observation) for index, observation in enumerate(observation_n)]

    def act(self, index: int, observation: Any) -> list[Event]:
        """Return the events that change the held keys of one remote into the wanted ones."""
        if observation is None:
            self.held.pop(index, None)
            return []
        wanted, held = drive(observation["vision"]), self.held.get(index, set())
        self.held[index] = wanted
        released = [("KeyEvent", key, False) for key in held - wanted]
        return released + [("KeyEvent", key, True) for key in wanted - held]


def drive(frame: Array) -> set[str]:
    """Return the keys to hold for a frame."""
    player, traffic, rings = look(frame)
    return set() if player is None else decide(player, traffic, rings)


def decide(player: float, traffic: Array, rings: Array) -> set[str]:
    """Return the keys to hold, from the player's position and the distances of traffic and rings in each lane."""
    room = np.where(np.isinf(traffic), 20.0, traffic)
    here = np.abs(LANES - player).argmin()
    # Distant traffic scores high, changing lanes costs a little, a ring adds a little.
    score = np.minimum(room, 9.0) - 0.4 * np.abs(LANES - player) + 0.5 * np.isfinite(rings)
    target = score.argmax()
    if abs(target - here) == 2 and room[1] < NEAR:
        target = here  # the middle lane is blocked
    aside = LANES[target] - player
    keys = {"Left"} if aside < -TOLERANCE else {"Right"} if aside > TOLERANCE else set()
    return keys | ({"Up"} if abs(aside) < 0.3 and room[target] > 3 else set())


def look(frame: Array) -> tuple[float | None, Array, Array]:
    """Return the player's position across the road, and the distances of traffic and rings in each lane (inf: none)."""
    red, green, blue = np.moveaxis(frame[FIRST:LAST].astype(np.int16), 2, 0)
    rows = np.arange(FIRST, LAST)
    half = ROAD * (rows + 0.5 - HORIZON) / (BOTTOM - HORIZON)
    middle = find_middle((blue > 180) & (green > 170) & (red < 170), half)
    body = ((red < 60) & (green - red > 35) & (blue - green > 35))[CAR - 14 - FIRST : CAR - FIRST]
    place = (np.nonzero(body)[1] - middle[CAR - FIRST]) / half[CAR - FIRST]
    place = place[np.abs(place) < 0.93]
    if place.size < 20:
        return None, np.full(3, np.inf), np.full(3, np.inf)
    depth = (BOTTOM - HORIZON) / (rows + 0.5 - HORIZON)
    traffic = nearest(red - np.maximum(green, blue) > 60, middle, half, depth)
    rings = nearest(green - np.maximum(red, blue) > 60, middle, half, depth)
    return float(np.median(place)), traffic, rings


def find_middle(edges: Array, half: Array) -> Array:
    """Return the column of the road's middle in each row, computed from the edges that are on the screen."""
    width = edges.shape[1]
    left, right = edges.argmax(1), width - 1 - edges[:, ::-1].argmax(1)
    seen = edges.any(1)
    both = seen & (right - left > 1.6 * half)
    left_only = seen & ~both & (left < width / 2 - half / 2)
    middle = np.where(both, (left + right) / 2, np.where(left_only, left + half, right - half))
    known = np.flatnonzero(seen)
    return (
        np.interp(np.arange(len(half)), known, middle[known]) if known.size else np.full(len(half), width / 2)
    )


def nearest(mask: Array, middle: Array, half: Array, depth: Array) -> Array:
    """Return for each lane the distance from the player to the nearest pixel of a mask (inf: none)."""
    rows, columns = np.nonzero(mask)
    place = (columns - middle[rows]) / half[rows]
    ahead = depth[rows] - depth[CAR - FIRST]
    found = [ahead[(np.abs(place - lane) < 0.25) & (ahead > BEHIND)] for lane in LANES]
    return np.array([lane.min() if lane.size else np.inf for lane in found])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--remotes", default="1", help="number or addresses of the remotes; default: %(default)s"
    )
    parser.add_argument("--seconds", type=float, default=60, help="how long to play; default: %(default)s")
    parser.add_argument("--seed", type=int, help="seed of the first episodes")
    options = parser.parse_args()
    remotes = int(options.remotes) if options.remotes.isdigit() else options.remotes
    agent = PixelAgent()
    with Throttle(BlockingReset(universe_client.make("builtin.NeonDrive-v0", remotes)), step_rate=30) as env:
        observation_n = env.reset(seed=options.seed)
        reward_n, done_n = [0.0] * env.n, [False] * env.n
        returns, scores = np.zeros(env.n), []
        for _ in range(round(options.seconds * 30)):
            observation_n, reward_n, done_n, _ = env.step(agent(observation_n, reward_n, done_n))
            returns += reward_n
            for index in np.flatnonzero(done_n):
                scores.append(returns[index])
                print(f"remote {index}: {returns[index]:+.0f}", flush=True)
                returns[index] = 0
        print(f"{len(scores)} episodes, mean return {np.mean(scores) if scores else returns.mean():.1f}")


if __name__ == "__main__":
    main()
