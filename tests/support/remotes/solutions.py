"""A scripted model: for each task, from its text and its picture the actions of one turn, as a model writes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examples.miniwob_agent import BOTTOM, PARKED, POLICIES, RIGHT
from rewarder.runtimes.desktop.tasks.task import COLOURS
from tests.support.remotes.tasks import middle
from vnc.events import KeyEvent

Picture = NDArray[np.uint8]
Batch = list[dict[str, Any]]
Turn = Iterator[Batch]
FRAME = [88, 90, 93]
"""The colour of the frames of windows."""

TERMINAL = {
    "desktop.CopyFile-v0": (r"file (\S+) into the folder (\S+)\.", "cp {} {}"),
    "desktop.MoveFile-v0": (r"file (\S+) into the folder (\S+)\.", "mv {} {}"),
    "desktop.RenameFile-v0": (r"file (\S+) to (\S+)\.", "mv {} {}"),
    "desktop.DeleteFile-v0": (r"file (\S+), and no other", "rm {}"),
    "desktop.MakeFolders-v0": (r"folders (\S+), each", "mkdir -p {}"),
    "desktop.SortFiles-v0": ("", "mv *.txt texts; mv *.csv tables; mv *.log logs"),
    "desktop.FindSecret-v0": ("", "grep -rho '[a-z]*-[0-9]*$' . > answer.txt"),
}
"""Tasks that one command solves: where its words are in the text, and the command."""

BROWSER = [
    *("click-test", "click-test-2", "click-button", "focus-text", "click-tab"),
    *("click-color", "enter-text", "enter-password", "login-user", "grid-coordinate"),
]
DESKTOP = [*TERMINAL, "desktop.WriteNote-v0", "desktop.ClickColour-v0", "desktop.MoveWindow-v0"]
TASKS = [*DESKTOP, *(f"browser.{page}" for page in BROWSER)]
"""Ten tasks of each kind."""


def solve(env_id: str, text: str, look: Callable[[], Picture]) -> Turn:
    """Return the turns that solve a task; `look` returns the newest picture."""
    if env_id.startswith("browser."):
        return _page(env_id.removeprefix("browser."), text, look)
    return iter([_desktop(env_id, text, look())])


def _desktop(env_id: str, text: str, picture: Picture) -> Batch:
    if env_id in TERMINAL:
        pattern, command = TERMINAL[env_id]
        found = re.search(pattern, text)
        assert found, text
        return [{"action": "type", "text": command.format(*found.groups()) + "\n"}]
    if env_id == "desktop.WriteNote-v0":
        line = text.rpartition(": ")[2]
        save = [{"action": "press", "keys": keys} for keys in ("ctrl+x", "ctrl+s")]
        return [{"action": "click", "x": 400, "y": 300}, {"action": "type", "text": line}, *save]
    if env_id == "desktop.ClickColour-v0":
        found = re.search(r"Click the (\w+) square", text)
        assert found, text
        x, y = middle(picture, found[1])
        return [{"action": "click", "x": x, "y": y}]
    (x, y), (to_x, to_y) = _corner(picture, FRAME), _corner(picture, _rgb("yellow"))
    return [{"action": "drag", "path": [[x + 50, y + 10], [to_x + 50, to_y - 10]]}]


def _rgb(colour: str) -> list[int]:
    return [COLOURS[colour] >> shift & 0xFF for shift in (16, 8, 0)]


def _corner(picture: Picture, colour: list[int]) -> tuple[int, int]:
    rows, columns = np.nonzero((picture == colour).all(axis=2))
    return int(columns.min()), int(rows.min())


def _page(page: str, text: str, look: Callable[[], Picture]) -> Turn:
    """Follow the policy of the example for pages; the first turn moves the pointer out of the way."""
    yield [{"action": "move", "x": PARKED[0], "y": PARKED[1]}]
    policy = POLICIES[page](look()[:BOTTOM, :RIGHT], text)
    for events in policy:
        yield list(_actions(events))


def _actions(events: list[Any]) -> Iterator[dict[str, Any]]:
    for event in events:
        if isinstance(event, KeyEvent):
            if event.down:
                yield {"action": "type", "text": chr(event.keysym)}
        elif event.button_mask:
            yield {"action": "click", "x": event.x, "y": event.y}
