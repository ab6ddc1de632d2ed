"""Time and memory to make an environment of 64 remotes of 1024x768.

The remotes are VNC servers and rewarders in another process. Each environment is made in its own process. Without
`screen_size=` making it connects to all remotes; with it, making it waits for none. Memory is resident memory. The last
columns exclude the frames, which are in memory twice: in the array of observations and as the framebuffer of each
connection, 151 MB each. Pages of them that were not written yet are not resident when the environment is made. Memory
for receiving a whole screen is released when nothing arrives for a moment.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time

import gymnasium
import numpy as np
from rich.console import Console

import universe_client  # noqa: F401  (registers the ids)
from benchmarks.harness import resident, serving
from benchmarks.report import Report, Table
from benchmarks.servers.still import still_rewarder
from vnc.server.server import VNCServer

REMOTES, WIDTH, HEIGHT = 64, 1024, 768
_FRAMES = REMOTES * WIDTH * HEIGHT * 3
_CASES = {"sizes asked for": "ask", "sizes known: screen_size=(1024, 768)": "know"}


def measure(console: Console, rounds: int) -> Report:
    columns = [
        "64 remotes",
        "made in s",
        "MB, then",
        "all first frames after s",
        "MB beyond frames, then",
        "and a second later",
    ]
    table = Table("Making an environment, the worst of all rounds", columns)
    with console.status("measuring"):
        for title, how in _CASES.items():
            found = [_made(how) for _ in range(rounds)]
            worst = [max(figures[key] for figures in found) for key in found[0]]
            table.rows.append(
                [title, *(f"{figure:.2f}" if figure < 10 else f"{figure:.0f}" for figure in worst)]
            )
    return Report([table])


def _made(how: str) -> dict[str, float]:
    """Make the environment in a new process, over new remotes; return what that process found."""
    command = [sys.executable, "-m", "benchmarks.environment.making"]
    with serving(*command, "serve") as address:
        done = subprocess.run([*command, how, address], stdout=subprocess.PIPE, check=True, timeout=120)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def _make(how: str, address: str) -> None:
    screen = (WIDTH, HEIGHT) if how == "know" else None
    before = resident()
    began = time.perf_counter()
    env = gymnasium.make_vec("universe/Remote-v0", remotes=address, screen_size=screen)
    made, memory = time.perf_counter() - began, resident() - before
    env.reset()
    figures = {
        "made": made,
        "memory": memory / 1e6,
        "first": time.perf_counter() - began,
        "then": (resident() - before - 2 * _FRAMES) / 1e6,
    }
    time.sleep(1)
    figures["later"] = (resident() - before - 2 * _FRAMES) / 1e6
    env.close()
    print(json.dumps(figures))


async def _serve() -> None:
    frame = np.random.default_rng(0).integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8)
    frame[:, WIDTH // 8 :] = 40  # an eighth of it does not compress
    screens = [VNCServer(WIDTH, HEIGHT) for _ in range(REMOTES)]
    for screen in screens:
        await screen.start()
        screen.present(frame)
    rewarders = [await still_rewarder() for _ in range(REMOTES)]
    addresses = [
        f"127.0.0.1:{screen.port}+{rewarder.port}"
        for screen, rewarder in zip(screens, rewarders, strict=True)
    ]
    print("vnc://" + ",".join(addresses), flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        asyncio.run(_serve())
    else:
        _make(*sys.argv[1:])
