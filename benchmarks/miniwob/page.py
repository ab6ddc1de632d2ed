"""A MiniWoB++ page as a script sees it from inside: elements found in the DOM, real mouse and key events on them."""

from __future__ import annotations

import json
import re
import time
from itertools import pairwise
from typing import Any

from rewarder.runtimes.browser.browser import BrowserRuntime
from rewarder.sdk.environment import Tick

PRELUDE = """
window.one = selector => document.querySelector(selector);
window.all = selector => [...document.querySelectorAll(selector)];
window.said = element => element.textContent.trim();
window.named = (selector, name) => all(selector).find(element => said(element) === name);
window.frames2 = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
window.place = async element => { // its middle, once it has stopped moving
  element.scrollIntoView({ block: 'nearest' });
  let now = '', before;
  do {
    before = now;
    await frames2();
    const box = element.getBoundingClientRect();
    now = JSON.stringify([box.left + box.width / 2, box.top + box.height / 2]);
  } while (now !== before);
  return JSON.parse(now);
};
true
"""
KEYS = {
    "Enter": 13,
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
    "Escape": 27,
    "Backspace": 8,
}
Point = tuple[float, float]


class Page:
    """One task on a running `BrowserRuntime`."""

    def __init__(self, runtime: BrowserRuntime, env_id: str) -> None:
        self.runtime = runtime
        self.env_id = env_id
        self.text = ""
        self.ended: Tick | None = None

    def reset(self, seed: int) -> float:
        """Begin an episode; return the seconds that took."""
        before = time.monotonic()
        self.text = str(self.runtime.reset(self.env_id, seed).text)
        took = time.monotonic() - before
        self.ended = None
        self.js(PRELUDE)
        return took

    @property
    def quoted(self) -> list[str]:
        return re.findall(r'"([^"]*)"', self.text)

    def over(self, seconds: float = 0.0) -> bool:
        """Whether the episode has ended, or does within so many seconds."""
        deadline = time.monotonic() + seconds
        while self.ended is None:
            tick = self.runtime.tick([])
            if tick.done:
                self.ended = tick
            elif time.monotonic() >= deadline:
                return False
            else:
                self.js("frames2()")
        return True

    def js(self, expression: str) -> Any:
        assert self.runtime._browser is not None
        return self.runtime._browser.run(expression, 15)

    def count(self, selector: str) -> int:
        return int(self.js(f"all({json.dumps(selector)}).length"))

    def words(self, selector: str) -> list[str]:
        return list(self.js(f"all({json.dumps(selector)}).map(said)"))

    def where(self, element: str, name: str | None = None) -> Point:
        """Return the middle of an element: a selector, one with the text it has, or (after `=`) JavaScript."""
        if element.startswith("="):
            found = element[1:]
        elif name is None:
            found = f"one({json.dumps(element)})"
        else:
            found = f"named({json.dumps(element)}, {json.dumps(name)})"
        x, y = self.js(f"place({found})")
        return x, y

    def click(self, element: str, name: str | None = None) -> None:
        self.click_at(*self.where(element, name))

    def click_at(self, x: float, y: float, modifiers: int = 0) -> None:
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, modifiers)
        self.mouse("mouseReleased", x, y, modifiers)

    def hover(self, element: str, name: str | None = None) -> None:
        self.mouse("mouseMoved", *self.where(element, name))

    def drag(self, *points: Point) -> None:
        self.mouse("mouseMoved", *points[0])
        self.mouse("mousePressed", *points[0])
        for (x0, y0), (x1, y1) in pairwise(points):
            for step in range(1, 6):
                self.mouse("mouseMoved", x0 + (x1 - x0) * step / 5, y0 + (y1 - y0) * step / 5, pressed=True)
        self.mouse("mouseReleased", *points[-1])

    def mouse(self, kind: str, x: float, y: float, modifiers: int = 0, pressed: bool = False) -> None:
        button = "none" if kind == "mouseMoved" and not pressed else "left"
        held = int(pressed or kind == "mousePressed")
        params = {"type": kind, "x": x, "y": y, "button": button, "buttons": held, "modifiers": modifiers}
        self._call("Input.dispatchMouseEvent", params | {"clickCount": int(kind != "mouseMoved")})

    def enter(self, element: str, text: str) -> None:
        """Click a field and type into it."""
        self.click(element)
        self._call("Input.insertText", {"text": text})

    def keys(self, text: str) -> None:
        for character in text:
            key = {"key": character, "text": character}
            self._call("Input.dispatchKeyEvent", {"type": "keyDown", **key})
            self._call("Input.dispatchKeyEvent", {"type": "keyUp", "key": character})

    def press(self, name: str, times: int = 1) -> None:
        key: dict[str, object] = {"key": name, "code": name, "windowsVirtualKeyCode": KEYS[name]}
        for _ in range(times):
            down = {"type": "keyDown", **key, **({"text": "\r"} if name == "Enter" else {})}
            self._call("Input.dispatchKeyEvent", down)
            self._call("Input.dispatchKeyEvent", {"type": "keyUp", **key})

    def submit(self) -> None:
        self.click("#subbtn")

    def _call(self, method: str, params: dict[str, object]) -> None:
        assert self.runtime._browser is not None
        self.runtime._browser.call(method, params)
