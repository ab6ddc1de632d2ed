"""The site's build: `make docs`. Sphinx reads the Markdown pages and the docstrings of the installed package."""

from __future__ import annotations

import argparse
import re

import universe_client

project = "universe-client"
author = "The universe-client authors"
copyright = "the universe-client authors"
version = release = universe_client.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_reredirects",
]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "universe-client"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False

# Former addresses of pages.
redirects = {
    "cluster": "guides/cluster.html",
    "compatibility": "reference/compatibility.html",
    "computer-use": "models/computer-use.html",
    "hands": "models/hands.html",
    "hands-vendors": "models/vendors.html",
    "learning": "guides/learning.html",
    "remotes": "remotes/index.html",
    "remotes-browser": "remotes/browser.html",
    "remotes-desktop": "remotes/desktop.html",
    "scale": "guides/scale.html",
    "timed-actions": "guides/timed-actions.html",
}

default_role = "code"  # docstrings write `name`, as Markdown does
myst_heading_anchors = 3
myst_enable_extensions = ["attrs_inline"]
autoclass_content = "both"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_type_aliases = {name: name for name in ("ActionN", "ObservationN", "StepResult", "Frame")}
autodoc_preserve_defaults = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
python_use_unqualified_type_names = True
add_module_names = False


def _info() -> str:
    from universe_client.core.info import SCHEMA

    rows = [f"| `{key}` | `{default!r}` | {meaning} |" for key, (default, meaning) in SCHEMA.items()]
    return "\n".join(["| key | when there is no value | meaning |", "|---|---|---|", *rows])


def _cli() -> str:
    from universe_client.cli.main import COMMANDS, command_parser

    actions = command_parser(COMMANDS)._actions
    commands = next(action for action in actions if isinstance(action, argparse._SubParsersAction))
    return "\n\n".join(
        f"## {name}\n\n```text\n{command.format_help().rstrip()}\n```"
        for name, command in commands.choices.items()
    )


_GENERATED = {"info": _info, "cli": _cli}


def _generate(app: object, page: str, source: list[str]) -> None:
    source[0] = re.sub(
        r"^<!-- generated: (\w+) -->$", lambda match: _GENERATED[match[1]](), source[0], flags=re.MULTILINE
    )


def _edit_docstring(
    app: object, what: str, name: str, thing: object, options: object, lines: list[str]
) -> None:
    """Show the indented lines under `Example:` as a code block, and let letters follow a `name`, as in Markdown."""
    if what == "property":
        lines.insert(0, "")  # otherwise Napoleon takes the text before a colon for the type
    for index, line in enumerate(lines):
        if line.strip() == "Example:":
            lines[index : index + 1] = [f"{line.replace(':', '')}::", ""]
            return
        lines[index] = re.sub(r"(?<!`)(`[^`]+`)(?=\w)", r"\1\\ ", line)


def setup(app: object) -> None:
    """Have the generated parts of pages filled in as they are read."""
    app.connect("source-read", _generate)  # type: ignore[attr-defined]
    app.connect("autodoc-process-docstring", _edit_docstring, priority=100)  # type: ignore[attr-defined]
