"""A referee for xdemineur, a minesweeper that reports nothing: it reads the screen and prints rewards.

It plays on the X display that `process.*` remotes give to their program:

    universe-client serve process.xdemineur --program "python examples/pixel_rewards.py"

Needs `apt install xdemineur` and `pip install '.[desktop]'`.
"""

import json
import subprocess
import time

import numpy as np
import xcffib
from numpy.typing import NDArray
from xcffib.xproto import ImageFormat

ROWS, COLUMNS, MINES = 16, 16, 40
GAME = ["/usr/games/xdemineur", "-geometry", f"{COLUMNS}x{ROWS}", "-m", str(MINES)]
SAFE = ROWS * COLUMNS - MINES

# Where things are in the game's window, which has a size of 368x434 pixels and lies in the corner of the screen
WIDTH, HEIGHT, FIELD = 368, 434, 21
FACE = np.s_[22:62, 164:206]
CORNERS = np.s_[82 : 82 + FIELD * ROWS : FIELD, 17 : 17 + FIELD * COLUMNS : FIELD]
CLOSED, EXPLODED = (255, 255, 255), (255, 0, 0)
LOOKS_PER_SECOND = 10


class Screen:
    """The display in $DISPLAY."""

    def __init__(self) -> None:
        self.connection = xcffib.connect()
        self.root = self.connection.setup.roots[0].root

    def look(self) -> NDArray[np.uint8]:
        """Return the game's window, shape (HEIGHT, WIDTH, 3), RGB."""
        area = (self.root, 0, 0, WIDTH, HEIGHT)
        image = self.connection.core.GetImage(ImageFormat.ZPixmap, *area, 0xFFFFFFFF).reply()
        return np.frombuffer(image.data.raw, np.uint8).reshape(HEIGHT, WIDTH, 4)[:, :, 2::-1]

    def settled(self) -> NDArray[np.uint8]:
        """Wait until the game has drawn its window."""
        before = self.look()
        while True:
            time.sleep(1 / LOOKS_PER_SECOND)
            now = self.look()
            if closed_fields(now) and (now == before).all():
                return now
            before = now


def closed_fields(pixels: NDArray[np.uint8]) -> int:
    """Count the fields with a white edge at their upper left corner."""
    return int((pixels[CORNERS] == CLOSED).all(axis=-1).sum())


def report(**fields: object) -> None:
    """Print one line for the rewarder."""
    print(json.dumps(fields), flush=True)


def main() -> None:
    """Play one episode: a reward for each field that opens, in sum 1; -1 for a mine."""
    game = subprocess.Popen(GAME)
    screen = Screen()
    pixels = screen.settled()
    smile, closed = pixels[FACE], closed_fields(pixels)
    report(ready=True, text="open every field without a mine")
    while game.poll() is None:
        time.sleep(1 / LOOKS_PER_SECOND)
        pixels = screen.look()
        if (pixels[CORNERS] == EXPLODED).all(axis=-1).any():
            report(reward=-1, done=True, info={"reason": "mine"})
            return
        if (pixels[FACE] != smile).any():  # a button is down: the field below it only looks open
            continue
        before, closed = closed, closed_fields(pixels)
        if closed != before:
            report(reward=(before - closed) / SAFE, done=closed == MINES)


if __name__ == "__main__":
    main()
