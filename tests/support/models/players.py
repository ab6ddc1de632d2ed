"""Scripted models that do tasks from what a model gets: the picture and the words."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageColor

from examples.miniwob_agent import (
    BOTTOM,
    RIGHT,
    blobs,
    buttons,
    dark,
    dots,
    fields,
    likeness,
    of_colour,
    quoted,
    written,
)
from rewarder.runtimes.desktop.tasks.task import COLOURS
from rewarder.runtimes.desktop.tasks.windows import MoveWindow
from tests.support.remotes.tasks import middle
from universe_client.hands import Action, Click, Drag, Press, Type, Wait
from universe_client.hands.fakes import Model, Seen, Turn

Screen = NDArray[np.uint8]
Player = Callable[[Screen, str], Sequence[Action]]


def decode(picture: bytes) -> Screen:
    return np.asarray(Image.open(io.BytesIO(picture)).convert("RGB"))


PATIENCE = 10  # seconds that a loaded machine may take to do what was typed


def model(player: Player) -> Model:
    """A model that does everything in its first turn, and then waits for the end."""

    def answer(seen: Seen) -> Turn:
        assert seen.picture is not None
        if seen.turn == 0:
            return Turn(player(decode(seen.picture), seen.task), "I see what is to be done.")
        return Turn([Wait(1)]) if seen.turn < PATIENCE else Turn(text="It does not work.")

    return answer


# -- the desktop ------------------------------------------------------------------------------------------------------


def _typed(pattern: str, command: str) -> Player:
    def player(screen: Screen, task: str) -> Sequence[Action]:
        words = re.search(pattern, task)
        assert words, task
        return [Type(command.format(*words.groups()) + "\n")]

    return player


def _write_note(screen: Screen, task: str) -> Sequence[Action]:
    return [
        Click(screen.shape[1] // 2, screen.shape[0] // 2),
        Type(task.rpartition(": ")[2]),
        Press("ctrl+x"),
        Press("ctrl+s"),
    ]


def _click_colour(screen: Screen, task: str) -> Sequence[Action]:
    colour = re.search(r"Click the (\w+) square", task)
    assert colour, task
    return [Click(*middle(screen, colour[1]))]


def _corner(screen: Screen, colour: Sequence[int]) -> tuple[int, int]:
    rows, columns = np.nonzero((screen == colour).all(axis=2))
    return int(columns.min()), int(rows.min())


def _move_window(screen: Screen, task: str) -> Sequence[Action]:
    """By its title onto the yellow rectangle; out of its way first, if it covers a part."""
    yellow = [COLOURS["yellow"] >> shift & 0xFF for shift in (16, 8, 0)]
    (x, y), (to_x, to_y) = _corner(screen, (88, 90, 93)), _corner(screen, yellow)
    rows, columns = np.nonzero((screen == yellow).all(axis=2))
    width, height = MoveWindow.size
    if int(np.ptp(columns)) + 1 < width or int(np.ptp(rows)) + 1 < height:
        to_x, to_y = 0 if to_x > screen.shape[1] // 2 else screen.shape[1] - width - 20, 40
    return [Drag([(x + 50, y + 10), (to_x + 50, to_y - 10)])]


DESKTOP: dict[str, Player] = {
    "desktop.CopyFile-v0": _typed(r"file (\S+) into the folder (\S+)\.", "cp {} {}"),
    "desktop.MoveFile-v0": _typed(r"file (\S+) into the folder (\S+)\.", "mv {} {}"),
    "desktop.RenameFile-v0": _typed(r"file (\S+) to (\S+)\.", "mv {} {}"),
    "desktop.DeleteFile-v0": _typed(r"file (\S+), and no other", "rm {}"),
    "desktop.MakeFolders-v0": _typed(r"folders (\S+), each", "mkdir -p {}"),
    "desktop.SortFiles-v0": _typed("", "mv *.txt texts; mv *.csv tables; mv *.log logs"),
    "desktop.FindSecret-v0": _typed("", "grep -rho '[a-z]*-[0-9]*$' . > answer.txt"),
    "desktop.WriteNote-v0": _write_note,
    "desktop.ClickColour-v0": _click_colour,
    "desktop.MoveWindow-v0": _move_window,
}


# -- MiniWoB++ --------------------------------------------------------------------------------------------------------


def _the_button(screen: Screen, task: str) -> Sequence[Action]:
    return [Click(*buttons(screen)[0].middle)]


def _the_button_named(screen: Screen, task: str) -> Sequence[Action]:
    name = quoted(task)[0] if quoted(task) else task.split()[-1].rstrip(".")
    unlike = {"ONE": "TWO", "TWO": "ONE"}.get(name, "")
    inks = [(written(screen, box), box) for box in buttons(screen)]
    return [Click(*max((likeness(ink, name) - likeness(ink, unlike), box.inside) for ink, box in inks)[1])]


def _the_field(screen: Screen, task: str) -> Sequence[Action]:
    nth = re.search(r"(\d)(st|nd|rd)", task)
    return [Click(*fields(screen)[int(nth[1]) - 1 if nth else 0].middle)]


def _the_tab(screen: Screen, task: str) -> Sequence[Action]:
    faces = of_colour(screen, (246, 246, 246)) | of_colour(screen, (0, 127, 255))
    tabs = sorted(
        (box for box in blobs(faces) if 30 < box.width < 60 and box.height > 15), key=lambda box: box.x
    )
    return [Click(*tabs[int(task.rstrip(".")[-1]) - 1].middle)]


def _the_colour(screen: Screen, task: str) -> Sequence[Action]:
    colour = ImageColor.getrgb(task.split()[3])
    boxes = [box for box in blobs(dark(screen)) if box.width > 30]
    return [
        Click(*next(box.middle for box in boxes if of_colour(screen, colour)[box.middle[1], box.middle[0]]))
    ]


def _the_words(screen: Screen, task: str) -> Sequence[Action]:
    words = quoted(task)
    typed = [
        action
        for index, box in enumerate(fields(screen))
        for action in (Click(*box.middle), Type(words[min(index, len(words) - 1)]))
    ]
    return [*typed, _submit(screen)]


def _the_coordinate(screen: Screen, task: str) -> Sequence[Action]:
    across, up = (int(number) for number in re.findall(r"-?\d", task))
    xs, ys = zip(*dots(of_colour(screen, (0, 0, 255), 60), screen), strict=True)
    step = (max(xs) - min(xs)) / 4
    return [Click(round(min(xs) + (across + 2) * step), round(max(ys) - (up + 2) * step))]


def _submit(screen: Screen) -> Action:
    return Click(*max(buttons(screen), key=lambda box: box.y).middle)


def _on_page(player: Player) -> Player:
    """Show a player only the page, which is in the upper left corner of the screen."""
    return lambda screen, task: player(screen[:BOTTOM, :RIGHT], task)


MINIWOB: dict[str, Player] = {
    f"browser.{task}": _on_page(player)
    for task, player in {
        "click-test": _the_button,
        "click-test-2": _the_button_named,
        "click-button": _the_button_named,
        "focus-text": _the_field,
        "focus-text-2": _the_field,
        "click-tab": _the_tab,
        "click-color": _the_colour,
        "grid-coordinate": _the_coordinate,
        "enter-text": _the_words,
        "login-user": _the_words,
    }.items()
}
