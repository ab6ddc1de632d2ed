"""`make run` installs what is ready first: a wheel of this version, otherwise the sources."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "install"
DRIVERS = "from types import SimpleNamespace\ndef choose(driver): return SimpleNamespace(name='native')\n"


@pytest.fixture(scope="module")
def python(tmp_path_factory) -> Path:
    """An environment with pip, and with nothing else."""
    directory = tmp_path_factory.mktemp("environment")
    venv.create(directory, with_pip=True)
    return directory / "bin" / "python"


@pytest.fixture
def checkout(tmp_path) -> Path:
    """A checkout of version 0.1.0, whose sources are older than all that a test makes."""
    (tmp_path / ".ci").mkdir()
    (tmp_path / ".ci" / "install").write_text(SCRIPT.read_text())
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'universe-client'\nversion = '0.1.0'\n")
    (tmp_path / "vnc").mkdir()
    (tmp_path / "vnc" / "drivers.py").touch()
    os.utime(tmp_path / "vnc" / "drivers.py", (0, 0))
    return tmp_path


def make_wheel(directory: Path, version: str = "0.1.0") -> Path:
    directory.mkdir(exist_ok=True)
    wheel, info = (
        directory / f"universe_client-{version}-py3-none-any.whl",
        f"universe_client-{version}.dist-info",
    )
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("vnc/drivers.py", DRIVERS)
        archive.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: universe-client\nVersion: {version}\n"
        )
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return wheel


def install(python: Path, checkout: Path, *options: str) -> str:
    command = [python, checkout / ".ci" / "install", *options]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=240).stdout


def chosen(python: Path, checkout: Path, monkeypatch, where: str) -> tuple[Path | None, str]:
    loader = SourceFileLoader("install", str(checkout / ".ci" / "install"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    module = module_from_spec(spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setattr(sys, "prefix", str(python.parents[1]))
    scratch = checkout / "scratch"
    scratch.mkdir()
    return module.choose_wheel(where, scratch)


def test_a_wheel_of_this_version_is_installed(python, checkout):
    make_wheel(checkout / "dist")
    told = install(python, checkout)
    assert told == (
        "native driver, from the wheel universe_client-0.1.0-py3-none-any.whl in dist: nothing to compile\n"
    )
    assert subprocess.run([python, "-Ic", "import vnc.drivers"], timeout=60).returncode == 0


def test_wheels_may_be_elsewhere(python, checkout):
    make_wheel(checkout / "elsewhere")
    assert "in elsewhere: nothing to compile" in install(python, checkout, "--wheels", "elsewhere")


def test_a_wheel_of_another_version_is_left_alone(python, checkout, monkeypatch):
    make_wheel(checkout / "dist", "0.2.0")
    wheel, why = chosen(python, checkout, monkeypatch, "dist")
    assert wheel is None
    assert why == "there is no wheel of 0.1.0 for this Python in dist"


def test_a_wheel_older_than_the_sources_is_left_alone(python, checkout, monkeypatch):
    os.utime(make_wheel(checkout / "dist"), (1, 1))
    (checkout / "vnc" / "drivers.py").touch()
    wheel, why = chosen(python, checkout, monkeypatch, "dist")
    assert wheel is None
    assert why == "the wheel in dist is older than the sources"


def test_an_environment_for_development_keeps_the_sources(python, checkout, monkeypatch):
    make_wheel(checkout / "dist")
    mark = python.parents[1] / ".dev"
    mark.touch()
    try:
        assert chosen(python, checkout, monkeypatch, "dist") == (None, "this environment is for development")
    finally:
        mark.unlink()
