"""Every code block of the README and the docs runs, or a comment above it gives the reason why it does not.

`<!-- not run: REASON -->` skips the next block. `<!-- file: NAME -->` saves it to a file instead of running it. The
blocks of a page run in order in one empty directory: shell blocks with `bash -eu`, Python blocks in one namespace.
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

from rewarder.protocol.codec import decode
from rewarder.protocol.messages import UnknownMessage

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
LANGUAGES = {"python", "sh", "json", "toml", "yaml", "html", "text", "dockerfile", "{eval-rst}", "{toctree}"}
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


def name(page: Path) -> str:
    return page.relative_to(ROOT).with_suffix("").as_posix().removeprefix("docs/")


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text("utf-8")
    for found in _BLOCK.finditer(text):
        line = text.count("\n", 0, found.start("language")) + 1
        yield Block(found["language"].strip(), found["code"], found["comments"], line)


def program(page: Path) -> str:
    """Return the page as one Python program whose tracebacks have the line numbers of the page."""
    parts = []
    for block in blocks(page):
        if block.file:
            parts.append(f"open({block.file!r}, 'w').write({block.code!r})")
        elif block.runs and block.language == "sh":
            parts.append(f"subprocess.run(['bash', '-euc', {block.code!r}], check=True)")
        elif block.runs:
            code = "\n" * block.line + block.code
            parts.append(f"exec(compile({code!r}, {page.name!r}, 'exec'), globals())")
    if not parts:
        return ""
    # The guard lets child processes of the `spawn` method import this file without running the page again.
    return "\n".join(["import subprocess", "if __name__ == '__main__':", *(f"    {part}" for part in parts)])


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_each_block_names_its_language(page):
    unknown = [block for block in blocks(page) if block.language not in LANGUAGES]
    assert not unknown, [f"{page.name}:{block.line}: {block.language!r}" for block in unknown]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("page", [page for page in PAGES if program(page)], ids=name)
def test_the_blocks_of_a_page_run(page, tmp_path):
    (tmp_path / "page.py").write_text(program(page))
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
    }
    result = subprocess.run(
        [sys.executable, "page.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=540,
    )
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-4000:]


def test_the_messages_of_the_protocol_page_can_be_decoded():
    page = ROOT / "docs" / "reference" / "protocol.md"
    messages = [block.code for block in blocks(page) if block.language == "json"]
    assert not [message for message in messages if isinstance(decode(message).message, UnknownMessage)]
    assert len({json.loads(message)["method"] for message in messages}) >= 14
