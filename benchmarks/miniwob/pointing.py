"""Dragging and drawing."""

from __future__ import annotations

import math
import re

from benchmarks.miniwob.page import Page, Point
from benchmarks.miniwob.solvers import solves

SHAPES = {"rectangles": "rect", "circles": "circle", "triangles": "polygon"}


@solves("drag-box")
def _drag_box(page: Page, attempt: int) -> None:
    page.drag(page.where("#draggableSmall"), page.where("#draggableLarge"))
    page.submit()


@solves("drag-circle", "drag-single-shape")
def _drag_shape(page: Page, attempt: int) -> None:
    direction = re.findall(r"(left|right|up|down)", page.text)[0]
    x, y = page.where("svg > *")
    dx, dy = {"left": (-20, 0), "right": (20, 0), "up": (0, -20), "down": (0, 20)}[direction]
    page.drag((x, y), (x + dx, y + dy))
    page.submit()


@solves("drag-items", "drag-items-grid")
def _drag_items(page: Page, attempt: int) -> None:
    name, _, goal = page.text.removeprefix("Drag ").partition(" ")
    items = page.words("#sortable li")
    at, across = items.index(name), 3 if len(items) == 9 else 1
    spots = ["top left", "top center", "top right", "center left", "center", "center right", "bottom left",
             "bottom center", "bottom right"]  # fmt: skip
    steps = {"up by": -across, "down by": across, "left by": -1, "right by": 1}
    if step := next((steps[word] for word in steps if word in goal), 0):
        target = at + step
    elif nth := re.search(r"(\d)\w\w position", goal):
        target = int(nth[1]) - 1
    elif across == 3:
        target = spots.index(goal.removeprefix("to the ").rstrip("."))
    else:
        target = 0 if "top" in goal else len(items) - 1
    _sort_to(page, at, target, sideways=across == 3)


def _sort_to(page: Page, at: int, target: int, sideways: bool = False) -> None:
    start, end = page.where(f"=all('#sortable li')[{at}]"), page.where(f"=all('#sortable li')[{target}]")
    sign = 1 if target > at else -1
    over = (end[0] + sign * 8, end[1]) if sideways else (end[0], end[1] + sign * 6)
    page.drag(start, end, over, over)


@solves("drag-sort-numbers")
def _sort(page: Page, attempt: int) -> None:
    for place in range(3):
        numbers = [int(word) for word in page.words("#sortable li div")]
        smallest = min(range(place, 4), key=numbers.__getitem__)
        if smallest != place:
            _sort_to(page, smallest, place)
    page.submit()


@solves("drag-shapes", "drag-shapes-2")
def _drag_shapes(page: Page, attempt: int) -> None:
    boxes = page.js(
        "all('#shape-container').map(b => b.getBoundingClientRect()).map(b => [b.left, b.top, b.width, b.height])"
    )
    found = re.match(r"Drag all (\w+)( shapes)? into", page.text)
    assert found
    by_colour, by_shape = (
        f"shape.getAttribute('fill') === '{found[1]}'",
        f"shape.tagName === '{SHAPES.get(found[1])}'",
    )
    wanted = by_colour if found[2] else by_shape
    page.js("window.shapes_ = all('#area_svg > *').filter(shape => shape.id !== 'shape-container'), 0")
    for index, hit in enumerate(page.js(f"shapes_.map(shape => {wanted})")):
        if not hit and len(boxes) == 1:
            continue
        x, y, width, height = boxes[0 if hit else 1]
        page.drag(page.where(f"=shapes_[{index}]"), (x + width / 2 - 20 + 10 * (index % 5), y + height / 2))
    page.submit()


@solves("drag-cube")
def _cube(page: Page, attempt: int) -> None:
    turns = [
        (0, 0),
        (80, 0),
        (-80, 0),
        (160, 0),
        (0, 80),
        (0, -80),
        (0, 160),
        (40, 0),
        (-40, 0),
        (0, 40),
        (0, -40),
    ]
    x, y = page.where(".viewport")
    dx, dy = turns[attempt % len(turns)]
    page.drag((x, y), (x + dx / 2, y + dy / 2), (x + dx, y + dy))
    page.js("new Promise(done => setTimeout(done, 300))")
    page.submit()


@solves("resize-textarea")
def _resize(page: Page, attempt: int) -> None:
    handle, way = ("e", (15, 0)) if "width" in page.text else ("s", (0, 15))
    x, y = page.where(f".ui-resizable-{handle}")
    sign = 1 if "larger" in page.text else -1
    page.drag((x, y), (x + sign * way[0], y + sign * way[1]))
    page.click("#submit")


@solves("highlight-text", "highlight-text-2")
def _highlight(page: Page, attempt: int) -> None:
    nth = re.search(r"(\d)\w\w paragraph", page.text)
    box = "one('#randomText')" if nth is None else f"all('#randomText p')[{int(nth[1]) - 1}]"
    page.js(f"getSelection().selectAllChildren({box})")
    page.submit()


@solves("scroll-text-2")
def _scroll(page: Page, attempt: int) -> None:
    page.js(f"one('#text-area').scrollTop = {'0' if ' top ' in page.text else '1e6'}")
    page.submit()


@solves("circle-center", "find-midpoint", "bisect-angle", "right-angle")
def _geometry(page: Page, attempt: int) -> None:
    black = _circles(page, "circle.black-circle:not(#init-blue), circle.init-black")
    blue = _circles(page, "circle.init-blue, #init-blue")
    if page.env_id.endswith("center"):
        point = black[0]
    elif page.env_id.endswith("midpoint"):
        point = ((black[0][0] + black[1][0]) / 2, (black[0][1] + black[1][1]) / 2)
    else:
        point = _ray(blue[0], black)
    page.click_at(point[0], point[1] + 50)
    page.submit()


def _circles(page: Page, selector: str) -> list[Point]:
    return [
        (x, y)
        for x, y in page.js(f"all('{selector}').map(c => [+c.getAttribute('cx'), +c.getAttribute('cy')])")
    ]


def _ray(vertex: Point, others: list[Point]) -> Point:
    """A point on the bisector of two lines from `vertex`, or on the perpendicular of one."""
    angles = [math.atan2(y - vertex[1], x - vertex[0]) for x, y in others]
    if len(angles) == 2:
        a, b = angles
        angle = a + math.remainder(b - a, 2 * math.pi) / 2
        candidates = [angle]
    else:
        candidates = [angles[0] + math.pi / 2, angles[0] - math.pi / 2]
    points = [
        (vertex[0] + r * math.cos(a), vertex[1] + r * math.sin(a))
        for a in candidates
        for r in (40, 25, 15, 8)
    ]
    return next((p for p in points if 4 < p[0] < 146 and 4 < p[1] < 126), points[0])


@solves("draw-circle")
def _draw_circle(page: Page, attempt: int) -> None:
    x, y = page.where("#circ")
    turns = [i * math.pi / 12 for i in range(25)]
    page.drag(*((x + 22 * math.cos(turn), y + 22 * math.sin(turn)) for turn in turns))
    page.click("#controls button")


@solves("draw-line")
def _draw_line(page: Page, attempt: int) -> None:
    x, y = page.where("#circ")
    way = (25, 0) if "horizontal" in page.text else (0, 25)
    page.drag((x - way[0], y - way[1]), (x, y), (x + way[0], y + way[1]))
    page.click("#controls button")
