"""A complete remote: a game in which the arrow keys move a cross to catch a square, five times per episode."""

import random
from collections.abc import Sequence

import numpy as np

from rewarder.sdk.keys import DOWN, LEFT, RIGHT, UP, HeldKeys
from rewarder.sdk.runtime import Event, Frame, Runtime, Tick, run


class Catch(Runtime):
    env_ids = ("example.Catch-v0",)
    fps, width, height = 30, 160, 120

    def reset(self, env_id: str, seed: int | None) -> Tick:
        self.random, self.keys = random.Random(seed), HeldKeys()
        self.cross, self.square, self.left = np.array([80, 60]), np.array([20, 20]), 5
        return Tick(frame=self.draw())

    def tick(self, events: Sequence[Event]) -> Tick:
        held = self.keys.tick(events)
        self.cross += 4 * np.array([(RIGHT in held) - (LEFT in held), (DOWN in held) - (UP in held)])
        self.cross = self.cross.clip(8, [151, 111])
        caught = abs(self.cross - self.square).max() < 12
        if caught:
            self.left -= 1
            self.square = np.array([self.random.randrange(8, 152), self.random.randrange(8, 112)])
        return Tick(frame=self.draw(), reward=float(caught), done=self.left == 0)

    def draw(self) -> Frame:
        frame = np.full((self.height, self.width, 3), 30, np.uint8)
        (x, y), (column, row) = self.square, self.cross
        frame[y - 6 : y + 6, x - 6 : x + 6] = 250, 180, 0
        frame[row - 7 : row + 7, column] = frame[row, column - 7 : column + 7] = 0, 220, 255
        return frame


if __name__ == "__main__":
    run(Catch(), vnc_port=5900, rewarder_port=15900)
