"""Words of a peer, harmless from where they enter: what a terminal, a log or a page might act on is replaced there."""

from __future__ import annotations

import re
from typing import Any

_HARMFUL = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # C0 and C1 controls: escape sequences, the bell, line ends
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"  # not to be seen
    "\u2028\u2029"  # line ends
    "\u202a-\u202e"  # and, with 200e, 200f and 2066-2069 above, what changes the direction of writing
    "\ud800-\udfff"  # no text: half characters, and bytes that could not be decoded
    "]"
)
_HARMFUL_IN_DATA = re.compile(_HARMFUL.pattern.replace("\x00-\x1f", "\x00-\x08\x0b-\x1f"))
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def clean(text: str) -> str:
    """Return `text` as one line of what can be seen, each other character replaced."""
    return text if text.isprintable() else _HARMFUL.sub(_REPLACEMENT, text)


def clean_data(value: Any) -> Any:
    """Return a JSON value that an agent reads: line ends and tabs stay in its strings, and not in its keys."""
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
