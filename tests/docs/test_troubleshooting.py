"""docs/guides/troubleshooting.md quotes messages that the code contains."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "guides" / "troubleshooting.md"
NOT_OURS = {"Connection refused", "No module named 'docker'", "security types 30 (Apple)"}
"""Messages of the operating system and of Python, and one that is an example."""


def quoted() -> Iterator[str]:
    """The messages in the first column, without names such as `PeerLost` and `mode="realtime"`."""
    for cell in re.findall(r"^\| (.*?) \|", PAGE.read_text(), re.MULTILINE):
        yield from (
            message
            for message in re.findall(r"`([^`]+)`", cell)
            if " " in message and message not in NOT_OURS
        )


def texts() -> Iterator[str]:
    """Every string of the Python packages that is not a docstring, and the text of other sources."""
    for package in ("universe_client", "rewarder", "vnc", "wrappers"):
        for path in (ROOT / package).rglob("*.py"):
            yield from strings(ast.parse(path.read_text()))
    for path in (ROOT / "Makefile", *(ROOT / "vnc" / "core" / "rfb" / "src").rglob("*.rs")):
        yield path.read_text()


def strings(module: ast.Module) -> Iterator[str]:
    """The strings of a module, with U+0000 for each formatted value."""
    nodes = list(ast.walk(module))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        match node:
            case ast.Constant(value=str(value)) if id(node) not in docstrings:
                yield value
            case ast.JoinedStr(values=parts):
                yield "".join(part.value if isinstance(part, ast.Constant) else "\0" for part in parts)


def test_every_quoted_message_exists():
    code = "\n".join(texts())
    missing = [
        message
        for message in quoted()
        if not re.search("[^\n]*?".join(re.escape(part.strip()) for part in message.split("...")), code)
    ]
    assert not missing


def test_the_page_quotes_messages():
    assert len(list(quoted())) > 40
