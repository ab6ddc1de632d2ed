"""What reaches rich is text: an address such as [fe80::1], a path or somebody's words may look like its markup."""

from __future__ import annotations

import ast
from pathlib import Path

import universe_client

PACKAGE = Path(universe_client.__file__).parent


def test_no_console_of_the_command_line_reads_markup() -> None:
    consoles = [
        (path.name, node)
        for path in PACKAGE.rglob("*.py")
        if "from rich.console import" in path.read_text()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Console"
    ]
    assert len(consoles) > 5
    for name, node in consoles:
        options = {option.arg: ast.unparse(option.value) for option in node.keywords}
        assert options.get("markup") == "False", f"{name}:{node.lineno}"
