"""Recording 8 NeonDrives in real time: what it costs, whether a frame is missing, and how exact its times are.

First table: an agent steps 60 times per second, with and without a recording, in turns. "Processes" is the CPU time of
the agent's process and of the 8 remotes, in percent of one core. "Encoder" is what libx264 and the file alone take for
the recorded pictures: the same pictures, encoded once more by a loop that does nothing else. "Ratio" is that of the
processes per frame, without the encoder's part. "Missing" are frames that the sessions have counted and the recording
does not have.

Second table: one remote that plays by itself, through a proxy that records the bytes of the VNC session. "Error" is the
time from the moment at which the proxy had a whole update to the time of its frame in the recording.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

import universe_client
from benchmarks.harness import cpu_seconds, process_tree
from benchmarks.report import Report, Table
from universe_client.config import Config
from universe_client.pacer import Pacer
from universe_client.providers.address import AddressProvider
from universe_client.providers.provider import RemoteAddress
from universe_client.recording.events import EventReader
from universe_client.recording.recorder import EVENTS_FILE
from universe_client.recording.video import Encoder, frames
from universe_client.vector_env import VectorEnv
from vnc.capture.capture import read_capture
from vnc.capture.record import Recorder
from vnc.session import VNCAddress
from wrappers import BlockingReset, Record

ENV_ID, REMOTES, RATE = "builtin.NeonDrive-v0", 8, 60.0
SECONDS = 10.0
_SAMPLE = 600
"""Pictures that are encoded once more."""


class Run(NamedTuple):
    """What one run took, per second."""

    processes: float
    frames: float
    missing: int = 0
    encoder: float = 0.0
    bytes: float = 0.0


def measure(console: Console, rounds: int) -> Report:
    plain, recorded, errors = [], [], []
    with console.status("measuring") as status, tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            status.update(f"round {number + 1} of {rounds}")
            plain.append(_plain())
            recorded.append(_recorded(Path(folder) / str(number)))
            errors.append(_errors(Path(folder) / f"wire-{number}"))
    return Report([_costs(plain, recorded), _exactness(errors)])


def _costs(plain: list[Run], recorded: list[Run]) -> Table:
    table = Table(
        f"{REMOTES} NeonDrives at {RATE:g} frames/s, {RATE:g} steps/s",
        ["", "frames/s each", "processes", "encoder", "ratio", "missing", "GB an hour each"],
    )
    without, total = (statistics.median(run.processes for run in runs) for runs in (plain, recorded))
    encoder = statistics.median(run.encoder for run in recorded)
    ratio = statistics.median(
        (after.processes - after.encoder) / after.frames / (before.processes / before.frames)
        for before, after in zip(plain, recorded, strict=True)
    )
    rates = [f"{statistics.median(run.frames for run in runs):.1f}" for runs in (plain, recorded)]
    size = statistics.median(run.bytes for run in recorded) * 3600 / 1e9
    table.rows += [
        ["not recorded", rates[0], f"{without:.0%}", "", "", "", ""],
        [
            "recorded",
            rates[1],
            f"{total:.0%}",
            f"{encoder:.0%}",
            f"{ratio:.2f}",
            f"{sum(run.missing for run in recorded)}",
            f"{size:.2f}",
        ],
    ]
    return table


def _exactness(rounds: list[list[float]]) -> Table:
    errors = sorted(error for each in rounds for error in each)
    p99 = statistics.quantiles(errors, n=100)[98]
    cells = [f"{1000 * each:.2f}" for each in (statistics.median(errors), p99, errors[-1])]
    return Table(
        "A frame's time in the recording, against the bytes of the VNC session",
        ["frames", "error, median ms", "p99 ms", "worst ms"],
        [[f"{len(errors)}", *cells]],
    )


def _plain() -> Run:
    with BlockingReset(universe_client.make(ENV_ID, remotes=REMOTES)) as env:
        return _play(env)


def _recorded(directory: Path) -> Run:
    with Record(universe_client.make(ENV_ID, remotes=REMOTES), directory) as record:
        run = _play(BlockingReset(record))
        counted = sum(_count(record.unwrapped))
    written = sum(1 for event in EventReader(directory / EVENTS_FILE) if event.kind == "frame")
    encoder = _encoder_seconds(directory / "remote-0.mp4", directory / "again.mp4") * run.frames * REMOTES
    size = sum(path.stat().st_size for path in directory.glob("remote-*.mp4")) / max(written, 1)
    # Frames that came after the count are recorded too.
    return run._replace(missing=max(counted - written, 0), encoder=encoder, bytes=size * run.frames)


def _play(env: BlockingReset) -> Run:
    """Step for SECONDS; return what all processes took."""
    env.reset(seed=1)
    pacer, core = Pacer(RATE), env.unwrapped
    processes = process_tree()
    before, count = sum(map(cpu_seconds, processes)), sum(_count(core))
    began = time.monotonic()
    while time.monotonic() < began + SECONDS:
        pacer.wait()
        env.step([[]] * REMOTES)
    seconds = time.monotonic() - began
    taken = sum(map(cpu_seconds, processes)) - before
    return Run(taken / seconds, (sum(_count(core)) - count) / seconds / REMOTES)


def _count(env: VectorEnv) -> Iterator[int]:
    for remote in env.core.remotes:
        session = remote.link.session
        assert session is not None
        yield session.frames


def _encoder_seconds(video: Path, copy: Path) -> float:
    """Return the CPU time that a picture takes."""
    pictures = [item for item, _ in zip(frames(video), range(_SAMPLE), strict=False)]
    encoder = Encoder(copy, pictures[0][1].shape[:2])
    began = time.thread_time()
    for moment, pixels in pictures:
        encoder.add(pixels, moment)
    taken = time.thread_time() - began
    encoder.close()
    return taken / len(pictures)


def _errors(directory: Path) -> list[float]:
    """Record one remote and its bytes; return the errors of the times of its frames, in seconds."""
    directory.mkdir()
    with BlockingReset(universe_client.make(ENV_ID)) as source:
        source.reset()
        address = source.unwrapped.core.remotes[0].link.address
        assert address is not None
        with _proxy(address.vnc, directory / "wire") as port:
            through = AddressProvider([RemoteAddress(VNCAddress("127.0.0.1", port))])
            with Record(VectorEnv(None, through, config=Config(encoding="zrle")), directory / "run") as env:
                _look(BlockingReset(env))
    capture = read_capture(directory / "wire")
    wire = [capture.header.created + update.time for update in capture.updates]
    ours = [
        event.time / 1e9 for event in EventReader(directory / "run" / EVENTS_FILE) if event.kind == "frame"
    ]
    return min((_differences(wire, ours, late) for late in range(3)), key=statistics.median)


def _differences(wire: list[float], ours: list[float], late: int) -> list[float]:
    """Compare from the end; the last `late` updates came after the end of the session."""
    pairs = zip(reversed(wire[: len(wire) - late]), reversed(ours), strict=False)
    return [abs(frame - update) for update, frame in pairs]


def _look(env: BlockingReset) -> None:
    env.reset(seed=1)
    pacer, end = Pacer(RATE), time.monotonic() + SECONDS
    while time.monotonic() < end:
        pacer.wait()
        env.step([[]])


@contextmanager
def _proxy(address: VNCAddress, path: Path) -> Iterator[int]:
    """Record the bytes of one session with `address`; yield the port for its client."""
    port: Future[int] = Future()

    async def run() -> None:
        recorder = await Recorder.open(address, path)
        port.set_result(recorder.port)
        try:
            await recorder.run()
        finally:
            await recorder.close()

    thread = threading.Thread(target=lambda: asyncio.run(run()), name="proxy")
    thread.start()
    yield port.result(60)
    thread.join()
