"""A replay server in its own process, so that its CPU time does not count as the client's."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.harness import serving
from vnc.capture.capture import read_capture
from vnc.capture.replay import ReplayServer


@contextmanager
def replaying(path: Path, speed: float | None = None, repeat: bool = False) -> Iterator[int]:
    """Serve a capture at `speed`, or as fast as it is requested; yield the port."""
    options = str(speed), str(int(repeat))
    with serving(sys.executable, "-m", "benchmarks.servers.replaying", str(path), *options) as port:
        yield int(port)


async def _main(path: str, speed: str, repeat: str) -> None:
    pace = None if speed == "None" else float(speed)
    server = ReplayServer(read_capture(Path(path)), speed=pace, repeat=repeat == "1")
    await server.start()
    print(server.port, flush=True)
    await asyncio.to_thread(sys.stdin.read)  # until the parent closes it
    await server.close()


if __name__ == "__main__":
    asyncio.run(_main(*sys.argv[1:]))
