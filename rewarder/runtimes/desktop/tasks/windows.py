"""Tasks with windows: close, move, resize, maximize, arrange."""

from __future__ import annotations

from typing import ClassVar

from rewarder.display.x11_windows import Window
from rewarder.runtimes.desktop.tasks.task import COLOURS, GOING, SOLVED, WORDS, Outcome, Task, failed

TITLE = 30
"""Upper bound of the height of a window's title bar, in pixels."""


class WindowTask(Task):
    """A task with windows that show clocks, each with a name."""

    def show(self, **places: tuple[int, int, int, int]) -> None:
        """Open a window for each name at (x, y, width, height), and wait for all."""
        for name, (x, y, width, height) in places.items():
            self.desk.clock(name, x, y, width, height)
        self.desk.await_window(*places)

    def window(self, name: str) -> Window | None:
        """Return the window of this name; None if it does not exist."""
        return next((window for window in self.desk.windows() if window.title == name), None)

    def somewhere(self, width: int, height: int) -> tuple[int, int]:
        """Choose a random position for a window of this size."""
        x = self.random.randrange(10, self.desk.width - width - 20)
        return x, self.random.randrange(TITLE, self.desk.height - height - TITLE)


class CloseWindow(WindowTask):
    """Close one window, and no other."""

    seconds: ClassVar[float] = 30.0

    def prepare(self) -> str:
        """Open four windows, side by side."""
        self._names = self.random.sample(WORDS, 4)
        across, down = self.desk.width // 2, self.desk.height // 2
        corners = [(across * column + 40, down * row + 40) for column in range(2) for row in range(2)]
        self.show(**{name: (x, y, 220, 140) for name, (x, y) in zip(self._names, corners, strict=True)})
        self._wanted = self.random.choice(self._names)
        return f"Close the window {self._wanted}, and no other."

    def check(self, elapsed: float) -> Outcome:
        """Succeed or fail at the first closed window."""
        titles = {window.title for window in self.desk.windows()}
        gone = [name for name in self._names if name not in titles]
        wrong = [name for name in gone if name != self._wanted]
        if wrong:
            return failed(f"the window {wrong[0]} was closed")
        return SOLVED if gone else GOING


class _OneWindow(WindowTask):
    """A task about one window, which must not be closed."""

    seconds: ClassVar[float] = 30.0
    name: ClassVar[str] = "clock"

    def check(self, elapsed: float) -> Outcome:
        """Succeed when the window is right and no button is down."""
        window = self.window(self.name)
        if window is None:
            return failed("the window was closed")
        return SOLVED if self.right(window) and not self.desk.pointer().pressed else GOING

    def right(self, window: Window) -> bool:
        """Return whether the window satisfies the task."""
        raise NotImplementedError


class MoveWindow(_OneWindow):
    """Move a window to a place."""

    tolerance: ClassVar[int] = 25
    size: ClassVar[tuple[int, int]] = (200, 160)

    def prepare(self) -> str:
        """Mark a position that the window does not touch."""
        width, height = self.size
        x, y = self.somewhere(width, height)
        while True:
            self._x, self._y = self.somewhere(width, height)
            if abs(self._x - x) > width + 60 or abs(self._y - y) > height + 60:
                break
        self.desk.add_square(self._x, self._y, width, height, COLOURS["yellow"], below=True)
        self.show(**{self.name: (x, y, width, height)})
        return "Move the window onto the yellow rectangle, so that it covers it."

    def right(self, window: Window) -> bool:
        """Return whether the window, with or without its title bar, covers the mark."""
        return abs(window.x - self._x) <= self.tolerance and abs(window.y - self._y) <= self.tolerance + TITLE


class ResizeWindow(_OneWindow):
    """Give a window a certain size."""

    tolerance: ClassVar[int] = 20

    def prepare(self) -> str:
        """Show a rectangle of the size beside the window."""
        half = self.desk.width // 2
        self._width, self._height = self.random.randrange(240, half - 60), self.random.randrange(260, 480)
        self.desk.add_square(half + 20, 60, self._width, self._height, COLOURS["blue"], below=True)
        self.show(**{self.name: (30, 60, 150, 150)})
        return "Make the window as wide and as high as the blue rectangle."

    def right(self, window: Window) -> bool:
        """Return whether the window has the size, at any position."""
        wrong = max(abs(window.width - self._width), abs(window.height - self._height))
        return wrong <= self.tolerance


class MaximizeWindow(_OneWindow):
    """Make a window fill the screen."""

    def prepare(self) -> str:
        """Open the window at a random position."""
        self.show(**{self.name: (*self.somewhere(240, 180), 240, 180)})
        return "Maximize the window."

    def right(self, window: Window) -> bool:
        """Return whether the window fills the screen except for frames."""
        return window.width >= self.desk.width - 20 and window.height >= self.desk.height - 60


class ArrangeWindows(WindowTask):
    """Put two windows into their halves of the screen."""

    seconds: ClassVar[float] = 45.0

    def prepare(self) -> str:
        """Open each window in the wrong half."""
        self._left, self._right = self.random.sample(WORDS, 2)
        middle, width = self.desk.width // 2, 220
        top = self.random.randrange(TITLE, self.desk.height // 2 - 200)
        self.show(
            **{
                self._left: (middle + self.random.randrange(40, middle - width - 40), top, width, 140),
                self._right: (self.random.randrange(20, middle - width - 40), top + 220, width, 140),
            }
        )
        return f"Put the window {self._left} into the left half of the screen and {self._right} into the right half."

    def check(self, elapsed: float) -> Outcome:
        """Succeed when each window is inside its half and no button is down."""
        left, right = self.window(self._left), self.window(self._right)
        if left is None or right is None:
            return failed("a window was closed")
        middle = self.desk.width // 2
        arranged = left.x + left.width <= middle <= right.x
        return SOLVED if arranged and not self.desk.pointer().pressed else GOING
