"""docs/reliability.md: its rows are F1 to F47, and the tests that hold them name them as the page does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.faults.rows import NEEDS_DOCKER, titles

TESTS = Path(__file__).parents[1] / "faults"


def test_every_row_is_there_once():
    assert list(titles()) == [f"F{number}" for number in range(1, 48)]
    assert titles().keys() >= NEEDS_DOCKER


def test_every_marker_names_a_row_by_its_title():
    wrong = [marker for marker in markers() if titles().get(marker[0]) != marker[1]]
    assert not wrong


def markers() -> Iterator[tuple[str, str]]:
    """The arguments of every `fault` marker, not imported: some files need Docker."""
    for path in TESTS.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Call(
                    func=ast.Attribute(attr="fault"), args=[ast.Constant(row), ast.Constant(title)]
                ):
                    yield row, title
