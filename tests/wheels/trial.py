"""Install a wheel in an empty container, let an agent play, and time it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.wheels.container import Container, container, debian

_PLAY = ("run", "builtin.NeonDrive-v0", "--remotes", "4", "--seconds", "10", "--json")
_COMPILERS = "cc gcc clang cargo rustc"
_WHEELS, _PYTHON = "/wheels", "/opt/python"


@dataclass(frozen=True, slots=True)
class System:
    """A Debian, and the Python that is in it or that is brought from this machine."""

    name: str
    suite: str
    package: str = "python3-venv"
    prefix: Path | None = None
    """Where this machine has the Python; None for Debian's."""

    @property
    def python(self) -> str:
        """The interpreter within the container."""
        return f"{_PYTHON}/bin/python3" if self.prefix else f"/usr/bin/{self.package.removesuffix('-venv')}"

    @property
    def mounts(self) -> dict[Path, str]:
        """What of this machine the container needs."""
        return {self.prefix: _PYTHON} if self.prefix else {}


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds from nothing to the first observation, step by step."""

    python: str
    venv: float
    pip: float
    first: float
    """From the start of the command to the first observation."""
    frames_per_second: float

    @property
    def total(self) -> float:
        """From nothing to the first observation."""
        return self.venv + self.pip + self.first


class Wrong(Exception):
    """The wheel does not do what it is to do."""


def install_and_play(system: System, wheel: Path) -> Times:
    """Install the wheel with pip and run the command for ten seconds.

    Raises:
        Wrong: the container is not empty, or the agent does not play on the native driver.
        CommandFailed: pip or the command fails.
    """
    with _empty(system, wheel) as inside:
        version, _ = inside.run(system.python, "-c", "import sys; print(sys.version.split()[0])")
        _, venv = inside.run(system.python, "-m", "venv", "/home/venv")
        _, pip = inside.run("/home/venv/bin/pip", "install", "--quiet", f"{_WHEELS}/{wheel.name}")
        report, took = _play(inside, "/home/venv/bin/universe-client")
    return Times(version.strip(), venv, pip, took - report["seconds"], report["frames_per_second"])


def play_without_installing(system: System, wheel: Path) -> Iterator[tuple[str, float]]:
    """Yield `pipx run` and `uvx`, each with the seconds from the command to the first observation."""
    with _empty(system, wheel) as inside:
        inside.run(system.python, "-m", "venv", "/home/tools")
        inside.run("/home/tools/bin/pip", "install", "--quiet", "pipx", "uv")
        file = f"{_WHEELS}/{wheel.name}"
        for name, command in (
            ("pipx run", ("/home/tools/bin/pipx", "run", "--spec", file, "universe-client")),
            ("uvx", ("/home/tools/bin/uvx", "--python", system.python, "--from", file, "universe-client")),
        ):
            report, took = _play(inside, *command)
            yield name, took - report["seconds"]


def _play(inside: Container, *command: str) -> tuple[dict[str, Any], float]:
    printed, took = inside.run(*command, *_PLAY)
    report = json.loads(printed)
    if report["driver"] != "native" or not all(one["frames_per_second"] for one in report["remotes"]):
        raise Wrong(printed)
    return report, took


@contextmanager
def _empty(system: System, wheel: Path) -> Iterator[Container]:
    """Yield a container with the wheel and without compilers, of a user who is not root."""
    root = debian(system.suite, system.package, "ca-certificates")
    with container(root, {wheel.parent: _WHEELS} | system.mounts) as inside:
        found, _ = inside.run("sh", "-c", f"command -v {_COMPILERS}; id -u | grep -x 0; true")
        if found:
            raise Wrong(f"{system.name} is no empty container: {found}")
        yield inside
