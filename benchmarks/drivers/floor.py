"""The Rust programs of benchmarks/floor, and their input files, made from captures."""

from __future__ import annotations

import struct
import subprocess
from itertools import islice
from pathlib import Path

from benchmarks.servers.capture import server_messages
from vnc.capture.capture import read_capture
from vnc.capture.scan import ServerMessage

_HOME = Path(__file__).parent.parent / "floor"
_JPEG = 6


def build(program: str = "floor") -> Path | None:
    """Build a program; None if cargo or a crate cannot be had."""
    try:
        subprocess.run(
            ["cargo", "build", "--release", "--quiet"], cwd=_HOME, check=True, stderr=subprocess.DEVNULL
        )
    except (FileNotFoundError, subprocess.CalledProcessError):
        return None
    return _HOME / "target" / "release" / program


def write_plan(capture: Path, plan: Path) -> None:
    """Write the position of the compressed data in each update to a file."""
    plan.write_bytes(b"".join(_words(message) for message in server_messages(read_capture(capture))))


def write_payloads(capture: Path, payloads: Path, updates: int) -> int:
    """Write the data of the zlib streams in the first updates to a file; return the number of updates."""
    count = 0
    with payloads.open("wb") as file:
        for message in islice(server_messages(read_capture(capture)), updates):
            count += 1
            for payload in message.payloads:
                if payload.stream >= 0:
                    data = message.data[payload.start : payload.end]
                    file.write(struct.pack("<3I", payload.stream, payload.fresh, len(data)) + data)
    return count


def _words(message: ServerMessage) -> bytes:
    words = [len(message.data), message.pixels, len(message.payloads)]
    for payload in message.payloads:
        stream = _JPEG if payload.stream < 0 else payload.stream
        words += [stream, payload.fresh, payload.start, payload.end]
    return struct.pack(f"<{len(words)}I", *words)
