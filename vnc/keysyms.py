"""X11 keysyms by key name or character: the names of X11, those of OpenAI Universe, and any character."""

from __future__ import annotations

from functools import lru_cache

from keysymdef import keysymdef

X11: dict[str, int] = {name: code for name, code, _ in keysymdef}
"""The keysyms of X11 (keysymdef.h) by name, which is case-sensitive."""

_ARROWS = {"up": "Up", "down": "Down", "left": "Left", "right": "Right"}
_MODIFIERS = ("shift", "ctrl", "meta", "alt", "super", "hyper")
_CONTROL_CHARACTERS = {"\b": "BackSpace", "\t": "Tab", "\n": "Return", "\r": "Return", "\x1b": "Escape"}

_MAX_KEYSYM = 0x1FFFFFFF  # X11 keysyms are 29 bits


def _x11_name(modifier: str, side: str) -> str:
    return {"ctrl": "Control"}.get(modifier, modifier.capitalize()) + f"_{side.upper()}"


ALIASES: dict[str, int] = {
    alias: X11[name]
    for alias, name in {
        "bsp": "BackSpace",
        "tab": "Tab",
        "return": "Return",
        "enter": "Return",
        "esc": "Escape",
        "ins": "Insert",
        "del": "Delete",
        "delete": "Delete",
        "home": "Home",
        "end": "End",
        "pgup": "Page_Up",
        "pgdn": "Page_Down",
        "space": "space",
        "spacebar": "space",
        "sb": "space",
        "fslash": "slash",
        "bslash": "backslash",
        "kpenter": "KP_Enter",
        "scrlk": "Scroll_Lock",
        "sysrq": "Sys_Req",
        "numlk": "Num_Lock",
        "caplk": "Caps_Lock",
        "pause": "Pause",
        "backspace": "BackSpace",
        "escape": "Escape",
        "cmd": "Super_L",
        **_ARROWS,
        **{f"arrow{name}": x11 for name, x11 in _ARROWS.items()},
        **{f"f{number}": f"F{number}" for number in range(1, 36)},
        **{f"kp{digit}": f"KP_{digit}" for digit in range(10)},
        **{f"{side}{modifier}": _x11_name(modifier, side) for modifier in _MODIFIERS for side in "lr"},
        **{modifier: _x11_name(modifier, "l") for modifier in _MODIFIERS},
    }.items()
}
"""Keysyms by the key names of OpenAI Universe and other common names; `keysym` ignores their case.

The names of X11 take precedence. In Universe `slash` was the backslash; here it is the slash, as in X11.
"""


@lru_cache(maxsize=4096)
def keysym(key: str | int) -> int:
    """Return the X11 keysym of a key, as RFC 6143 section 7.5.4 uses it.

    Args:
        key: a keysym number, one character ("a", "€"), a name of X11 ("Page_Up") or a name in `ALIASES`.

    Returns:
        The keysym, 1 to 0x1fffffff.

    Raises:
        ValueError: no key has this name or number.
    """
    if isinstance(key, int):
        if not 0 < key <= _MAX_KEYSYM:
            raise ValueError(f"keysym {key} is not within 1..{_MAX_KEYSYM:#x}")
        return key
    if len(key) == 1:
        return _character(key)
    code = X11.get(key) or ALIASES.get(key.lower())
    if code is None:
        raise ValueError(f"no key is called {key!r}: give a character, an X11 keysym name or a keysym number")
    return code


def _character(character: str) -> int:
    """Return the code point of a Latin-1 character; of others, the code point plus 0x01000000 (X11 appendix A)."""
    if character in _CONTROL_CHARACTERS:
        return X11[_CONTROL_CHARACTERS[character]]
    point = ord(character)
    if 0x20 <= point <= 0x7E or 0xA0 <= point <= 0xFF:
        return point
    if point < 0xA0:
        raise ValueError(f"no key types the control character {character!r}")
    return 0x01000000 + point
