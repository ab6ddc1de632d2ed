"""An Xvnc server for the duration of a measurement."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from benchmarks.workloads.names import HEIGHT, WIDTH
from rewarder.display.xdisplay import XDisplay
from vnc.session import VNCAddress


def xvnc() -> XDisplay:
    """Return the display of a remote, with its options, on the loopback interface and without a password."""
    return XDisplay(WIDTH, HEIGHT)


def address(screen: XDisplay) -> VNCAddress:
    """Return where clients connect to a screen."""
    return VNCAddress("127.0.0.1", screen.port)


@contextmanager
def program(screen: XDisplay, *command: str) -> Iterator[None]:
    """Run a program on the screen."""
    with subprocess.Popen(command, env=os.environ | screen.environment) as process:
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()


def workload(screen: XDisplay, name: str) -> AbstractContextManager[None]:
    return program(screen, sys.executable, "-m", "benchmarks.workloads", name)
