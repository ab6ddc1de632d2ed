"""An Xvnc server for the duration of a measurement."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks.harness import first_line
from benchmarks.workloads.names import HEIGHT, WIDTH
from vnc.session import VNCAddress


@dataclass(frozen=True, slots=True)
class Screen:
    display: str
    address: VNCAddress
    pid: int


@contextmanager
def xvnc() -> Iterator[Screen]:
    """Run Xvnc with the options of our images, on the loopback interface and without a password."""
    port = _free_port()
    server = subprocess.Popen(
        [
            "Xvnc", "-displayfd", "1", "-geometry", f"{WIDTH}x{HEIGHT}", "-depth", "24", "-FrameRate=60", "-localhost",
            "-AlwaysShared", "-UseBlacklist=0", "-SecurityTypes=None", "-rfbport", str(port), "-AcceptSetDesktopSize=0",
            "-SendCutText=0", "-AcceptCutText=0", "-RawKeyboard=1", "-nolisten", "tcp", "-noreset",
        ],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        yield Screen(f":{first_line(server)}", VNCAddress("127.0.0.1", port), server.pid)
    finally:
        _end(server)


@contextmanager
def program(screen: Screen, *command: str) -> Iterator[None]:
    """Run a program on the screen."""
    environment = os.environ | {"DISPLAY": screen.display}
    process = subprocess.Popen(command, env=environment)
    try:
        yield
    finally:
        _end(process)


def workload(screen: Screen, name: str) -> AbstractContextManager[None]:
    return program(screen, sys.executable, "-m", "benchmarks.workloads", name)


def _end(process: subprocess.Popen[Any]) -> None:
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
