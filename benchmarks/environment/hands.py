"""From a click to the picture of the settled screen, on a desktop remote of 1024x768 (`desktop.WriteNote-v0`).

`Computer` waits until nothing has changed for 100 ms, the quiet span. The stack that sleeps keeps its connection, and
waits 2 s before each picture, as computer-use demos do. The one that reconnects is vncdotool: one connection for the
click and one for the picture, and no wait, so that its picture may show an unfinished screen. Each picture is a JPEG.
The CPU time is that of this process.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from rich.console import Console

import universe_client
from benchmarks.report import Report, Table
from rewarder.serving import Ready, Request, Serving
from universe_client.hands import Computer, Picture, Region
from universe_client.hands.acts import QUIET

CLICKS = 60
SLEEPING_CLICKS = 5
PLACES = ((400, 300), (450, 420))
PICTURES = 50
SLEEP = 2.0

Figures = list[tuple[float, float]]
"""Seconds and CPU seconds of each click."""


def measure(console: Console, rounds: int) -> Report:
    found: dict[str, Figures] = {"Computer": [], "a stack that sleeps 2 s": [], "vncdotool, reconnecting": []}
    pictures: list[float] = []
    with console.status("measuring"), _remote() as ready:
        for _ in range(rounds):
            with Computer.open(None, f"vnc://127.0.0.1:{ready.vnc_port}+{ready.rewarder_port}") as computer:
                found["Computer"] += _with_computer(computer)
                pictures += _pictures(computer)
            found["a stack that sleeps 2 s"] += _sleeping(ready)
            found["vncdotool, reconnecting"] += _reconnecting(ready)
    clicks = Table(
        "click to picture",
        ["client", "clicks", "p50, ms", "p99, ms", "p50 over the quiet span, ms", "CPU ms a click"],
    )
    for name, figures in found.items():
        clicks.rows.append([name, *_row(figures, QUIET if name == "Computer" else None)])
    one = Table("a picture of 1024x768", ["format", "CPU ms, median"])
    one.rows.append(["JPEG, quality 80", f"{1000 * statistics.median(pictures):.2f}"])
    return Report([clicks, one])


def _row(figures: Figures, quiet: float | None) -> list[str]:
    seconds = sorted(each for each, _ in figures)
    median, slow = statistics.median(seconds), seconds[int(0.99 * len(seconds))]
    return [
        f"{len(figures)}",
        f"{1000 * median:.0f}",
        f"{1000 * slow:.0f}",
        "" if quiet is None else f"{1000 * (median - quiet):.1f}",
        f"{1000 * statistics.mean(cpu for _, cpu in figures):.1f}",
    ]


def _with_computer(computer: Computer) -> Figures:
    def click(x: int, y: int) -> None:
        picture = computer.click(x, y).picture
        assert picture is not None and picture.data

    computer.reset()
    return _measured(CLICKS, click)


def _pictures(computer: Computer) -> list[float]:
    """Return the CPU seconds of taking and encoding a picture."""

    def one() -> float:
        began = time.thread_time()
        assert computer.screenshot().data
        return time.thread_time() - began

    return [one() for _ in range(PICTURES)]


def _sleeping(ready: Ready) -> Figures:
    def click(x: int, y: int) -> None:
        env.step([universe_client.click(x, y)])
        time.sleep(SLEEP)
        (observation,), *_ = env.step([[]])
        if observation is not None:
            assert Picture(observation["vision"], "jpeg", Region(0, 0, 1024, 768), 1.0, 80).data

    with universe_client.make(None, f"vnc://127.0.0.1:{ready.vnc_port}+{ready.rewarder_port}") as env:
        env.reset()
        while env.step([[]])[0] == [None]:
            env.wait(1.0)
        return _measured(SLEEPING_CLICKS, click)


def _reconnecting(ready: Ready) -> Figures:
    from vncdotool import api

    with tempfile.TemporaryDirectory() as directory:

        def click(x: int, y: int) -> None:
            client = api.connect(f"127.0.0.1::{ready.vnc_port}")
            client.mouseMove(x, y)
            client.mousePress(1)
            client.disconnect()
            client = api.connect(f"127.0.0.1::{ready.vnc_port}")
            client.captureScreen(str(Path(directory, "picture.jpg")))
            client.disconnect()

        return _measured(CLICKS, click)


def _measured(count: int, click: Callable[[int, int], None]) -> Figures:
    figures = []
    for number in range(count):
        began, cpu = time.perf_counter(), time.process_time()
        click(*PLACES[number % len(PLACES)])
        figures.append((time.perf_counter() - began, time.process_time() - cpu))
    return figures


@contextmanager
def _remote() -> Iterator[Ready]:
    """Serve the desktop without a password."""
    request = Request(env_id="desktop.WriteNote-v0", serving=Serving())
    command = [sys.executable, "-m", "rewarder"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin and process.stdout
        process.stdin.write(msgspec.json.encode(request) + b"\n")
        process.stdin.flush()
        yield msgspec.json.decode(process.stdout.readline(), type=Ready)
        process.stdin.close()
