"""A native session, and how late its event loop is: `python -m benchmarks.clients.loop WAY MODE PORT FINGERPRINT`.

WAY is "plain", "core" (TLS by the driver's threads) or "openssl" (TLS on the event loop). MODE is "idle" or "busy",
what the agent's thread does meanwhile. It prints one line of JSON.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import threading
import time
from concurrent.futures import Future

import numpy as np

from benchmarks.clients.meter import PATIENT, Meter
from vnc.client import native
from vnc.encodings import COPY_RECT, FENCE, RAW
from vnc.session import VNCAddress
from vnc.tls import TLS

SECONDS = 3.0
_INTERVAL = 0.001
"""Seconds between two looks at how late the loop is."""


async def watch(port: int, tls: TLS | None) -> dict[str, float]:
    first = asyncio.Event()
    frame = np.zeros((0, 0, 3), np.uint8)

    def changed() -> None:
        if frame.size:
            session.take(frame)
        first.set()

    session = await native.connect(
        VNCAddress("127.0.0.1", port, tls=tls),
        on_change=changed,
        timeouts=PATIENT,
        encodings=(COPY_RECT, RAW, FENCE),
    )
    if not session.frames:
        await asyncio.wait_for(first.wait(), 60)
    frame = np.zeros(session.shape, np.uint8)
    session.take(frame)
    await asyncio.sleep(SECONDS / 4)
    meter, late = Meter(), []
    meter.begin(session.stats.updates)
    began = time.monotonic()
    while time.monotonic() < began + SECONDS:
        due = time.monotonic() + _INTERVAL
        await asyncio.sleep(_INTERVAL)
        late.append(time.monotonic() - due)
    usage = meter.usage(session.stats.updates, time.monotonic())
    await session.close()
    return {
        "rate": usage.updates / usage.seconds,
        "cpu": usage.cpu / max(usage.updates, 1),
        "late": statistics.quantiles(late, n=100)[98],
        "worst": max(late),
    }


def compute(until: Future[dict[str, float]]) -> None:
    """Compute in plain Python, as an agent does, which leaves the GIL to others every 5 ms."""
    number = 1
    while not until.done():
        for _ in range(1000):
            number = (number * 1103515245 + 12345) % 2147483648


def main() -> None:
    way, mode, port, fingerprint = sys.argv[1:]
    if way == "openssl":
        native._trust = lambda host, tls: None
    tls = None if way == "plain" else TLS(fingerprint=bytes.fromhex(fingerprint))
    found: Future[dict[str, float]] = Future()
    thread = threading.Thread(target=lambda: found.set_result(asyncio.run(watch(int(port), tls))))
    thread.start()
    if mode == "busy":
        compute(found)
    thread.join()
    print(json.dumps(found.result()))


if __name__ == "__main__":
    main()
