"""Tasks for the mouse: coloured squares to click and to follow."""

from __future__ import annotations

import math
from typing import ClassVar

from rewarder.runtimes.desktop.tasks.task import COLOURS, GOING, SOLVED, Outcome, Task, failed


class ClickTargets(Task):
    """Click squares that appear one after the other, each for a short time."""

    seconds: ClassVar[float] = 60.0
    count: ClassVar[int] = 10
    patience: ClassVar[float] = 3.0
    """Seconds for which a square is shown."""

    def prepare(self) -> str:
        """Show the first square."""
        self._shown = 0
        self._next(0.0)
        return f"Click the {self.count} squares that appear one after the other, each within {self.patience:g} seconds."

    def check(self, elapsed: float) -> Outcome:
        """Reward each square that is clicked in time."""
        reward = 1 / self.count if self._square in self.desk.pressed() else 0.0
        if not reward and elapsed < self._until:
            return GOING
        self.desk.remove_square(self._square)
        if self._shown == self.count:
            return Outcome(reward, True, "no more squares")
        self._next(elapsed)
        return Outcome(reward)

    def _next(self, now: float) -> None:
        size = self.random.randrange(24, 72)
        x = self.random.randrange(self.desk.width - size)
        y = self.random.randrange(self.desk.height - size)
        colour = self.random.choice([value for name, value in COLOURS.items() if name != "black"])
        self._square = self.desk.add_square(x, y, size, size, colour)
        self._until = now + self.patience
        self._shown += 1


class ClickColour(Task):
    """Click the square of the right colour."""

    seconds: ClassVar[float] = 10.0
    size: ClassVar[int] = 60

    def prepare(self) -> str:
        """Show a square of each colour, without overlaps."""
        across, down = self.desk.width // 4, self.desk.height // 2
        cells = [(column * across, row * down) for column in range(4) for row in range(2)]
        self.random.shuffle(cells)
        self._colours = {}
        for name, (left, top) in zip(COLOURS, cells, strict=True):
            x = left + self.random.randrange(across - self.size)
            y = top + self.random.randrange(down - self.size)
            self._colours[self.desk.add_square(x, y, self.size, self.size, COLOURS[name])] = name
        self._wanted = self.random.choice(list(COLOURS))
        return f"Click the {self._wanted} square."

    def check(self, elapsed: float) -> Outcome:
        """Succeed or fail at the first click on a square."""
        for square in self.desk.pressed():
            colour = self._colours.get(square)
            if colour is not None:
                return SOLVED if colour == self._wanted else failed(f"the {colour} square was clicked")
        return GOING


class FollowSquare(Task):
    """Keep the pointer on a moving square."""

    seconds: ClassVar[float] = 30.0
    duration: ClassVar[float] = 15.0
    size: ClassVar[int] = 90

    def prepare(self) -> str:
        """Show the square."""
        self._phase = self.random.uniform(0, 2 * math.pi)
        self._speeds = self.random.uniform(0.5, 0.9), self.random.uniform(0.6, 1.1)
        self._square = self.desk.add_square(*self._place(0.0), self.size, self.size, COLOURS["orange"])
        self._seen = 0.0
        return f"Keep the mouse pointer on the orange square for {self.duration:g} seconds."

    def check(self, elapsed: float) -> Outcome:
        """Reward the share of time since the last check if the pointer is on the square."""
        pointer = self.desk.pointer()
        x, y = self._place(self._seen)
        inside = x <= pointer.x < x + self.size and y <= pointer.y < y + self.size
        reward = (min(elapsed, self.duration) - self._seen) / self.duration if inside else 0.0
        self._seen = min(elapsed, self.duration)
        self.desk.move_square(self._square, *self._place(self._seen))
        return Outcome(
            reward, elapsed >= self.duration, "the time is over" if elapsed >= self.duration else None
        )

    def _place(self, time: float) -> tuple[int, int]:
        across, down = (self.desk.width - self.size) / 2, (self.desk.height - self.size) / 2
        horizontal, vertical = self._speeds
        x = across * (1 + 0.9 * math.sin(self._phase + horizontal * time))
        y = down * (1 + 0.9 * math.cos(self._phase + vertical * time))
        return round(x), round(y)
