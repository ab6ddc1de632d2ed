"""Every code block of the README and the docs runs, or says in a comment above it why it does not.

`<!-- not run: REASON -->` leaves the next block out. `<!-- file: NAME -->` saves it instead of running it. The blocks
of a page run in order in one empty directory: shell blocks with `bash -e`, Python blocks in one namespace.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from rewarder.protocol.messages import UnknownMessage, decode

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NO_CODE = {"text", "{eval-rst}", "{toctree}", "dockerfile"}
_BLOCK = re.compile(
    r"^(?P<comments>(?:<!--.*?-->\n)*)```(?P<language>[^\n]*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Block:
    language: str
    code: str
    comments: str
    line: int

    @property
    def file(self) -> str | None:
        found = re.search(r"<!-- file: (\S+) -->", self.comments)
        return found and found[1]

    @property
    def runs(self) -> bool:
        return self.language in ("python", "sh") and not re.search(r"<!-- not run: \S.* -->", self.comments)


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text("utf-8")
    for found in _BLOCK.finditer(text):
        line = text.count("\n", 0, found.start("language")) + 1
        yield Block(found["language"].strip(), found["code"], found["comments"], line)


def program(page: Path) -> str:
    """The page as one Python program; a failure names the line of the page."""
    parts = []
    for block in blocks(page):
        if block.file:
            parts.append(f"open({block.file!r}, 'w').write({block.code!r})")
        elif block.runs and block.language == "sh":
            parts.append(f"subprocess.run(['bash', '-euc', {block.code!r}], check=True)")
        elif block.runs:
            code = "\n" * (block.line) + block.code
            parts.append(f"exec(compile({code!r}, {str(page.relative_to(ROOT))!r}, 'exec'))")
    if not parts:
        return ""
    return "\n".join(["import subprocess", "if __name__ == '__main__':", *(f"    {part}" for part in parts)])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_language_of_each_block_is_named(page):
    unknown = [b for b in blocks(page) if b.language not in NO_CODE | {"python", "sh", "json", "toml", "yaml"}]
    assert not unknown, [f"{page.name}:{block.line}: {block.language!r}" for block in unknown]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("page", [page for page in PAGES if program(page)], ids=lambda page: page.stem)
def test_the_blocks_of_a_page_run(page, tmp_path):
    (tmp_path / "page.py").write_text(program(page))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    result = subprocess.run(
        [sys.executable, "page.py"],
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=590,
        check=False,
    )
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-4000:]


def test_the_protocol_pages_messages_can_be_read():
    page = ROOT / "docs" / "reference" / "protocol.md"
    messages = [block.code for block in blocks(page) if block.language == "json"]
    methods = {json.loads(message)["method"] for message in messages}
    assert not [m for m in messages if isinstance(decode(m).message, UnknownMessage)]
    assert len(methods) >= 14
