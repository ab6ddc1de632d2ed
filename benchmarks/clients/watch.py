"""A native session that takes each frame: `python -m benchmarks.clients.watch PORT SECONDS SERVER_PID ENCODING ...`.

It prints one line of JSON: the updates and bytes of SECONDS, and the CPU seconds of the server and of this process.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

import numpy as np

from benchmarks.harness import cpu_seconds
from vnc.client.native import connect
from vnc.session import VNCAddress


async def main(port: int, seconds: float, server: int, encodings: tuple[int, ...]) -> None:
    first = asyncio.Event()
    frame = np.zeros((0, 0, 3), np.uint8)

    def changed() -> None:
        if frame.size:
            session.take(frame)
        first.set()

    session = await connect(VNCAddress("127.0.0.1", port), on_change=changed, encodings=encodings)
    if not session.frames:  # a frame that arrived within `connect` is not announced
        await asyncio.wait_for(first.wait(), 60)
    frame = np.zeros(session.shape, np.uint8)
    session.take(frame)  # the driver announces the next frame after this one is taken
    await asyncio.sleep(seconds / 4)
    before, busy = session.stats, (cpu_seconds(server), time.process_time())
    began = time.monotonic()
    await asyncio.sleep(seconds)
    after, passed = session.stats, time.monotonic() - began
    result = {
        "seconds": passed,
        "updates": after.updates - before.updates,
        "bytes": after.bytes - before.bytes,
        "server": cpu_seconds(server) - busy[0],
        "client": time.process_time() - busy[1],
    }
    await session.close()
    print(json.dumps(result))


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), tuple(map(int, sys.argv[4:]))))
