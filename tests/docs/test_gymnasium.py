"""docs/gymnasium.md: the code that calls into remotes returns what its comments state."""

from __future__ import annotations

import re
from pathlib import Path

import gymnasium

import universe_client  # noqa: F401  (registers the ids)

PAGE = Path(__file__).parents[2] / "docs" / "gymnasium.md"


def test_what_is_inside_the_environments_is_reached_right_after_they_are_made():
    section = PAGE.read_text().partition("## Inside the environments")[2]
    block = re.search(r"```python\n(.*?)```", section, re.DOTALL)[1]
    made, _, calls = block.partition("\n)\n")
    names = {"gymnasium": gymnasium}
    exec(f"{made})", names)
    *asked, end = calls.splitlines()
    assert end == "envs.close()"
    with names["envs"]:
        for line in asked:
            call, _, told = line.partition("  # ")
            value = eval(call, names)
            assert not told or repr(value) == told.partition(":")[0]
