"""The package's own server with a program that draws.

`python -m benchmarks.servers.drawing WIDTH HEIGHT AREA [RATE [CERTIFICATE KEY]]`: AREA is "whole" or "sprite", what
changes in each frame. It draws at most RATE frames per second, and none that nobody waits for; with a certificate and
its key it uses TLS. It prints its port.
"""

from __future__ import annotations

import asyncio
import sys
from itertools import cycle
from pathlib import Path

import numpy as np

from vnc.server.server import VNCServer
from vnc.session import Frame
from vnc.tls import Identity

RATE = 500
_SPRITE = 32


def _frames(width: int, height: int, area: str) -> list[Frame]:
    frame = np.random.default_rng(0).integers(0, 256, (height, width, 3), np.uint8)
    side = _SPRITE if area == "sprite" else max(width, height)
    frames = [frame.copy() for _ in range(8)]
    for at, drawn in enumerate(frames):
        drawn[at * 4 : at * 4 + side, at * 8 : at * 8 + side] ^= at + 1
    return frames


async def _main(width: str, height: str, area: str, rate: str = str(RATE), *files: str) -> None:
    frames = _frames(int(width), int(height), area)
    server = VNCServer(int(width), int(height))
    await server.start(tls=Identity(*map(Path, files)).context() if files else None)
    print(server.port, flush=True)
    drawn = cycle(frames)

    def tick() -> None:
        if server.wanted:
            server.present(next(drawn))
        loop.call_later(1 / float(rate), tick)

    loop = asyncio.get_running_loop()
    tick()
    await asyncio.to_thread(sys.stdin.read)  # until the parent closes it
    await server.close()


if __name__ == "__main__":
    asyncio.run(_main(*sys.argv[1:]))
