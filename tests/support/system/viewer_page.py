"""The viewer's page in a headless browser: read its picture, and type into it."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from tests.support.system.headless import Page

CONNECTED = 'document.getElementById("state")?.textContent === "connected"'


def picture(browser: Page, frame: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the page's picture of a screen, scaled to the shape of `frame`."""
    rectangle = browser.evaluate(
        '(r => [r.x, r.y, r.width, r.height])(document.querySelector("canvas").getBoundingClientRect())'
    )
    assert isinstance(rectangle, list)
    x, y, width, height = map(round, rectangle)
    shown = Image.fromarray(browser.screenshot()[y : y + height, x : x + width])
    return np.asarray(shown.resize(frame.shape[1::-1], Image.Resampling.BILINEAR))


def looks_like(shown: NDArray[np.uint8], frame: NDArray[np.uint8]) -> bool:
    """Whether two pictures may be of the same game at different times."""
    return bool(abs(shown.astype(int) - frame.astype(int)).mean() < 25)


def next_picture(
    browser: Page, frame: NDArray[np.uint8], before: NDArray[np.uint8] | None = None
) -> NDArray[np.uint8]:
    """As `picture`, once it differs from `before`."""
    deadline = time.monotonic() + 60
    while True:
        shown = picture(browser, frame)
        if np.any(shown != (shown[0, 0] if before is None else before)):
            return shown
        assert time.monotonic() < deadline, "the picture does not change"


def type_folder(browser: Page, url: str, name: str) -> None:
    """Create a folder by typing into the terminal that the page shows."""
    browser.open("about:blank")
    browser.open(url)
    browser.until(CONNECTED)
    browser.click(400, 300)
    for letter in "mkdir":
        browser.press(letter, f"Key{letter.upper()}", ord(letter.upper()))
    browser.press(" ", "Space", 32)
    browser.press(name, f"Key{name.upper()}", ord(name.upper()))
    browser.press("Enter", "Enter", 13)
