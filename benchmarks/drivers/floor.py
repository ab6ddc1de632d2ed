"""The programs of benchmarks/floor, in Rust, and what they need to know of a capture."""

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
    """Build a program; None where there is no cargo, or no registry to take its crates from."""
    try:
        subprocess.run(
            ["cargo", "build", "--release", "--quiet"], cwd=_HOME, check=True, stderr=subprocess.DEVNULL
        )
    except (FileNotFoundError, subprocess.CalledProcessError):
        return None
    return _HOME / "target" / "release" / program


def write_plan(capture: Path, plan: Path) -> None:
    """Say where in each update the compressed data is."""
    plan.write_bytes(b"".join(_words(message) for message in server_messages(read_capture(capture))))


def write_payloads(capture: Path, payloads: Path, *, jpeg: bool, updates: int) -> int:
    """Put the JPEG images, or else the zlib streams, of the first updates into a file; return how many updates."""
    count = 0
    with payloads.open("wb") as file:
        for message in islice(server_messages(read_capture(capture)), updates):
            count += 1
            for payload in message.payloads:
                if (payload.stream < 0) == jpeg:
                    data = message.data[payload.start : payload.end]
                    file.write(struct.pack("<3I", max(payload.stream, 0), payload.fresh, len(data)) + data)
    return count


def _words(message: ServerMessage) -> bytes:
    words = [len(message.data), message.pixels, len(message.payloads)]
    for payload in message.payloads:
        stream = _JPEG if payload.stream < 0 else payload.stream
        words += [stream, payload.fresh, payload.start, payload.end]
    return struct.pack(f"<{len(words)}I", *words)
