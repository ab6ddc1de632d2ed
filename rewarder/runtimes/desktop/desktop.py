"""A desktop as a remote: windows, a terminal, an editor, and tasks that check the result."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from random import Random

from rewarder.display.xdisplay import XDisplay
from rewarder.runtimes.desktop.desk import Desk, DeskFailed, missing_programs
from rewarder.runtimes.desktop.tasks import TASKS
from rewarder.runtimes.desktop.tasks.task import Task
from rewarder.sdk.environment import Runtime, Tick
from vnc.events import Event

FPS = 30.0
MAX_FAILURES = 3
"""Failed attempts to set up an episode after which the remote ends."""
SMALLEST = (800, 600)
"""The smallest width and height for the tasks."""

log = logging.getLogger(__name__)


class DesktopRuntime(Runtime):
    """Tasks on one desktop. The seed determines a task's names, words, places and colours.

    An episode terminates when its task is solved or failed, and is truncated at the task's time limit. The next episode
    has new programs, windows, files, clipboard and pointer.
    """

    display = True

    def __init__(self, env_id: str, display: XDisplay, fps: float = FPS) -> None:
        if env_id not in TASKS:
            raise ValueError(f"unknown env_id {env_id!r}, the tasks are {', '.join(TASKS)}")
        self.env_ids = (env_id, *(other for other in TASKS if other != env_id))
        self.fps = fps
        self.width, self.height = display.width, display.height
        self._display = display
        self._desk = Desk(display)
        self._task: Task | None = None
        self._began = 0.0

    def open(self) -> None:
        """Start the window manager.

        Raises:
            DeskFailed: it did not start.
        """
        self._desk.open()

    def reset(self, env_id: str, seed: int | None) -> Tick:
        """Begin an episode of `env_id`; return its instruction.

        Raises:
            DeskFailed: `MAX_FAILURES` attempts to set it up failed.
            DisplayError: the display is gone.
        """
        for failures in range(1, MAX_FAILURES + 1):
            self._display.check()
            try:
                self._desk.clear()
                self._task = TASKS[env_id](self._desk, Random(seed))
                text = self._task.prepare()
            except DeskFailed as error:
                log.warning("! %s: attempt %d: %s", env_id, failures, error)
                failure = error
                continue
            self._began = time.monotonic()
            return Tick(text=text)
        raise DeskFailed(
            f"{env_id} could not be set up in {MAX_FAILURES} attempts; the last error: {failure}"
        )

    def tick(self, events: Sequence[Event]) -> Tick:
        """Check the task. Input reaches the programs through the display.

        Raises:
            DisplayError: the display is gone.
        """
        task = self._task
        assert task is not None, "tick before reset"
        self._display.check()
        if not self._desk.managed():
            return Tick(done=True, truncated=True, info={"error": "the window manager has ended"})
        elapsed = time.monotonic() - self._began
        outcome = task.check(elapsed)
        if outcome.done:
            info = {"reason": outcome.reason, "seconds": round(elapsed, 3)}
            return Tick(reward=outcome.reward, done=True, info=info)
        if elapsed > task.seconds:
            return Tick(reward=outcome.reward, done=True, truncated=True, info={"reason": "time limit"})
        return Tick(reward=outcome.reward)

    def close(self) -> None:
        """End every program and remove every file."""
        self._desk.close()


@contextmanager
def on_display(env_id: str, display: XDisplay, fps: float | None = None) -> Iterator[DesktopRuntime]:
    """Start `display`, and yield a runtime for the tasks on it.

    Args:
        env_id: of the first task.
        display: a display that is not started.
        fps: checks of the task per second; None is 30.

    Raises:
        ValueError: no task has this name, the screen is too small, or a program is not installed.
        DisplayError: the display does not start.
    """
    if missing := missing_programs():
        raise ValueError(f"{env_id} needs programs that are not installed: apt install {' '.join(missing)}")
    if display.width < SMALLEST[0] or display.height < SMALLEST[1]:
        raise ValueError(
            f"{env_id} needs a screen of at least {SMALLEST[0]}x{SMALLEST[1]}, not {display.width}x{display.height}"
        )
    runtime = DesktopRuntime(env_id, display, fps or FPS)
    with display:
        yield runtime
