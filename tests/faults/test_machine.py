"""The agent's machine runs out of descriptors or of disk space (F34)."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

from tests.support.remotes.agent import failed, one_step, running, until
from vnc.capture.capture import read_capture

ROOM = 64  # KiB of the disk
ON_SMALL_DISK = """
mount -t tmpfs -o size="$1"k none "$2" || exit
disk=$2 kept=$3
shift 3
"$@"
status=$?
cp "$disk"/* "$kept"
exit $status
"""


@contextmanager
def no_descriptors() -> Iterator[Callable[[], None]]:
    """Open files until the kernel refuses; the yielded function uses up descriptors that were closed since."""
    files: list[int] = []

    def fill() -> None:
        with suppress(OSError):
            while True:
                files.append(os.open(os.devnull, os.O_RDONLY))

    fill()
    try:
        yield fill
    finally:
        for file in files:
            os.close(file)


@pytest.fixture
def few_descriptors() -> Iterator[None]:
    """A low limit of descriptors."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(len(os.listdir("/proc/self/fd")) + 200, hard), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.fault("F34", "fd exhaustion, ENOSPC for recorder")
def test_f34_without_descriptors_connections_fail_and_the_others_go_on(
    few_descriptors, scripted, playing, measure
):
    one, other = scripted(), scripted()
    env = playing(one, other)
    one.stop_vnc()
    until(env, failed)
    painted = seen = 0
    refused = False
    errors: set[str | None] = set()
    deadline = time.monotonic() + 120
    with no_descriptors() as fill:
        while not refused or painted < 40:
            assert time.monotonic() < deadline, errors
            fill()
            painted += 1
            other.paint(painted)
            for _ in range(40):
                env.wait(0.05)
                step = one_step(env)
                errors.add(step.info["error"])
                refused |= "Too many open files" in (step.info["error"] or "")
                assert step.info_n[1]["error"] is None
                assert step.observation_n[1] is not None
                if (step.observation_n[1]["vision"] == painted).all():
                    seen += 1
                    break
    measure("frames of the other remote", 100 * seen / painted, at_least=95, unit="%")
    one.restart_vnc()
    until(env, running)


@pytest.mark.fault("F34", "fd exhaustion, ENOSPC for recorder")
def test_f34_a_recording_ends_with_one_warning_when_the_disk_is_full(scripted, tmp_path, measure):
    remote = scripted(has_rewarder=False)
    disk, kept = tmp_path / "disk", tmp_path / "kept"
    disk.mkdir()
    address = f"vnc://127.0.0.1:{remote.address.vnc.port}"
    recording = on_small_disk(disk, kept, "record", address, "--out", str(disk / "x"), "--seconds", "60")
    noise = np.random.default_rng(0)
    with subprocess.Popen(recording, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        while process.poll() is None:
            screen = noise.integers(0, 256, (16, 24, 3), np.uint8)
            remote.script(lambda screen=screen: remote._screen.present(screen))
        said = " ".join(process.stdout.read().split())  # rich breaks lines at any place
    assert process.returncode == 0, said
    measure("warnings", said.count("No space left on device"), equals=1)
    capture = read_capture(kept)
    measure("updates kept", len(capture.updates), at_least=10)
    assert f"{len(capture.updates)} updates" in said


def on_small_disk(disk: Path, kept: Path, *command: str) -> list[str]:
    """Return a command in a new mount namespace, where `disk` is small; its files are copied to `kept`."""
    become_root = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    program = [sys.executable, "-m", "universe_client", *command, "--log-level", "warning"]
    return [
        "unshare",
        *become_root,
        "--mount",
        "sh",
        "-c",
        ON_SMALL_DISK,
        "-",
        str(ROOM),
        str(disk),
        str(kept),
        *program,
    ]
