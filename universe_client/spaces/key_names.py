"""The names of keysyms, for people and for columns of data."""

from __future__ import annotations

from vnc.keysyms import X11

_NAMES = {code: name for name, code in reversed(X11.items())}
_UNICODE = 0x01000000


def key_name(keysym: int) -> str:
    """Return the X11 name of a keysym, or the character of one that has no name."""
    name = _NAMES.get(keysym)
    if name is None and _UNICODE <= keysym <= _UNICODE + 0x10FFFF:
        name = chr(keysym - _UNICODE)
    return name or f"{keysym:#x}"
