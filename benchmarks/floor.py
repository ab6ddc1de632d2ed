"""What the floor harness (benchmarks/floor, in Rust) needs to know of a capture."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

from vnc.capture import read_capture
from vnc.capture_scan import Scanner, ServerMessage

_HOME = Path(__file__).parent / "floor"
_JPEG = 6


def build() -> Path | None:
    """Build the harness; None where there is no cargo, or no registry to take its crates from."""
    try:
        subprocess.run(
            ["cargo", "build", "--release", "--quiet"], cwd=_HOME, check=True, stderr=subprocess.DEVNULL
        )
    except (FileNotFoundError, subprocess.CalledProcessError):
        return None
    return _HOME / "target" / "release" / "floor"


def write_plan(capture: Path, plan: Path) -> None:
    """Say where in each update the compressed data is."""
    read = read_capture(capture)
    scanner = Scanner(read.header.width, read.header.height, read.pixel_format)
    messages = [message for update in read.updates for message in scanner.receive(update.data)]
    plan.write_bytes(b"".join(_words(message) for message in messages))


def _words(message: ServerMessage) -> bytes:
    words = [len(message.data), message.pixels, len(message.payloads)]
    for payload in message.payloads:
        stream = _JPEG if payload.stream < 0 else payload.stream
        words += [stream, payload.fresh, payload.start, payload.end]
    return struct.pack(f"<{len(words)}I", *words)
