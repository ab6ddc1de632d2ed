"""Replace control and invisible characters in a peer's text, on which a terminal, a log or a page could act."""

from __future__ import annotations

import re
from typing import Any

_HARMFUL = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # C0 and C1 controls: escape sequences, the bell, line ends
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"  # invisible
    "\u2028\u2029"  # line ends
    "\u202a-\u202e"  # and, with 200e, 200f and 2066-2069 above, what changes the direction of writing
    "\ud800-\udfff"  # surrogates, which encode invalid bytes
    "]"
)
_HARMFUL_IN_DATA = re.compile(_HARMFUL.pattern.replace("\x00-\x1f", "\x00-\x08\x0b-\x1f"))
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def clean(text: str) -> str:
    """Return `text` as one line of visible characters; replace each other character by U+FFFD."""
    return text if text.isprintable() else _HARMFUL.sub(_REPLACEMENT, text)


def clean_data(value: Any) -> Any:
    """Clean the strings of a JSON value. Line ends and tabs remain in values, but not in keys."""
    match value:
        case str():
            return value if value.isprintable() else _clean_lines(value)
        case list():
            return [clean_data(inner) for inner in value]
        case dict():
            return {clean(key): clean_data(inner) for key, inner in value.items()}
    return value


def _clean_lines(text: str) -> str:
    return _HARMFUL_IN_DATA.sub(_REPLACEMENT, text.replace("\r\n", "\n"))
