"""A desktop on an X display: one window manager, and for each episode new programs and a new home directory."""

from __future__ import annotations

import logging
import select
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from signal import SIGKILL

from rewarder.display.child import Child
from rewarder.display.guard import Guard
from rewarder.display.task_user import task_user
from rewarder.display.x11_windows import Pointer, Window, WindowClient
from rewarder.display.xdisplay import XDisplay

APPEAR_TIMEOUT = 10.0
"""Seconds for a window to appear."""
SWEEP_TIMEOUT = 1.0
"""Seconds for killed processes of an episode to end."""
LOOK_AGAIN = 0.01
"""Seconds between two checks of an awaited condition."""
BACKGROUND = 0x2B4A5E
PROGRAMS = {"openbox": "openbox", "xterm": "xterm", "xedit": "x11-apps", "xclock": "x11-apps"}
"""Required programs, and their Debian packages."""

_CONFIG = Path(__file__).with_name("openbox.xml")
_MARK = "UNIVERSE_DESK"
_SHELL = ("bash", "--noprofile", "--norc")
_FONT = ("-fa", "DejaVu Sans Mono", "-fs", "11")
_PATH = "/usr/local/bin:/usr/bin:/bin"

log = logging.getLogger(__name__)


class DeskFailed(Exception):
    """The desktop cannot be set up: the window manager does not start, or a window does not appear."""


class Desk:
    """The desktop that tasks set up and check. Use it from one thread.

    Attributes:
        home: the home directory of this episode; `clear` makes a new one.
        width: of the screen, in pixels.
        height: of the screen, in pixels.
    """

    home: Path

    def __init__(self, display: XDisplay) -> None:
        self.width, self.height = display.width, display.height
        self._display = display
        self._open = ExitStack()
        self._children: list[Child] = []
        self._squares: set[int] = set()
        self._manager: Child | None = None

    def open(self) -> None:
        """Connect to the display, and start the window manager.

        Raises:
            DeskFailed: the window manager does not start.
        """
        with ExitStack() as stack:
            self._directory = task_user().directory("universe-client-desk-", writable=False)
            self._guard = Guard(self._directory)
            stack.callback(self._guard.close)
            self._client = WindowClient(self._display.socket, self._display.cookie)
            stack.callback(self._client.close)
            stack.callback(self._end_all)
            self._client.background(BACKGROUND)
            self._manage()
            self._open = stack.pop_all()

    def close(self) -> None:
        """End every program and remove every file; idempotent."""
        self._open.close()

    def clear(self) -> None:
        """Reset the desktop: no programs, no windows, an empty home directory, the pointer in the middle.

        Raises:
            DeskFailed: the window manager cannot be restarted, or windows remain.
            OSError: the display is gone.
        """
        self._end_episode()
        self._manage()
        self._await_empty()
        self.home = task_user().directory("home-", self._directory)
        self._client.warp(self.width // 2, self.height // 2)
        self._client.pressed()

    def managed(self) -> bool:
        """Return whether the window manager runs. The output of programs goes to the log."""
        for child in (*self._children, *([self._manager] if self._manager else [])):
            for line in (*child.stdout.lines(), *child.stderr.lines()):
                log.debug("%r", line[:200])
        return self._manager is not None and not self._manager.ended()

    # -- programs -------------------------------------------------------------------------------------------------

    def run(self, *command: str) -> None:
        """Start a program in the home directory."""
        child = Child(["env", "-C", str(self.home), *command], self._environment(self.home))
        self._guard.add(child.pid)
        self._children.append(child)

    def terminal(self, title: str = "Terminal", place: str = "80x24+60+60") -> None:
        """Open a terminal with a shell in the home directory; wait until it gets the keys."""
        self.run("xterm", *_FONT, "-title", title, "-geometry", place, "-e", *_SHELL)
        self._await_focus(lambda window: window.title == title, title)

    def editor(self, name: str, place: str = "640x400+100+80") -> None:
        """Open a file of the home directory in the editor; wait until it gets the keys."""
        self.run("xedit", "-geometry", place, name)
        self._await_focus(lambda window: window.kind == "Xedit", "the editor")

    def clock(self, title: str, x: int, y: int, width: int, height: int) -> None:
        """Open a window that shows the time, without waiting for it."""
        self.run("xclock", "-title", title, "-geometry", f"{width}x{height}+{x}+{y}")

    def await_window(self, *titles: str) -> None:
        """Wait until windows with these titles exist.

        Raises:
            DeskFailed: they do not appear in time.
        """
        self.await_windows(lambda found: set(titles) <= {each.title for each in found}, " and ".join(titles))

    def await_windows(self, condition: Callable[[Sequence[Window]], bool], what: str) -> None:
        """Wait until the list of windows satisfies `condition`.

        Raises:
            DeskFailed: it does not within `APPEAR_TIMEOUT`.
        """
        deadline = time.monotonic() + APPEAR_TIMEOUT
        while not condition(self.windows()):
            if time.monotonic() > deadline:
                raise DeskFailed(f"{what} did not appear within {APPEAR_TIMEOUT:g} s")
            self._client.nudge()
            select.select([], [], [], LOOK_AGAIN)

    def _await_focus(self, is_it: Callable[[Window], bool], what: str) -> None:
        # The window manager moves the focus after it has listed a window; until then, keys are lost.
        def has_focus(windows: Sequence[Window]) -> bool:
            focus = self._client.focus()
            return any(window.id == focus and is_it(window) for window in windows)

        self.await_windows(has_focus, f"{what} with the keyboard focus")

    def commands(self) -> list[list[str]]:
        """Return the command lines of this episode's processes."""
        found = []
        for pid in self._strays():
            with suppress(OSError):  # it has just ended
                found.append(Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace").split("\0")[:-1])
        return found

    # -- what is on the screen --------------------------------------------------------------------------------------

    def windows(self) -> list[Window]:
        """Return the windows of programs."""
        return self._client.windows()

    def pointer(self) -> Pointer:
        """Return the state of the mouse."""
        return self._client.pointer()

    def add_square(self, x: int, y: int, width: int, height: int, colour: int, *, below: bool = False) -> int:
        """Show a coloured rectangle, above or below the windows; return its id."""
        square = self._client.add_square(x, y, width, height, colour, below=below)
        self._squares.add(square)
        return square

    def move_square(self, square: int, x: int, y: int) -> None:
        """Move a square to another position."""
        self._client.move_square(square, x, y)

    def remove_square(self, square: int) -> None:
        """Remove a square."""
        self._squares.discard(square)
        self._client.remove_square(square)

    def pressed(self) -> list[int]:
        """Return the squares that were clicked since the last call."""
        return self._client.pressed()

    # -- the end ------------------------------------------------------------------------------------------------------

    def _manage(self) -> None:
        if self._manager is not None and not self._manager.ended():
            return
        self._end_manager()
        command = ["openbox", "--sm-disable", "--config-file", str(_CONFIG)]
        self._manager = Child(command, self._environment(self._directory))
        self._guard.add(self._manager.pid)
        deadline = time.monotonic() + APPEAR_TIMEOUT
        while not self._client.managed():
            if self._manager.ended() or time.monotonic() > deadline:
                raise DeskFailed(f"openbox did not start: {self._manager.stderr.lines()}")
            select.select([], [], [], LOOK_AGAIN)

    def _await_empty(self) -> None:
        """Wait until no window remains, and disconnect the programs of those that do."""
        deadline = time.monotonic() + APPEAR_TIMEOUT
        while windows := self.windows():
            if time.monotonic() > deadline:
                raise DeskFailed(f"{len(windows)} windows of the last episode did not close")
            for window in windows:
                self._client.kill(window.id)
            select.select([], [], [], LOOK_AGAIN)

    def _end_manager(self) -> None:
        if self._manager is not None:
            self._end(self._manager)
            self._manager = None

    def _end(self, child: Child) -> None:
        child.kill()
        self._guard.remove(child.pid)

    def _end_episode(self) -> None:
        while self._children:
            self._end(self._children.pop())
        self._sweep()
        for square in list(self._squares):
            self.remove_square(square)
        if hasattr(self, "home"):
            task_user().remove(self.home)

    def _sweep(self) -> None:
        """Kill processes that left their process group, such as a shell in a terminal, and their children."""
        deadline = time.monotonic() + SWEEP_TIMEOUT
        while strays := self._strays():
            if time.monotonic() > deadline:
                log.warning("! %d processes of the last episode did not end", len(strays))
                task_user().end_all()  # includes the window manager
                return
            for pid in strays:
                with suppress(ProcessLookupError):
                    task_user().signal(pid, SIGKILL)
            select.select([], [], [], LOOK_AGAIN)  # until the kernel has ended them

    def _end_all(self) -> None:
        with suppress(OSError):  # the display may have ended first
            self._end_episode()
        self._end_manager()

    def _strays(self) -> list[int]:
        """Return the process ids of this episode, including detached processes."""
        manager = [] if self._manager is None else [self._manager.pid]
        return task_user().processes(f"{_MARK}={self._directory}", manager)

    def _environment(self, home: Path) -> dict[str, str]:
        own = {"HOME": str(home), "PATH": _PATH, "LANG": "C.UTF-8", "PS1": r"\W \$ ", "HISTFILE": ""}
        marks = {_MARK: str(self._directory)} if home != self._directory else {}
        return {**own, **marks, "TERM": "xterm", "SHELL": "/bin/bash", **self._display.environment}


def missing_programs() -> list[str]:
    """Return the Debian packages of required programs that are not installed."""
    return sorted({package for program, package in PROGRAMS.items() if shutil.which(program) is None})
