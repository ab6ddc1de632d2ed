"""docs/examples.md lists every example, and its agent runs."""

from __future__ import annotations

import re
from pathlib import Path

from universe_client.cli.main import main

ROOT = Path(__file__).parents[2]


def test_the_page_lists_the_files_of_the_folder():
    listed = re.findall(r"\(\.\./examples/(\w+\.py)\)", (ROOT / "docs" / "examples.md").read_text())
    assert sorted(listed) == sorted(path.name for path in (ROOT / "examples").glob("*.py"))


def test_the_agent_of_the_page_runs_on_the_command_line(tmp_path, monkeypatch):
    page = (ROOT / "docs" / "examples.md").read_text()
    (block,) = re.findall(r"```python\n(def act\(.*?)```", page, re.DOTALL)
    (tmp_path / "agent_of_examples.py").write_text(block)
    monkeypatch.chdir(tmp_path)
    assert main(["run", "builtin.NeonDrive-v0", "--seconds", "0.1", "--agent", "agent_of_examples:act"]) == 0
