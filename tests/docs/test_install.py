"""What tells people to install something says what works from a checkout: no index has the distribution."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("docs", "examples", "rewarder", "universe_client", "vnc", "wrappers", "docker", "benchmarks")
SUFFIXES = {".md", ".py", ".toml", ".yaml"}


def test_nothing_says_to_install_the_distribution_by_its_name():
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES]
    for path in [*ROOT.glob("*.md"), *files]:
        found = re.search(r"(pip install|uv add)[^\n]*universe-client", path.read_text())
        assert found is None or "checkout of universe-client" in found[0], f"{path}: {found[0]}"
