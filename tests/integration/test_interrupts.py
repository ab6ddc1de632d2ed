"""Ctrl-C and SIGTERM: one line, the shells' exit status, and every remote given back, at whatever moment they come."""

from __future__ import annotations

import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.remotes.agent import wait_until
from tests.support.system.processes import Obituary, descendants

ROOT = Path(__file__).parents[2]
COMMAND = "import sys, universe_client_command; sys.exit(universe_client_command.main())"
RUN = ("run", "builtin.NeonDrive-v0", "--remotes", "2")
BOTH = pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
PATIENCE = 60.0


@contextmanager
def command(*arguments: str, options: tuple[str, ...] = ()) -> Iterator[subprocess.Popen[str]]:
    """Run the script that the distribution installs."""
    with subprocess.Popen(
        [sys.executable, *options, "-c", COMMAND, *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()


def line_with(process: subprocess.Popen[str], words: str) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        if words in line:
            return
    raise AssertionError(f"it ended without {words!r}")


def ends_well(process: subprocess.Popen[str], status: int) -> str:
    """Wait for the end; return what was on stdout."""
    out, err = process.communicate(timeout=PATIENCE)
    told = [line for line in err.splitlines() if not line.startswith("import time:")]
    assert told[-1] == "universe-client: interrupted"
    assert "Traceback" not in err and "Exception" not in err
    assert process.returncode == status
    return out


def test_the_installed_script_handles_signals_before_it_imports_anything_else() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["scripts"]["universe-client"] == "universe_client_command:main"
    assert project["tool"]["setuptools"]["py-modules"] == ["universe_client_command"]


@BOTH
@pytest.mark.parametrize("module", ["signal", "numpy", "universe_client.cli.main"])
def test_an_interrupt_while_the_command_still_imports_is_one_line(
    number: signal.Signals, status: int, module: str
) -> None:
    imported = {
        "signal": "universe_client.core.info",
        "numpy": "numpy._core",
        "universe_client.cli.main": "rich.logging",
    }
    with command("doctor", options=("-X", "importtime")) as process:
        line_with(process, f" {imported[module]}")
        process.send_signal(number)
        ends_well(process, status)


@BOTH
def test_an_interrupt_while_remotes_start_gives_them_back(number: signal.Signals, status: int) -> None:
    interrupted_once(lambda process: wait_until(lambda: descendants(process.pid), PATIENCE), number, status)


@BOTH
def test_an_interrupt_while_remotes_run_gives_them_back(number: signal.Signals, status: int) -> None:
    def all_connected(process: subprocess.Popen[str]) -> None:
        for _ in range(2):
            line_with(process, "connected")

    out = interrupted_once(all_connected, number, status, "--log-level", "info")
    assert "steps/s" in out, "the summary is printed all the same"


def interrupted_once(
    ready: Callable[[subprocess.Popen[str]], object], number: signal.Signals, status: int, *options: str
) -> str:
    with command(*RUN, *options) as process:
        ready(process)
        obituary = Obituary(descendants(process.pid))
        process.send_signal(number)
        process.send_signal(number)  # a parent such as `uv run` repeats what the terminal has sent already
        out = ends_well(process, status)
        obituary.wait(PATIENCE)
        obituary.close()
        return out
