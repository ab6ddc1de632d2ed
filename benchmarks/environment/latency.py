"""Duration of `reset()` and `step()`, with remotes that answer and with unreachable ones, at 60 steps per second."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from rich.console import Console

import universe_client
from benchmarks.report import Report, Table
from universe_client.vector_env import VectorEnv
from wrappers import BlockingReset

SECONDS = 5.0
RESETS = 20
UNREACHABLE = "vnc://" + ",".join(f"127.0.0.1:{port}+{port + 100}" for port in range(1, 17))


def measure(console: Console, rounds: int) -> Report:
    table = Table(
        "60 steps per second", ["remotes", "reset, worst ms", "step, median µs", "step, p99 µs", "steps"]
    )
    with console.status("measuring"):
        with universe_client.make(None, UNREACHABLE) as env:
            table.rows.append(["16 unreachable", *_figures(env, lambda: None)])
        for n in (1, 4):
            with universe_client.make("builtin.NeonDrive-v0", n) as env:
                table.rows.append([f"{n} running", *_figures(env, BlockingReset(env).reset)])
    return Report([table])


def _figures(env: VectorEnv, ready: Callable[[], object]) -> list[str]:
    resets = [_timed(env.reset) for _ in range(RESETS)]
    ready()
    steps = _steps(env)
    quantiles = statistics.quantiles(steps, n=100)
    return [
        f"{1000 * max(resets):.2f}",
        f"{1e6 * statistics.median(steps):.0f}",
        f"{1e6 * quantiles[98]:.0f}",
        f"{len(steps)}",
    ]


def _steps(env: VectorEnv) -> list[float]:
    """Step 60 times per second, as an agent would; return the duration of each step."""
    action_n = [[("KeyEvent", "Left", True), ("KeyEvent", "Left", False)]] * env.n
    times: list[float] = []
    began = due = time.perf_counter()
    while due < began + SECONDS:
        times.append(_timed(lambda: env.step(action_n)))
        due += 1 / 60
        time.sleep(max(0.0, due - time.perf_counter()))
    return times


def _timed(function: Callable[[], object]) -> float:
    began = time.perf_counter()
    function()
    return time.perf_counter() - began
