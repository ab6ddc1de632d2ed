"""tests/compatibility.md: it has every row of the reference systems, and the tests that it names exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "tests" / "compatibility.md"


def numbered(**counts: int) -> list[str]:
    return [f"{kind}{number}" for kind, count in counts.items() for number in range(1, count + 1)]


def rows() -> list[tuple[str, str]]:
    """The number and the tests of each row."""
    return re.findall(r"^\| ([A-Z]\d+) \|.*\| (.*) \|$", DOCUMENT.read_text(), re.MULTILINE)


def test_every_row_appears_once():
    assert [row for row, _ in rows()] == numbered(V=12, R=8, O=10, U=14, P=11, S=8, C=3)


def test_every_row_names_tests_that_exist():
    for row, tests in rows():
        named = re.findall(r"`(tests/\S+/test_\w+\.py)::(test_\w+)`", tests)
        assert named, row
        for file, name in named:
            assert name in functions(ROOT / file), f"{row}: {file}::{name}"


@cache
def functions(path: Path) -> set[str]:
    """The names of a file's functions. The file is parsed, not imported, because some files import learners."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return {node.name for node in ast.parse(path.read_text()).body if isinstance(node, kinds)}
