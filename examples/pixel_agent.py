"""A scripted agent that drives NeonDrive from its pixels, without learning and without access to the game's state.

It finds the bright edges of the road, which give every pixel a position across the road. Red pixels are traffic, green
pixels are rings. It steers to the lane whose traffic is farthest away, prefers lanes with rings, and accelerates while
nothing is near.

    python examples/pixel_agent.py --remotes 4 --seconds 60
    universe-client run builtin.NeonDrive-v0 --remotes 4 --agent pixel_agent:PixelAgent   (in examples/)
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
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


class PixelAgent:
    """Plays each remote of a vector separately; `universe_client.cli.agents` describes the call."""

    def __init__(self) -> None:
        self.held: dict[int, set[str]] = {}

    def __call__(self, observation_n: Sequence[Any], *_: object) -> list[list[Event]]:
        return [self.act(index, observation) for index, observation in enumerate(observation_n)]

    def act(self, index: int, observation: Any) -> list[Event]:
        """Return the events that change the held keys of one remote into the wanted ones."""
        if observation is None:
            self.held.pop(index, None)  # the end of an episode releases all keys
            return []
        wanted, held = drive(observation["vision"]), self.held.get(index, set())
        self.held[index] = wanted
        released = [("KeyEvent", key, False) for key in held - wanted]
        return released + [("KeyEvent", key, True) for key in wanted - held]


def drive(frame: Array) -> set[str]:
    """Return the keys to hold for a frame."""
    player, traffic, rings = look(frame)
    if player is None:
        return set()
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
    found = [ahead[(np.abs(place - lane) < 0.25) & (ahead > -0.35)] for lane in LANES]
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
        returns, scores = np.zeros(env.n), []
        for _ in range(round(options.seconds * 30)):
            observation_n, reward_n, done_n, _ = env.step(agent(observation_n))
            returns += reward_n
            for index in np.flatnonzero(done_n):
                scores.append(returns[index])
                print(f"remote {index}: {returns[index]:+.0f}", flush=True)
                returns[index] = 0
        print(f"{len(scores)} episodes, mean return {np.mean(scores) if scores else returns.mean():.1f}")


if __name__ == "__main__":
    main()
