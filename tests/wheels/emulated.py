"""The wheel for aarch64 on a machine of another architecture: qemu translates its instructions and system calls."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.wheels.container import CACHE, ROOT, CommandFailed

_DEBIAN = "bookworm"
_PYTHON = "3.11"
_PLATFORMS = ("manylinux_2_28_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64")
_FOR_TESTS = ("hypothesis", "pillow", "pytest", "pytest-asyncio", "pytest-timeout")
_TESTS = ("tests/vnc/client/test_vectors.py", "tests/vnc/capture/test_replay.py", "-k", "not portable")
_PLAY = (
    "-m",
    "universe_client",
    "run",
    "builtin.NeonDrive-v0",
    "--remotes",
    "1",
    "--seconds",
    "10",
    "--json",
)
_TIMEOUT = 900.0


def decode_and_play(wheel: Path) -> str:
    """Decode all vectors, replay captures, and let an agent play; return what happened, in one line.

    Raises:
        CommandFailed: a test fails, or the agent gets no observation.
    """
    with tempfile.TemporaryDirectory() as directory:
        scratch = Path(directory)
        _install(wheel, scratch / "site")
        shutil.copytree(ROOT / "tests", scratch / "tests")
        shutil.copy(ROOT / "pyproject.toml", scratch)
        tested = _python(scratch, "-m", "pytest", "-q", "-p", "no:cacheprovider", *_TESTS)
        report = json.loads(_python(scratch, *_PLAY))
    if report["driver"] != "native":
        raise CommandFailed(f"the driver is {report['driver']}")
    return f"{tested.splitlines()[-1]}; an agent got {report['frames_per_second']:.0f} frames/s"


def _install(wheel: Path, site: Path) -> None:
    """Install the wheel, and what its tests need, for the other architecture."""
    platforms = [word for platform in _PLATFORMS for word in ("--platform", platform)]
    chosen = ["--python-version", _PYTHON, *platforms, "--only-binary", ":all:", "--target", str(site)]
    command = [sys.executable, "-m", "pip", "install", "--quiet", *chosen, str(wheel), *_FOR_TESTS]
    subprocess.run(command, check=True)


def _python(scratch: Path, *arguments: str) -> str:
    root = _debian()
    command = ["qemu-aarch64", "-L", str(root), str(root / "usr/bin" / f"python{_PYTHON}"), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(scratch / "site"), "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.run(
        command, cwd=scratch, env=environment, capture_output=True, text=True, timeout=_TIMEOUT
    )
    if process.returncode:
        raise CommandFailed(f"{' '.join(command)}: {process.stdout}{process.stderr}")
    return process.stdout


def _debian() -> Path:
    """Return the directory of a Debian for aarch64 with Python. Its packages are unpacked and not configured."""
    root = CACHE / f"{_DEBIAN}-aarch64"
    if not root.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(dir=CACHE))
        options = ["--foreign", "--arch=arm64", "--variant=minbase", "--include=python3"]
        subprocess.run(["debootstrap", *options, _DEBIAN, unfinished], check=True, stdout=subprocess.DEVNULL)
        for package in unfinished.glob("var/cache/apt/archives/*.deb"):
            subprocess.run(["dpkg-deb", "--extract", package, unfinished], check=True)
        unfinished.rename(root)
    return root
