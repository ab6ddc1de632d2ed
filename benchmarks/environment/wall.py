"""The page with all remotes: pictures a second of 16 tiles in a headless Chromium, and what it costs the agent's steps.

The remotes are NeonDrives in processes of their own, the agent makes 30 steps a second. Runs with and without the page
alternate in one environment; the CPU time is that of the agent's process, without Chromium's.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

import universe_client
from benchmarks.report import Report, Table
from tests.support.system.headless import Page, page
from universe_client.pacer import Pacer
from wrappers import Watch

REMOTES, STEP_RATE = 16, 30
_SECONDS = 10.0
_NO_ACTIONS: list[list[object]] = [[]] * REMOTES


def measure(console: Console, rounds: int) -> Report:
    columns = ["page", "pictures/s a tile", "step p50, µs", "p99", "CPU of the agent, %"]
    table = Table(f"{REMOTES} NeonDrives, medians of the runs", columns)
    found: dict[str, list[tuple[float, ...]]] = {"closed": [], "open": []}
    with (
        console.status("measuring"),
        Watch(universe_client.make("builtin.NeonDrive-v0", f"process:{REMOTES}")) as env,
    ):
        env.reset(seed=1)
        pacer = Pacer(STEP_RATE)
        while any(observation is None for observation in _step(env, pacer)[0]):
            pass
        for _ in range(rounds):
            found["closed"].append(_run(env, pacer))
            with _viewer(env, pacer) as browser:
                found["open"].append(_run(env, pacer, browser))
    for name, runs in found.items():
        cells = [statistics.median(column) for column in zip(*runs, strict=True)]
        table.rows.append([name, *(f"{cell:.1f}" for cell in cells)])
    return Report([table])


@contextmanager
def _viewer(env: Watch, pacer: Pacer) -> Iterator[Page]:
    """Open the page in a browser, and step until it shows all tiles."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, page(Path(profile)) as browser:
        browser.open(env.url)
        while not browser.evaluate(f"tiles.length === {REMOTES} && pictures > {2 * REMOTES}"):
            _step(env, pacer)
        yield browser


def _run(env: Watch, pacer: Pacer, browser: Page | None = None) -> tuple[float, ...]:
    """Return pictures a second and tile, the median and the 99th percentile of a step, and the CPU time."""
    drawn, began, cpu = _drawn(browser), time.perf_counter(), time.process_time()
    times = []
    while time.perf_counter() - began < _SECONDS:
        times.append(_step(env, pacer)[1])
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    shown = (_drawn(browser) - drawn) / seconds / REMOTES
    p50, p99 = np.percentile(times, (50, 99)) * 1e6
    return shown, float(p50), float(p99), 100 * cpu / seconds


def _step(env: Watch, pacer: Pacer) -> tuple[list[Any], float]:
    """Return the observations of the next step, and its duration in seconds without the wait for the rate."""
    pacer.wait()
    began = time.perf_counter()
    observation_n, *_ = env.step(_NO_ACTIONS)
    return observation_n, time.perf_counter() - began


def _drawn(browser: Page | None) -> float:
    return 0.0 if browser is None else float(str(browser.evaluate("pictures")))
