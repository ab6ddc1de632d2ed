"""`universe-client doctor`: report what is installed, what works without it, and whether a remote can be started."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import platform
import shlex
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from urllib.parse import unquote

from rich.console import Console
from rich.table import Table
from rich.text import Text

from rewarder.version import VERSION
from universe_client.cli.processors import cpu_seconds, processors
from universe_client.config import Config
from universe_client.errors import ConfigError, UniverseError
from universe_client.providers.containers.daemon import EngineError
from universe_client.providers.containers.engine import Engine
from universe_client.providers.containers.images import IMAGES
from universe_client.vector_env import VectorEnv
from vnc.drivers import choose
from wrappers import Throttle

_PACKAGES = ("numpy", "gymnasium", "websockets", "msgspec", "asyncvnc", "cryptography", "rich")
_START_TIMEOUT = 20.0
_MEASURED = 1.5  # seconds in which the remote's use of the processors is measured
_STEP_RATE = 60.0
_LEAST = 0.001  # of a processor, so that a measurement of nothing is no division by zero
_SHARED_TIMEOUT = 2.0
_PROBE_ENV_ID = "builtin.NeonDrive-v0"
_DESCRIPTION = """\
Report which packages and programs are installed, which driver decodes pixels, and whether a remote can be started; if
not, why. Exit status: 0 if agents can run here, otherwise 1.
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    what: str
    found: str
    advice: str = ""
    bad: bool = False
    """Whether agents cannot run for this reason."""
    lacking: bool = False
    """Whether something optional is missing; `advice` names what it is needed for."""


def examine() -> Iterator[Finding]:
    """Yield the findings, one after the other."""
    yield Finding("universe-client", VERSION)
    yield Finding(
        "python",
        platform.python_version(),
        f"on {platform.system()} {platform.release()}",
        bad=sys.version_info < (3, 11),
    )
    for package in _PACKAGES:
        yield _package(package)
    yield _driver()
    yield _program("Xvnc", "tigervnc-standalone-server", "process:N remotes")
    yield _program("vncviewer", "tigervnc-viewer", "watching a remote in a window")
    yield _docker()
    yield from _start_remote()


def _package(name: str) -> Finding:
    try:
        return Finding(name, importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        return Finding(name, "missing", f"pip install {name}", bad=True)


def _driver() -> Finding:
    choice = choose("auto")
    if choice.name == "native":
        return Finding("vnc driver", "native", "decodes in Rust, in parallel to Python")
    return Finding("vnc driver", "portable", f"slower ({choice.reason}); {_native_driver()}", lacking=True)


def _native_driver() -> str:
    """Return what installs the native driver: a command that compiles it from where this package came from."""
    command = f"UNIVERSE_CLIENT_NATIVE=required pip install --force-reinstall --no-deps {_origin()}"
    if shutil.which("cargo") is None:
        return f"for the native driver install a wheel of {VERSION}, or Rust (https://rustup.rs), then: {command}"
    return f"this compiles the native driver, or says why it cannot be compiled: {command}"


def _origin() -> str:
    """Return what pip installed this package from; without a record of that, its name and version."""
    try:
        record = importlib.metadata.distribution("universe-client").read_text("direct_url.json")
    except importlib.metadata.PackageNotFoundError:
        record = None
    if record is None:
        return f"universe-client=={VERSION}"
    url = str(json.loads(record)["url"])
    return shlex.quote(unquote(url.removeprefix("file://")))


def _program(name: str, package: str, purpose: str) -> Finding:
    path = shutil.which(name)
    if path is None:
        return Finding(name, "not found", f"needed for {purpose} only: apt install {package}", lacking=True)
    return Finding(name, path, f"for {purpose}")


def _docker() -> Finding:
    """Look for the daemon and for our images on it."""
    try:
        with closing(Engine()) as engine:
            missing = [image.name for image in IMAGES if not engine.has_image(image.reference)]
    except (ConfigError, EngineError) as error:
        return Finding("docker", "not usable", f"needed for docker:N remotes only: {error}", lacking=True)
    advice = f"for docker:N remotes, at {engine.url}"
    if missing:
        advice += f"; to add images: universe-client build {' '.join(missing)}"
    found = f"{len(IMAGES) - len(missing)} of {len(IMAGES)} images"
    return Finding("docker", found, advice, lacking=bool(missing))


def _start_remote() -> Iterator[Finding]:
    """Start an embedded remote, wait for its first frame, and measure what it costs."""
    began = time.monotonic()
    config = Config(driver=choose("auto").name, start_timeout=_START_TIMEOUT, on_error="raise")
    try:
        with VectorEnv(_PROBE_ENV_ID, 1, config=config) as env:
            env.reset()
            while env.step([[]])[0][0] is None:
                if not env.wait(_START_TIMEOUT - (time.monotonic() - began)):
                    yield Finding("a remote", "no frame", f"nothing within {_START_TIMEOUT:g} s", bad=True)
                    return
            took = time.monotonic() - began
            way = _way_of_pixels(env)
            yield Finding("a remote", "runs", f"{_PROBE_ENV_ID}: first frame after {took:.2f} s, {way}")
            yield from _capacity(env)
    except UniverseError as error:
        yield Finding("a remote", "cannot be started", str(error), bad=True)


def _capacity(env: VectorEnv) -> Iterator[Finding]:
    """Play in real time, and estimate from the use of the processors how many such remotes the machine can run."""
    before = cpu_seconds()
    if before is None:
        return
    began, paced = time.monotonic(), Throttle(env, step_rate=_STEP_RATE)
    while (elapsed := time.monotonic() - began) < _MEASURED:
        paced.step([[]])
    share, count = ((cpu_seconds() or 0.0) - before) / elapsed, processors()
    yield Finding(
        "capacity",
        f"about {count / max(share, _LEAST):.0f}",
        f"of these remotes at {_STEP_RATE:g} frames/s, on {count} processors that do nothing else",
    )


def _way_of_pixels(env: VectorEnv) -> str:
    """Wait until pixels come through shared memory, as the first frames do not; return how they come."""
    until = time.monotonic() + _SHARED_TIMEOUT
    while (left := until - time.monotonic()) > 0:
        if env.step([[]])[3]["n"][0]["stats.vnc.pixels_by"] == "shared":
            return "pixels through shared memory"
        env.wait(left)
    return "pixels by VNC"


def _mark(finding: Finding) -> Text:
    if finding.bad:
        return Text("no", "bold red")
    return Text("-", "yellow") if finding.lacking else Text("yes", "green")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the description of the command."""
    parser.description = _DESCRIPTION
    parser.set_defaults(command=lambda options: doctor())


def doctor() -> int:
    """Print the findings; return the exit status: 0 if agents can run here, otherwise 1."""
    console = Console(markup=False)
    findings = []
    with console.status("examining"):
        for finding in examine():
            findings.append(finding)
    table = Table(box=None, show_header=False)
    for finding in findings:
        table.add_row(_mark(finding), finding.what, finding.found, Text(finding.advice, "dim"))
    console.print(table)
    healthy = not any(finding.bad for finding in findings)
    console.print(
        Text("Agents can run here.", "green")
        if healthy
        else Text("Agents cannot run here: see the lines above.", "red")
    )
    return 0 if healthy else 1
