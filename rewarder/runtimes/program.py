"""A program with a window as a remote: it runs on an X display and prints rewards as JSON lines."""

from __future__ import annotations

import logging
import os
import select
import shutil
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import msgspec

from rewarder.display.child import Child
from rewarder.display.xdisplay import XDisplay
from rewarder.sdk.environment import Runtime, Tick
from vnc.events import Event

READY_TIMEOUT = 10.0
"""Seconds to wait for a first window or report; afterwards the program counts as running."""
SHORT_LIFE = 1.0
"""Seconds within which a program that ends without a `done` has failed."""
MAX_SHORT_LIVES = 5
FIRST_PAUSE = 0.1
"""Seconds before the second start of a failing program; doubled before each further one."""
MAX_REPORTS = 1000
"""Reports that wait for a tick; beyond it, the program blocks at its full pipe."""
LOG_LINES = 20
_INHERITED = (
    "HOME",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TMPDIR",
    "TZ",
    "USER",
)

log = logging.getLogger(__name__)


class ProgramFailed(Exception):
    """The program ended at once after each of several starts."""


class Report(msgspec.Struct, frozen=True):
    """One JSON line of the program's output; unknown fields are ignored."""

    ready: bool = False
    """The episode can begin, with or without a window."""
    reward: float = 0.0
    done: bool = False
    truncated: bool = False
    text: object | None = None
    observation: object | None = None
    info: Mapping[str, object] = {}


class ProgramRuntime(Runtime):
    """A program on an X display, which is started anew for every episode.

    An episode begins when the program has mapped a window or printed a report. It ends with a report that contains
    `done` or `truncated`, or with the program; `info["exit_status"]` is then its status. The program's process group is
    killed before the next start. The seed of the reset, if any, is in the environment variable `UNIVERSE_SEED`.

    In lock-step, the process group is stopped (SIGSTOP) except for 1 / fps seconds in each tick. The program's clock
    continues, so that equal seeds and actions need not give equal frames.
    """

    display = True
    lockstep = True

    def __init__(self, env_id: str, command: Sequence[str], display: XDisplay, fps: float = 60) -> None:
        self.env_ids = (env_id,)
        self.fps = fps
        self.width, self.height = display.width, display.height
        self._command = command
        self._display = display
        self._child: Child | None = None
        self._frozen = False
        self._reports: deque[Report] = deque()
        self._reported = False
        self._errors: deque[str] = deque(maxlen=LOG_LINES)
        self._short_lives = 0

    def reset(self, env_id: str, seed: int | None) -> None:
        """Start the program; return when the episode can begin.

        Raises:
            ProgramFailed: the program ended at once after each of `MAX_SHORT_LIVES` starts.
            DisplayError: the display is gone.
        """
        self.close()
        while True:
            self._pause()
            child = self._start(seed)
            if self._wait_until_ready(child):
                if self.stepped:
                    self._freeze(child)
                return
            self._note_end(child)

    def tick(self, events: Sequence[Event]) -> Tick:
        """Return the program's reports since the last tick. Input reaches the program through the display.

        Raises:
            DisplayError: the display is gone.
        """
        child = self._child
        assert child is not None, "tick before reset"
        self._run_one_tick(child)
        self._display.check()
        ended = child.ended()
        self._read(child)
        if ended:
            child.kill_group()
            self._read(child)  # a last line without a newline
        if not ended or self._reports:
            return self._next_tick()
        return Tick(done=True, info={"exit_status": self._note_end(child)})

    def _run_one_tick(self, child: Child) -> None:
        """In lock-step, let the program run for the duration of one tick."""
        if self.stepped or self._frozen:
            child.resume()
            self._frozen = False
        if self.stepped:
            child.wait(1 / self.fps)
            self._freeze(child)

    def _freeze(self, child: Child) -> None:
        child.freeze()
        self._frozen = True
        self._display.check_answers()  # Xvnc has now processed what the program drew

    def close(self) -> None:
        """Kill the program's process group."""
        self._reports.clear()
        self._reported = self._frozen = False
        if self._child is not None:
            self._forget(self._child)

    # -- one start of the program ---------------------------------------------------------------------------------

    def _start(self, seed: int | None) -> Child:
        environment = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        environment |= self._display.environment
        if seed is not None:
            environment["UNIVERSE_SEED"] = str(seed)
        self._display.check()
        self._windows = self._display.client.mapped
        self._child = child = Child(self._command, environment)
        self._display.guard.add(child.pid)
        return child

    def _wait_until_ready(self, child: Child) -> bool:
        """Return False if the program ended first."""
        deadline = child.began + READY_TIMEOUT
        while True:
            self._display.check()
            ended = child.ended()
            self._read(child)
            if self._reported or self._display.client.mapped > self._windows:
                return True
            if ended:
                return False
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                log.warning(
                    "! %s: no window after %g s, the episode begins without one",
                    self._command[0],
                    READY_TIMEOUT,
                )
                return True
            select.select([self._display.client.fileno(), *child.files()], [], [], remaining)

    def _note_end(self, child: Child) -> int:
        """Forget a program that has ended; return its exit status."""
        # An X program ends with its display: if Xvnc does not answer, the display ended first.
        self._display.check_answers()
        failed = time.monotonic() - child.began < SHORT_LIFE
        self._short_lives = self._short_lives + 1 if failed else 0
        status = self._forget(child)
        log.info("= %s ended with status %d", self._command[0], status)
        if self._short_lives >= MAX_SHORT_LIVES:
            words = "".join(f"\n    {line}" for line in self._errors)
            raise ProgramFailed(
                f"{self._command[0]} ended within {SHORT_LIFE:g} s after {self._short_lives} starts in a row, with "
                f"status {status}; its last output:{words or ' none'}"
            )
        return status

    def _forget(self, child: Child) -> int:
        status = child.kill()
        self._display.guard.remove(child.pid)
        self._child = None
        return status

    def _pause(self) -> None:
        if self._short_lives:
            time.sleep(FIRST_PAUSE * 2 ** (self._short_lives - 1))

    # -- its output ----------------------------------------------------------------------------------------------

    def _read(self, child: Child) -> None:
        for line in child.stderr.lines():
            self._errors.append(line)
            log.info("%s: %s", self._command[0], _printable(line))
        for line in child.stdout.lines() if len(self._reports) < MAX_REPORTS else ():
            report = _parse(line)
            if report is None:
                log.info("%s: %s", self._command[0], _printable(line))
            else:
                self._reported = True
                self._reports.append(report)

    def _next_tick(self) -> Tick:
        """Return the sum of the reports up to the episode's end. A second text waits for the next tick."""
        reward, text, observation, info = 0.0, None, None, dict[str, object]()
        while self._reports and (text is None or self._reports[0].text is None):
            report = self._reports.popleft()
            reward += report.reward
            text = report.text if text is None else text
            observation = observation if report.observation is None else report.observation
            info |= report.info
            if report.done or report.truncated:
                self._short_lives = 0
                return Tick(None, reward, True, report.truncated, text, observation, info)
        return Tick(reward=reward, text=text, env_observation=observation, info=info)


@contextmanager
def on_display(
    env_id: str, command: Sequence[str], display: XDisplay, fps: float | None = None
) -> Iterator[ProgramRuntime]:
    """Start `display`, and yield a runtime for a program on it.

    Args:
        env_id: the environment's name.
        command: the program and its arguments.
        display: a display that is not started.
        fps: reads of the program's output per second; None is 60.

    Raises:
        ValueError: the program is not installed.
        DisplayError: the display does not start.
    """
    if shutil.which(command[0]) is None:
        raise ValueError(f"{env_id}: program {command[0]!r} is not installed")
    with display:
        yield ProgramRuntime(env_id, command, display, fps or 60)


def _parse(line: str) -> Report | None:
    """Return the report in `line`; None if the line is other output."""
    try:
        report = msgspec.json.decode(line, type=Report)
    except (ValueError, RecursionError) as error:  # a DecodeError, or text that is not UTF-8
        if line.startswith("{"):
            log.warning("! invalid report: %s", error)
        return None
    return None if report == _EMPTY else report


_EMPTY = Report()


def _printable(line: str) -> str:
    return "".join(character if character.isprintable() else "\ufffd" for character in line[:500])
