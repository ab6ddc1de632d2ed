"""A headless Chromium with one page, driven over its DevTools socket."""

from __future__ import annotations

import base64
import io
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from rewarder.runtimes.browser.devtools import CallFailed, DevTools

FLAGS = (
    "--headless=new",
    "--no-sandbox",  # the tests may run as root, and the page is trusted
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--remote-debugging-port=0",
    "--window-size=1000,800",
)
LISTENING = "DevTools listening on "


class Page:
    def __init__(self, devtools: DevTools, session: str) -> None:
        self._devtools, self._session = devtools, session
        self.requested: list[str] = []
        self.complaints: list[str] = []

    def call(self, method: str, **params: object) -> dict[str, object]:
        return self._devtools.call(method, params, session=self._session)

    def evaluate(self, expression: str) -> object:
        return self._devtools.evaluate(expression, session=self._session)

    def open(self, url: str) -> None:
        self.call("Page.navigate", url=url)
        self._devtools.wait("Page.loadEventFired", session=self._session, timeout=60)

    def until(self, expression: str, timeout: float = 60.0) -> None:
        deadline = time.monotonic() + timeout
        while not self._holds(expression):
            if time.monotonic() > deadline:
                self.listen()
                text = self.evaluate("document.body.innerText")
                raise AssertionError(f"not within {timeout} s: {expression}; {text!r}, {self.complaints}")

    def _holds(self, expression: str) -> bool:
        """Return whether `expression` is true; it is not while the page loads itself again, which ends the call."""
        try:
            return bool(self.evaluate(expression))
        except CallFailed:
            return False

    def press(self, key: str, code: str, number: int) -> None:
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code, windowsVirtualKeyCode=number)

    def click(self, x: int, y: int) -> None:
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def screenshot(self) -> NDArray[np.uint8]:
        png = base64.b64decode(str(self.call("Page.captureScreenshot", format="png")["data"]))
        with Image.open(io.BytesIO(png)) as image:
            return np.asarray(image.convert("RGB"))

    def listen(self) -> None:
        """Collect the browser's requests and the error messages of its document."""
        for event in self._devtools.events():
            if event.method == "Network.requestWillBeSent":
                self.requested.append(str(cast(dict[str, object], event.params["request"])["url"]))
            elif event.method == "Network.webSocketCreated":
                self.requested.append(str(event.params["url"]))
            elif event.method in ("Log.entryAdded", "Runtime.exceptionThrown"):
                self.complaints.append(str(event.params))
            elif event.method == "Runtime.executionContextsCleared":
                self.complaints.clear()


@contextmanager
def page(directory: Path) -> Iterator[Page]:
    command = [shutil.which("chromium") or "chromium", f"--user-data-dir={directory}", *FLAGS, "about:blank"]
    pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, stderr=pipe, stdout=quiet, stdin=quiet) as process:
        try:
            with closing(DevTools(_address(process))) as devtools:
                yield _attached(devtools)
        finally:
            process.terminate()
            assert process.stderr is not None
            process.stderr.read()


def _address(process: subprocess.Popen[bytes]) -> str:
    assert process.stderr is not None
    while select.select([process.stderr], [], [], 20)[0]:
        line = process.stderr.readline().decode(errors="replace")
        assert line, "chromium ended"
        if line.startswith(LISTENING):
            return line.removeprefix(LISTENING).strip()
    raise AssertionError("chromium does not say where it listens")


def _attached(devtools: DevTools) -> Page:
    target = devtools.call("Target.createTarget", {"url": "about:blank"})["targetId"]
    session = str(devtools.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"])
    for domain in ("Page", "Runtime", "Network", "Log"):
        devtools.call(f"{domain}.enable", session=session)
    return Page(devtools, session)
