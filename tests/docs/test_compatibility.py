"""docs/compatibility.md: every row of the reference systems, with tests that exist; of interfaces, lines of use."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "compatibility.md"


def numbered(**counts: int) -> list[str]:
    return [f"{kind}{number}" for kind, count in counts.items() for number in range(1, count + 1)]


ROWS = numbered(V=12, R=8, O=10)
TABLE_ROWS = numbered(U=14, P=11, S=8, C=3)


def sections() -> dict[str, str]:
    """The text under each row's heading."""
    _, *parts = re.split(r"^### (\w+) · ", DOCUMENT.read_text(), flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def table() -> dict[str, str]:
    """The last column of each row of the tables of systems that are not used, but spoken to."""
    rows = re.findall(r"^\| ([UPSC]\d+) \|.*\| (.*) \|$", DOCUMENT.read_text(), re.MULTILINE)
    assert len(rows) == len(dict(rows))
    return dict(rows)


def test_every_row_is_there_once():
    assert list(sections()) == ROWS
    assert list(table()) == TABLE_ROWS


def test_every_row_shows_its_use_in_three_lines_of_python():
    for row, text in sections().items():
        (code,) = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[:1]
        assert len(re.findall(r"^.+$", code, re.MULTILINE)) == 3, row
        compile(code, row, "exec")


def test_every_row_names_tests_that_there_are():
    for row, text in (sections() | table()).items():
        named = re.findall(r"`(tests/\S+/test_\w+\.py)::(test_\w+)`", text)
        assert named, row
        for file, name in named:
            assert name in functions(ROOT / file), f"{row}: {file}::{name}"


@cache
def functions(path: Path) -> set[str]:
    """The functions of a file, not imported: some import learners."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return {node.name for node in ast.parse(path.read_text()).body if isinstance(node, kinds)}
