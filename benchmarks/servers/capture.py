"""Captures of Xvnc screens for the other benchmarks, made once and kept in benchmarks/captures.

Each takes at most 5 s and 200 MB.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from benchmarks.servers.xvnc import address, workload, xvnc
from benchmarks.workloads.names import WORKLOADS
from rewarder.display.xdisplay import XDisplay
from universe_client.cli.commands.record import encoding_numbers
from vnc.capture.capture import Capture
from vnc.capture.record import RecordOptions, record
from vnc.capture.scan import Scanner, ServerMessage

DIRECTORY = Path(__file__).parent.parent / "captures"
SECONDS = 5.0
MAX_BYTES = 200_000_000
BUSY_AFTER = 3
"""Updates after which a workload counts as running."""


@dataclass(frozen=True, slots=True)
class Form:
    """A way to encode a screen."""

    title: str
    names: str
    quality: int | None = None

    @property
    def encodings(self) -> tuple[int, ...]:
        numbers = encoding_numbers(self.names, self.quality)
        # Raw without CopyRect, for clients that support only Raw
        return (0,) if self.names == "raw" else numbers


FORMS = {
    "tight": Form("Tight lossless", "tight,copyrect"),
    "tight-q8": Form("Tight q8", "tight,copyrect", quality=8),
    "zrle": Form("ZRLE", "zrle,copyrect"),
    "raw": Form("Raw", "raw"),
    "hextile": Form("Hextile", "hextile,copyrect"),
}


def path_of(workload_name: str, form: str) -> Path:
    return DIRECTORY / f"{workload_name}-{form}.capture"


def ensure(names: list[str], console: Console) -> list[Path]:
    """Make the missing captures of these workloads; return the paths of all."""
    DIRECTORY.mkdir(exist_ok=True)
    for name in names:
        missing = [form for form in FORMS if not path_of(name, form).exists()]
        if missing:
            with console.status(f"capturing {WORKLOADS[name]}"), xvnc() as screen, workload(screen, name):
                asyncio.run(_capture(screen, name, missing))
    return [path_of(name, form) for name in names for form in FORMS]


async def _capture(screen: XDisplay, name: str, forms: list[str]) -> None:
    await until_busy(screen)
    for form in forms:
        unfinished = path_of(name, form).with_suffix(".part")
        unfinished.unlink(missing_ok=True)
        await record(
            address(screen),
            unfinished,
            seconds=SECONDS,
            encodings=FORMS[form].encodings,
            options=RecordOptions(max_bytes=MAX_BYTES),
        )
        unfinished.rename(path_of(name, form))


async def until_busy(screen: XDisplay) -> None:
    """Wait until a program draws on the screen repeatedly.

    Raises:
        RuntimeError: the screen does not change enough within 30 s.
    """
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "warm-up"
        file = await record(
            address(screen), path, seconds=30, encodings=(7, -224), max_updates=1 + BUSY_AFTER
        )
    if file.updates <= BUSY_AFTER:
        raise RuntimeError(f"only {file.updates} updates in 30 s; is the workload running?")


def server_messages(capture: Capture) -> Iterator[ServerMessage]:
    """Yield the messages of the server."""
    scanner = Scanner(capture.header.width, capture.header.height, capture.pixel_format)
    for update in capture.updates:
        yield from scanner.receive(update.data)
