"""Actions with times: 60 per second while every decision takes 100 ms, and how late each is played.

An agent plans 6 key events, of which the first is due when it has thought for 100 ms, and thinks again. It thinks in
one of three ways: it sleeps, it computes in Python, or it is in native code that never lets go of the GIL. The remote
is an Xvnc. "Late" is the time from the planned moment to the one at which the operating system had the bytes. The floor
is a process that does nothing but sleep until such moments: it shows the scheduler of the machine alone.
"""

from __future__ import annotations

import ctypes
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Literal

from rich.console import Console

import universe_client
from benchmarks.report import Report, Table
from benchmarks.servers.xvnc import xvnc
from universe_client.vector_env import VectorEnv
from wrappers import BlockingReset

RATE = 60
THINKING = 0.1
SECONDS = 10
DRIVERS: tuple[Literal["native", "portable"], ...] = ("native", "portable")
_FLOOR = """
import json, time
late, due = [], time.monotonic()
for _ in range({count}):
    due += 1 / {rate}
    time.sleep(max(due - time.monotonic(), 0))
    late.append(time.monotonic() - due)
print(json.dumps(late))
"""


def _compute(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def _keep_the_gil(seconds: float) -> None:
    ctypes.PyDLL(None).usleep(round(seconds * 1e6))  # PyDLL, unlike CDLL, keeps it during the call


WAYS: dict[str, Callable[[float], None]] = {
    "sleeps": time.sleep,
    "computes in Python": _compute,
    "keeps the GIL": _keep_the_gil,
}


def measure(console: Console, rounds: int) -> Report:
    table = Table(
        f"{RATE} actions per second, thinking takes {1000 * THINKING:.0f} ms",
        ["driver", "the agent", "actions/s", "late, median ms", "p99 ms", "worst ms"],
    )
    with console.status("measuring"):
        late = [each for _ in range(rounds) for each in _floor()]
        table.rows.append(["floor", "-", f"{RATE}", *_quantiles(late)])
        for driver in DRIVERS:
            for way, think in WAYS.items():
                counts, late = [], []
                for _ in range(rounds):
                    found = _round(driver, think)
                    counts.append(len(found) / SECONDS)
                    late += found
                table.rows.append([driver, way, f"{statistics.median(counts):.1f}", *_quantiles(late)])
    return Report([table])


def _round(driver: Literal["native", "portable"], think: Callable[[float], None]) -> list[float]:
    with xvnc() as screen:
        remotes = f"vnc://127.0.0.1:{screen.port}"  # without a rewarder: an endless episode
        with BlockingReset(universe_client.make(None, remotes, driver=driver)) as env:
            env.reset()
            return _play(env.unwrapped, think)


def _floor() -> list[float]:
    program = _FLOOR.format(count=RATE * SECONDS, rate=RATE)
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    late: list[float] = json.loads(output.stdout)
    return late


def _play(env: VectorEnv, think: Callable[[float], None]) -> list[float]:
    """Return how late each action was played, in seconds."""
    late: list[float] = []
    start = due = time.monotonic() + THINKING
    down = False
    while due < start + SECONDS:
        chunk = []
        for _ in range(round(THINKING * RATE)):
            down = not down
            chunk.append((due, [("KeyEvent", "x", down)]))
            due += 1 / RATE
        env.play([chunk])
        think(THINKING - max(0.0, time.monotonic() - (chunk[0][0] - THINKING)))
        late += _late(env)
    time.sleep(2 * THINKING)
    return late + _late(env)


def _late(env: VectorEnv) -> list[float]:
    played = env.recv()[3]["n"][0]["timed.played"] or []
    return [sent - at for at, sent, _ in played]


def _quantiles(late: list[float]) -> list[str]:
    p99 = statistics.quantiles(late, n=100)[98]
    return [f"{1000 * each:.2f}" for each in (statistics.median(late), p99, max(late))]
