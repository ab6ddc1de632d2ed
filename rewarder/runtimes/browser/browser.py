"""Web pages as a remote: MiniWoB++'s tasks and two games, in a real Chromium on an X display."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

from rewarder.display.xdisplay import XDisplay
from rewarder.runtimes.browser.chromium import BrowserGone, Chromium, executable
from rewarder.runtimes.browser.pages import PageServer, catalogue, page_of
from rewarder.sdk.environment import Runtime, Tick
from vnc.events import Event

BEGIN_TIMEOUT = 20.0
"""Seconds for a page to begin an episode; some pages load an inner page first."""
SILENCE = 5.0
"""Seconds without a report after which a page counts as hanging; it reports twice a second."""
OVERTIME = 5.0
"""Seconds after its own time limit within which a page must end the episode."""
MAX_FAILURES = 4
"""Failed starts of an episode in a row after which the remote ends."""
FIRST_PAUSE = 0.1
"""Seconds before the second start; doubled before each further one."""

_SCRIPT = Path(__file__).with_name("page.js")

log = logging.getLogger(__name__)


class BrowserFailed(Exception):
    """No episode can begin, also with a new browser."""


class BrowserRuntime(Runtime):
    """Pages in one Chromium, which is kept from episode to episode.

    The page's script reports instruction, rewards and the end of the episode. An episode is truncated, with
    `info["error"]`, if its page crashes, hangs or navigates elsewhere; the next one starts a new browser.
    """

    display = True

    def __init__(self, env_id: str, display: XDisplay, fps: float = 60) -> None:
        page_of(env_id)
        self._pages = catalogue()
        self.env_ids = (env_id, *(other for other in self._pages if other != env_id))
        self.fps = fps
        self.width, self.height = display.width, display.height
        self._display = display
        self._server = PageServer()
        self._open = ExitStack()
        self._script = _SCRIPT.read_text("utf-8")
        self._browser: Chromium | None = None
        self._shown: str | None = None
        """The env id of the loaded page; None if the page must be loaded anew, because timers may still run in it."""
        self._episode = 0

    def open(self) -> None:
        """Start the page server. The first episode starts the browser, because it can retry."""
        self._open.enter_context(self._server)

    def reset(self, env_id: str, seed: int | None) -> Tick:
        """Begin an episode of `env_id`; return its instruction.

        Raises:
            BrowserFailed: `MAX_FAILURES` starts in a row failed.
            DisplayError: the display is gone.
        """
        failures = 0
        while True:
            try:
                return Tick(text=self._begin(env_id, seed))
            except BrowserGone as error:
                failures += 1
                log.warning("! %s: attempt %d: %s", env_id, failures, error)
                self._drop_browser()
                if failures == MAX_FAILURES:
                    raise BrowserFailed(
                        f"{env_id} did not begin in {failures} attempts; the last error: {error}"
                    ) from error
                time.sleep(FIRST_PAUSE * 2 ** (failures - 1))

    def tick(self, events: Sequence[Event]) -> Tick:
        """Return the page's reports since the last tick. Input reaches the page through the display.

        Raises:
            DisplayError: the display is gone.
        """
        self._display.check()
        assert self._browser is not None, "tick before reset"
        try:
            return self._collect(self._browser)
        except BrowserGone as error:
            log.warning("! %s: %s", self._env_id, error)
            self._drop_browser()
            return Tick(
                done=True, truncated=True, info={"error": str(error).partition("; its last output")[0]}
            )

    def close(self) -> None:
        """End the browser and the page server."""
        self._drop_browser()
        self._open.close()

    def _begin(self, env_id: str, seed: int | None) -> str | None:
        """Return the instruction."""
        self._display.check()
        self._env_id = env_id
        if self._browser is None:
            self._browser = Chromium(self._display, self._script)
        self._browser.pushed()  # drop reports of the last episode; raises if the browser has ended
        if self._shown != env_id:
            self._browser.show(self._server.url(self._pages[env_id]))
        self._shown = None
        self._episode += 1
        call = f"__universe_begin({self._episode}, {'null' if seed is None else seed})"
        begun = msgspec.convert(self._browser.run(call, BEGIN_TIMEOUT), type=_Begun)
        self._display.check_answers()  # Xvnc has processed the picture that Chromium sent before
        self._last_report = time.monotonic()
        self._deadline = self._last_report + begun.seconds + OVERTIME if begun.seconds else float("inf")
        return begun.text

    def _collect(self, browser: Chromium) -> Tick:
        """Sum the page's reports up to the end of the episode."""
        reward, info = 0.0, dict[str, object]()
        for line in browser.pushed():
            self._last_report = time.monotonic()
            report = msgspec.json.decode(line, type=_Report)
            if report.episode == self._episode:
                reward += report.reward
                info |= report.info
                if report.done:
                    self._shown = self._env_id
                    return Tick(reward=reward, done=True, info=info)
        self._check_alive()
        return Tick(reward=reward, info=info)

    def _check_alive(self) -> None:
        now = time.monotonic()
        if now - self._last_report > SILENCE:
            raise BrowserGone(f"the page hangs: no report for {SILENCE:g} s")
        if now > self._deadline:
            raise BrowserGone(
                f"the page did not end the episode within {OVERTIME:g} s after its own time limit"
            )

    def _drop_browser(self) -> None:
        self._shown = None
        if self._browser is not None:
            self._browser.close()
            self._browser = None


@contextmanager
def on_display(env_id: str, display: XDisplay, fps: float | None = None) -> Iterator[BrowserRuntime]:
    """Start `display`, and yield a runtime for `env_id` and all other pages.

    Args:
        env_id: `browser.` and the name of a page.
        display: a display that is not started.
        fps: reads of the page's reports per second; None is 60.

    Raises:
        ImportError: the MiniWoB++ pages are not installed.
        ValueError: no page has this name, or Chromium is not installed.
        DisplayError: the display does not start.
    """
    page_of(env_id)
    executable()
    with display:
        yield BrowserRuntime(env_id, display, fps or 60)


class _Begun(msgspec.Struct, frozen=True):
    """A page's answer when an episode has begun."""

    text: str | None = None
    seconds: float | None = None


class _Report(msgspec.Struct, frozen=True):
    """A report of a page; an empty one shows that the page does not hang."""

    episode: int
    reward: float = 0.0
    done: bool = False
    info: Mapping[str, object] = {}
