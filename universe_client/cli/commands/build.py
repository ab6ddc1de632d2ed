"""`universe-client build`: build the images of `docker:N` remotes from a checkout of this project."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections import deque
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from universe_client.errors import ConfigError
from universe_client.providers.containers.daemon import EngineError
from universe_client.providers.containers.engine import Engine
from universe_client.providers.containers.images import IMAGES, Image, image_named

LOG_LINES = 20
_DEBIAN = "debian:bookworm-slim"
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")
_PIP = {"PIP_INDEX_URL": "global.index-url", "PIP_EXTRA_INDEX_URL": "global.extra-index-url"}
_STEP = re.compile(r"step (?P<number>\d+)/(?P<steps>\d+) ?: (?P<what>.*)", re.IGNORECASE)

_DESCRIPTION = """\
Build the images of docker:N remotes from a checkout of this project, with this machine's Docker daemon. The build uses
the proxies and the package index that pip uses here. Where debian:bookworm-slim cannot be pulled, run docker/make-base
first.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the description and the options of the command."""
    parser.description = _DESCRIPTION
    names = ", ".join(image.name for image in IMAGES)
    parser.add_argument("names", nargs="*", metavar="IMAGE", help=f"{names}; default: all of them")
    parser.add_argument("--source", type=Path, metavar="DIR", help="the checkout; default: this directory")
    parser.set_defaults(command=lambda options: build(options.names, options.source))


def build(names: Sequence[str], source: Path | None) -> int:
    """Build the named images, or all; return the exit status.

    Raises:
        ConfigError: an image does not exist, or `source` is not a checkout of this project.
        EngineError: no daemon answers, or a build failed; the message contains the end of its output.
    """
    checkout = _checkout(source)
    images = _wanted(names, checkout)
    arguments = build_arguments() | {"BASE": IMAGES[0].reference}
    with closing(Engine()) as engine, _progress(Console(markup=False)) as progress:
        for image in images:
            _build(engine, image, checkout, arguments, progress)
    return 0


def build_arguments() -> dict[str, str]:
    """Return the build arguments with this machine's proxies and pip's package index.

    Raises:
        ConfigError: an index URL contains a password, which the image's history would show.
    """
    arguments = {name: os.environ[name] for name in _PROXIES if name in os.environ}
    for name, key in _PIP.items():
        url = os.environ.get(name) or _pip_setting(key)
        if url and any(urlsplit(one).password for one in url.split()):
            raise ConfigError(f"{name} contains a password, which the image would keep: use a netrc file")
        if url:
            arguments[name] = url
    return arguments


def _pip_setting(key: str) -> str:
    command = [sys.executable, "-m", "pip", "config", "get", key]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def _checkout(source: Path | None) -> Path:
    candidates = [source] if source else [Path.cwd(), Path(__file__).parents[3]]
    for path in candidates:
        if (path / "docker" / "base" / "Dockerfile").exists():
            return path.resolve()
    raise ConfigError(f"no docker/base/Dockerfile in {candidates[0]}: run this in a checkout of the project")


def _wanted(names: Sequence[str], checkout: Path) -> list[Image]:
    """Return the images to build, the base image first."""
    chosen = {image_named(name) for name in names} or set(IMAGES)
    wanted = [image for image in IMAGES if image in chosen or image is IMAGES[0]]
    return [image for image in wanted if names or _dockerfile(checkout, image).exists()]


def _dockerfile(checkout: Path, image: Image) -> Path:
    return checkout / "docker" / image.name / "Dockerfile"


def _progress(console: Console) -> Progress:
    return Progress(
        SpinnerColumn(finished_text="[green]✓[/]"),
        TextColumn("[bold]{task.fields[image]}[/]"),
        BarColumn(bar_width=20),
        TextColumn("{task.completed:g}/{task.total:g}"),
        TimeElapsedColumn(),
        TextColumn("[dim]{task.description}[/]", markup=True),
        console=console,
    )


def _build(
    engine: Engine, image: Image, checkout: Path, arguments: dict[str, str], progress: Progress
) -> None:
    """Build one image and show Docker's count of steps."""
    task = progress.add_task("", total=1, image=image.name)
    log: deque[str] = deque(maxlen=LOG_LINES)
    tags = [image.reference, image.reference.partition(":")[0]]
    try:
        for line in engine.build(checkout, f"docker/{image.name}/Dockerfile", tags, arguments):
            log.append(line)
            _advance(progress, task, line)
    except EngineError as error:
        words = "".join(f"\n    {line}" for line in log)
        raise EngineError(
            f"{image.reference}: {error}; the end of its output:{words}{_hint(engine)}"
        ) from error
    progress.update(task, total=1, completed=1, description=_size(engine, image))


def _hint(engine: Engine) -> str:
    if engine.has_image(_DEBIAN):
        return ""
    return (
        f"\nthe daemon has no image {_DEBIAN}; where no registry can be reached, docker/make-base creates it"
    )


def _advance(progress: Progress, task: TaskID, line: str) -> None:
    if match := _STEP.match(line):
        number, steps = int(match["number"]) - 1, int(match["steps"])
        progress.update(task, total=steps, completed=number, description=escape(_short(match["what"])))


def _short(text: str, length: int = 48) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def _size(engine: Engine, image: Image) -> str:
    return f"{image.reference}, {engine.image_size(image.reference) / 1e6:.0f} MB"
