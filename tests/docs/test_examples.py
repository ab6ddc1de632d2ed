"""docs/examples.md: every example is told of, and there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_example_is_in_the_list_and_nothing_else():
    listed = re.findall(r"\(\.\./examples/(\w+\.py)\)", (ROOT / "docs" / "examples.md").read_text())
    assert sorted(listed) == sorted(path.name for path in (ROOT / "examples").glob("*.py"))
