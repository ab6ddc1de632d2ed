"""The package as it is, and as it was at an earlier commit, each with its own Python interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

_HERE = Path(__file__).resolve().parent.parent.parent
_EXTRAS = "atari,desktop,gym-core"
_BESIDE = ("opencv-python-headless", "pygame")
"""What the workers need beside the package."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A source tree, and a Python in which it is installed."""

    path: Path
    python: str


def current() -> Tree:
    """Return the tree of this benchmark, and the Python that runs it."""
    return Tree(_HERE, sys.executable)


def earlier(commit: str, console: Console) -> Tree:
    """Return the tree of a commit; check it out and build it if that has not been done.

    It is kept in `universe-client/benchmarks/COMMIT` of the user's cache folder (`XDG_CACHE_HOME` or ~/.cache).

    Raises:
        subprocess.CalledProcessError: git does not know the commit, or it cannot be built.
    """
    folder = cache() / short(commit)
    tree = Tree(folder, str(folder / ".venv/bin/python"))
    built = folder / ".venv/.built"
    if not built.exists():
        with console.status(f"building {commit} in {folder}: some minutes, once"):
            if not folder.exists():
                _git("worktree", "prune")
                _git("worktree", "add", "--detach", str(folder), commit)
            install(folder / ".venv", "--editable", f"{folder}[{_EXTRAS}]", *_BESIDE)
        built.touch()
    return tree


def short(commit: str) -> str:
    """Return the first 12 digits of a commit's id.

    Raises:
        subprocess.CalledProcessError: git does not know it.
    """
    return _git("rev-parse", "--quiet", "--verify", "--short=12", f"{commit}^{{commit}}")


def envpool(console: Console) -> str:
    """Return the Python of a virtual environment in the cache folder, with EnvPool if that can be installed here."""
    folder = cache() / "envpool"
    if not (folder / ".tried").exists():
        with console.status("installing EnvPool"), suppress(subprocess.CalledProcessError):
            install(folder, "envpool", "gymnasium")
        (folder / ".tried").touch()
    return str(folder / "bin/python")


def install(folder: Path, *requirements: str) -> None:
    """Make a virtual environment and install into it, with the native driver."""
    _run(sys.executable, "-m", "venv", str(folder))
    _run(str(folder / "bin/python"), "-m", "pip", "install", "--quiet", *requirements)


def cache() -> Path:
    """Return the folder of earlier trees."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "universe-client" / "benchmarks"


def _git(*arguments: str) -> str:
    return _run("git", "-C", str(_HERE), *arguments)


def _run(*command: str) -> str:
    environment = os.environ | {"UNIVERSE_CLIENT_NATIVE": "required"}
    done = subprocess.run(command, env=environment, check=True, text=True, stdout=subprocess.PIPE)
    return done.stdout.strip()
