"""The documented commands for installing work from a checkout, with pip and with uv."""

from __future__ import annotations

import re
import subprocess
import tomllib
from itertools import combinations
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / name for name in listed.stdout.splitlines()]


def test_nothing_says_to_install_a_name_that_is_not_ours_on_an_index() -> None:
    files = [path for path in tracked("*.md", "*.py", "Makefile", "docker") if path != Path(__file__)]
    wrong = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in files
        if path.exists() and path.name != "CHANGELOG.md"
        for line in path.read_text(errors="replace").splitlines()
        if re.search(r"(pip install|uv add|uvx|pipx \w+)( -\S+)* ['\"]?universe-client\b", line)
    ]
    assert not wrong, "\n".join(wrong)


def test_every_extra_that_is_named_exists() -> None:
    extras = set(PROJECT["project"]["optional-dependencies"])
    for path in tracked("*.md", "*.py", "Makefile"):
        for named in re.findall(r"'\.\[([a-z0-9,-]+)\]'", path.read_text(errors="replace")):
            assert set(named.split(",")) <= extras, f"{path}: {named}"


def test_uv_is_told_which_extras_cannot_be_installed_together() -> None:
    """RLlib pins an older Gymnasium. Extras that need a newer one are declared as conflicts for uv."""
    conflicts = [{one["extra"] for one in pair} for pair in PROJECT["tool"]["uv"]["conflicts"]]
    extras = {
        name: {Requirement(one).name for one in wanted}
        for name, wanted in PROJECT["project"]["optional-dependencies"].items()
    }
    for one, other in combinations(extras, 2):
        packages = [extras[one], extras[other]]
        if any("ray" in wanted for wanted in packages) and any("miniwob" in wanted for wanted in packages):
            assert {one, other} in conflicts
