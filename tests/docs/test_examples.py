"""docs/examples.md: every example is told of, and there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from universe_client.cli.main import main

ROOT = Path(__file__).parents[2]


def test_every_example_is_in_the_list_and_nothing_else():
    listed = re.findall(r"\(\.\./examples/(\w+\.py)\)", (ROOT / "docs" / "examples.md").read_text())
    assert sorted(listed) == sorted(path.name for path in (ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("page", ["README.md", "docs/examples.md"])
def test_the_agent_of_the_page_is_one_for_the_command_line(page, tmp_path, monkeypatch):
    (block,) = [
        block
        for block in re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
        if block.startswith("def act(")
    ]
    module = f"agent_of_{Path(page).stem.lower()}"
    (tmp_path / f"{module}.py").write_text(block)
    monkeypatch.chdir(tmp_path)
    assert main(["run", "builtin.NeonDrive-v0", "--seconds", "0.1", "--agent", f"{module}:act"]) == 0
