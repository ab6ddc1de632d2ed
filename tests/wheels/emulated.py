"""The wheel for aarch64 on a machine of another architecture: qemu translates its instructions and system calls."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.wheels.container import CACHE, ROOT, CommandFailed

_DEBIAN = "bookworm"
_PYTHON = "3.11"
_PLATFORMS = ("manylinux_2_28_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64")
_FOR_TESTS = ("hypothesis", "pillow", "pytest", "pytest-asyncio", "pytest-timeout")
_TESTS = ("tests/vnc/client/test_vectors.py", "tests/vnc/capture/test_replay.py", "-k", "not portable")
_ENV_ID = "builtin.NeonDrive-v0"
_SERVE = ("-m", "universe_client", "serve", _ENV_ID, "--no-password", "--json")
_PLAY = ("-m", "universe_client", "run", _ENV_ID, "--seconds", "10", "--json", "--remotes")
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
        with _remote(scratch) as address:
            report = json.loads(_python(scratch, *_PLAY, address))
    if report["driver"] != "native":
        raise CommandFailed(f"the driver is {report['driver']}")
    return f"{tested.splitlines()[-1]}; an agent got {report['frames_per_second']:.0f} frames/s"


def _install(wheel: Path, site: Path) -> None:
    """Install the wheel, and what its tests need, for the other architecture."""
    platforms = [word for platform in _PLATFORMS for word in ("--platform", platform)]
    chosen = ["--python-version", _PYTHON, *platforms, "--only-binary", ":all:", "--target", str(site)]
    command = [sys.executable, "-m", "pip", "install", "--quiet", *chosen, str(wheel), *_FOR_TESTS]
    subprocess.run(command, check=True)


@contextmanager
def _remote(scratch: Path) -> Iterator[str]:
    """Serve a remote and yield its address: the kernel does not start programs for aarch64, so the agent cannot."""
    with subprocess.Popen(
        _command(*_SERVE), **_surroundings(scratch), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            ports = json.loads(process.stdout.readline())
            yield f"vnc://127.0.0.1:{ports['vnc_port']}+{ports['rewarder_port']}"
        finally:
            process.terminate()


def _python(scratch: Path, *arguments: str) -> str:
    command = _command(*arguments)
    process: subprocess.CompletedProcess[str] = subprocess.run(
        command, **_surroundings(scratch), capture_output=True, text=True, timeout=_TIMEOUT
    )
    if process.returncode:
        raise CommandFailed(f"{' '.join(command)}: {process.stdout}{process.stderr}")
    return process.stdout


def _command(*arguments: str) -> list[str]:
    root = _debian()
    return ["qemu-aarch64", "-L", str(root), str(root / "usr/bin" / f"python{_PYTHON}"), *arguments]


def _surroundings(scratch: Path) -> dict[str, Any]:
    """Return the directory and the variables of an emulated Python, which imports the wheel."""
    variables = {"PYTHONPATH": str(scratch / "site"), "PYTHONDONTWRITEBYTECODE": "1"}
    return {"cwd": scratch, "env": os.environ | variables}


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
