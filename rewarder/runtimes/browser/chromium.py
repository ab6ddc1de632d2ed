"""A Chromium that fills an X display with one page, controlled over DevTools."""

from __future__ import annotations

import logging
import os
import select
import shutil
import time
from collections import deque
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import msgspec

from rewarder.display.child import Child
from rewarder.display.guard import Guard
from rewarder.display.task_user import task_user
from rewarder.display.xdisplay import XDisplay
from rewarder.runtimes.browser.devtools import CallFailed, DevTools, DevToolsError, Event

START_TIMEOUT = 20.0
LOAD_TIMEOUT = 15.0
LOG_LINES = 10
PUSH = "__universe_push"
"""The JavaScript function with which a page sends reports."""
MISSING = "Chromium is not installed: apt install chromium"

_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
_LISTENING = "DevTools listening on "
_NO_SANDBOX = "No usable sandbox"
_INHERITED = ("LANG", "LC_ALL", "PATH", "TZ", "USER", "LOGNAME")
_FEATURES_OFF = (
    "AutofillServerCommunication,CertificateTransparencyComponentUpdater,DialMediaRouteProvider,GlobalMediaControls,"
    "InterestFeedContentSuggestions,MediaRouter,OptimizationHints,PasswordManagerOnboarding,Translate,WebUSB"
)
_FLAGS = (
    "--kiosk",
    "--window-position=0,0",
    "--force-device-scale-factor=1",
    "--lang=en-US",
    "--remote-debugging-port=0",  # a free port of 127.0.0.1
    # rendering without a GPU, at 60 frames per second in the background too
    "--disable-gpu",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    # no network: only pages of 127.0.0.1, no name lookups, no background requests
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-sync",
    "--no-pings",
    f"--disable-features={_FEATURES_OFF}",
    # no dialogs, no crash reporter
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-infobars",
    "--disable-notifications",
    "--disable-prompt-on-repost",
    "--disable-session-crashed-bubble",
    "--disable-pinch",
    "--overscroll-history-navigation=0",
    "--deny-permission-prompts",
    "--password-store=basic",
    "--mute-audio",
)

log = logging.getLogger(__name__)


class BrowserGone(Exception):
    """The browser or its page has ended or does not answer."""


class Chromium:
    """A running browser with one page, which fills the screen.

    Raises:
        BrowserGone: (any method but `close`) it has ended, crashed or hangs; close it and start another.
        DisplayError: the display is gone.
    """

    def __init__(self, display: XDisplay, script: str) -> None:
        """Start Chromium on `display`; `script` runs in every page before the page's own."""
        self._display = display
        self._log: deque[str] = deque(maxlen=LOG_LINES)
        self._url = ""
        self._left: str | None = None
        self._pushed: list[str] = []
        with ExitStack() as stack:
            try:
                self._child, url = self._start(stack)
                self._devtools = DevTools(url)
                stack.callback(self._devtools.close)
                self._attach(script)
            except DevToolsError as error:
                raise self._gone(str(error)) from error
            self._open = stack.pop_all()

    def show(self, url: str) -> None:
        """Load a page; return at its load event."""
        self._url = url
        try:
            self._devtools.events()  # drop events of the last page
            self._pushed.clear()
            self._left = None
            answer = self._call("Page.navigate", {"url": url})
            if failure := answer.get("errorText"):
                raise self._gone(f"{url}: {failure}")
            self._devtools.wait("Page.loadEventFired", session=self._session, timeout=LOAD_TIMEOUT)
            self._call("Page.bringToFront")  # otherwise the hidden address bar has the keyboard focus
        except DevToolsError as error:
            raise self._gone(f"{url}: {error}") from error

    def run(self, expression: str, timeout: float) -> object:
        """Evaluate JavaScript in the page; return its JSON value, or that of the promise that it returns."""
        try:
            return self._devtools.evaluate(expression, session=self._session, timeout=timeout)
        except DevToolsError as error:
            raise self._gone(str(error)) from error

    def call(self, method: str, params: Mapping[str, object] | None = None) -> dict[str, object]:
        """Call a DevTools method of the page."""
        try:
            return self._call(method, params)
        except DevToolsError as error:
            raise self._gone(str(error)) from error

    def pushed(self) -> list[str]:
        """Return the page's reports since the last call, without waiting."""
        self._read_log()
        if self._child.ended():
            raise self._gone("chromium has ended")
        try:
            for event in self._devtools.events():
                self._take(event)
        except DevToolsError as error:
            raise self._gone(str(error)) from error
        if self._left is not None:
            raise BrowserGone(self._left)
        pushed, self._pushed = self._pushed, []
        return pushed

    @property
    def pid(self) -> int:
        """The process id of the browser."""
        return self._child.pid

    def close(self) -> None:
        """End the browser with all its processes, and remove its profile. Idempotent."""
        self._open.close()

    # -- starting ---------------------------------------------------------------------------------------------------

    def _start(self, stack: ExitStack) -> tuple[Child, str]:
        """Return the process, and the URL of its DevTools."""
        if os.geteuid() == 0:
            log.warning("! chromium runs without its sandbox, because this user is root")
            child = self._spawn(stack, ["--no-sandbox"])
        else:
            child = self._spawn(stack, [])
        if url := self._address(child):
            return child, url
        if any(_NO_SANDBOX in line for line in self._log):
            log.warning(
                "! chromium runs without its sandbox, because the kernel does not allow it user namespaces"
            )
            child = self._spawn(stack, ["--no-sandbox"])
            if url := self._address(child):
                return child, url
        raise self._gone("chromium did not start")

    def _spawn(self, stack: ExitStack, more: list[str]) -> Child:
        profile = task_user().directory("universe-client-chromium-")
        guard = Guard(profile)
        stack.callback(guard.close)
        stack.callback(task_user().remove, profile)
        self._display.check()
        # one more than the screen, because Chromium makes a window of the screen's size one pixel smaller
        size = f"--window-size={self._display.width + 1},{self._display.height + 1}"
        command = [executable(), f"--user-data-dir={profile}", size, *_FLAGS, *more, "about:blank"]
        child = Child(command, self._environment(profile))
        guard.add(child.pid)

        def end() -> None:
            child.kill()
            guard.remove(child.pid)

        stack.callback(end)
        return child

    def _environment(self, profile: Path) -> dict[str, str]:
        inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        # a home of its own, without the user's settings and keyrings; "disabled:" is no session bus
        own = {"HOME": str(profile), "TMPDIR": str(profile), "DBUS_SESSION_BUS_ADDRESS": "disabled:"}
        return {"LANG": "C.UTF-8", **inherited, **own, **self._display.environment}

    def _address(self, child: Child) -> str | None:
        """Return the DevTools URL that Chromium prints; None if it ends first."""
        deadline = child.began + START_TIMEOUT
        while True:
            ended = child.ended()
            for line in child.stderr.lines():
                self._log.append(line)
                if line.startswith(_LISTENING):
                    return line.removeprefix(_LISTENING).strip()
            if ended:
                return None
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise self._gone(f"chromium is not ready after {START_TIMEOUT:g} s")
            select.select(child.files(), [], [], remaining)
            child.stdout.lines()

    def _attach(self, script: str) -> None:
        """Connect to the first page; further ones are closed when they appear."""
        self._devtools.call("Target.setDiscoverTargets", {"discover": True})
        self._target = self._first_page()
        answer = self._devtools.call("Target.attachToTarget", {"targetId": self._target, "flatten": True})
        self._session = str(answer["sessionId"])
        for domain in ("Page", "Runtime", "Inspector"):
            self._call(f"{domain}.enable")
        self._call("Runtime.addBinding", {"name": PUSH})
        self._call("Page.addScriptToEvaluateOnNewDocument", {"source": script})

    def _first_page(self) -> str:
        deadline = time.monotonic() + START_TIMEOUT
        while True:
            remaining = max(0.0, deadline - time.monotonic())
            event = self._devtools.wait("Target.targetCreated", session=None, timeout=remaining)
            target = msgspec.convert(event.params, type=_TargetEvent).target
            if target.type == "page":
                return target.id

    # -- events -----------------------------------------------------------------------------------------------------

    def _take(self, event: Event) -> None:
        match event.method:
            case "Runtime.bindingCalled" if event.params.get("name") == PUSH:
                self._pushed.append(str(event.params.get("payload")))
            case "Target.targetCreated":
                self._close_other(msgspec.convert(event.params, type=_TargetEvent).target)
            case "Page.frameNavigated":
                frame = msgspec.convert(event.params, type=_FrameEvent).frame
                if frame.parent is None and frame.url.partition("?")[0] != self._url.partition("?")[0]:
                    self._left = f"the page was left: it navigated to {frame.url[:200]}"
            case "Inspector.targetCrashed" if event.session_id == self._session:
                self._left = "the page crashed"
            case "Target.targetDestroyed" if event.params.get("targetId") == self._target:
                self._left = "the page was closed"

    def _close_other(self, target: _Target) -> None:
        """Close a second window, which would cover the page."""
        if target.id == self._target or target.type not in ("page", "other"):
            return
        log.info("= closing %s %s", target.type, target.url[:200])
        self._try("Target.closeTarget", {"targetId": target.id}, None)
        self._try("Page.bringToFront", {}, self._session)

    def _try(self, method: str, params: Mapping[str, object], session: str | None) -> None:
        """Call a method about a target that may no longer exist."""
        try:
            self._devtools.call(method, params, session=session)
        except CallFailed as error:
            log.debug("= %s", error)

    def _call(self, method: str, params: Mapping[str, object] | None = None) -> dict[str, object]:
        return self._devtools.call(method, params, session=self._session)

    def _read_log(self) -> None:
        for line in (*self._child.stderr.lines(), *self._child.stdout.lines()):
            self._log.append(line)
            log.debug("chromium: %r", line[:500])

    def _gone(self, what: str) -> BrowserGone:
        """Return the error for `what`; raise DisplayError if the display is gone, because a restart cannot help."""
        self._display.check()
        words = "".join(f"\n    {line[:300]}" for line in self._log)
        return BrowserGone(f"{what}; its last output:{words or ' none'}")


def executable() -> str:
    """Return the path of Chromium.

    Raises:
        ValueError: it is not installed.
    """
    for name in _NAMES:
        if path := shutil.which(name):
            return path
    raise ValueError(MISSING)


class _Target(msgspec.Struct, frozen=True):
    id: str = msgspec.field(name="targetId")
    type: str
    url: str = ""


class _TargetEvent(msgspec.Struct, frozen=True):
    target: _Target = msgspec.field(name="targetInfo")


class _Frame(msgspec.Struct, frozen=True):
    url: str
    parent: str | None = msgspec.field(default=None, name="parentId")


class _FrameEvent(msgspec.Struct, frozen=True):
    frame: _Frame
