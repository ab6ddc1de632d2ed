"""Keys by the names that language models write: those of xdotool in any case, joined by "+"."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from difflib import get_close_matches

from universe_client.hands.errors import InvalidAction
from vnc.keysyms import ALIASES, X11, keysym

_MORE = {
    "altgr": "ISO_Level3_Shift",
    "apps": "Menu",
    "capslock": "Caps_Lock",
    "command": "Super_L",
    "contextmenu": "Menu",
    "control": "Control_L",
    "numlock": "Num_Lock",
    "opt": "Alt_L",
    "option": "Alt_L",
    "pagedown": "Page_Down",
    "pageup": "Page_Up",
    "printscreen": "Print",
    "prtsc": "Print",
    "scrolllock": "Scroll_Lock",
    "win": "Super_L",
    "windows": "Super_L",
}
_SHIFTED = dict(zip("`1234567890-=[]\\;',./", '~!@#$%^&*()_+{}|:"<>?', strict=True))
"""What Shift makes of a key on a keyboard of the USA, which names such as "shift+1" mean."""


def _any_case() -> dict[str, int]:
    """Return keysyms by lower-case name; of names that differ in their case only, such as eth, the lower one."""
    names = {name.lower(): code for name, code in sorted(X11.items()) if len(name) > 1}
    return names | ALIASES | {name: X11[x11] for name, x11 in _MORE.items()}


_NAMES = _any_case()
_MODIFIERS = frozenset(
    X11[f"{name}_{side}"] for name in ("Shift", "Control", "Meta", "Alt", "Super", "Hyper") for side in "LR"
)
_SHIFTS = frozenset((X11["Shift_L"], X11["Shift_R"]))


def parse_keys(keys: str) -> tuple[int, ...]:
    """Return the keysyms of keys that are pressed together, in order.

    Args:
        keys: names joined by "+": "ctrl+s", "alt+Tab", "Page_Up", "+". A name is a character, a name of X11 as xdotool
            writes it, or another common one ("enter", "esc", "cmd", "pageup"), in any case. After another modifier
            than Shift, an upper-case letter means its key: "ctrl+S" is "ctrl+s".

    Raises:
        InvalidAction: a name is unknown or empty; the message has similar names.
    """
    names = _split(keys)
    codes = [_code(name, keys) for name in names]
    if len(codes) == 1:
        return tuple(codes)
    is_shifted = any(code in _SHIFTS for code in codes)
    return tuple(_together(code, is_shifted) for code in codes)


def parse_modifiers(names: Sequence[str]) -> tuple[int, ...]:
    """Return the keysyms of modifiers; each of `names` may join several with "+".

    Raises:
        InvalidAction: a name is not that of a modifier.
    """
    codes = tuple(code for name in names for code in parse_keys(name))
    for name in names:
        if not _MODIFIERS.issuperset(parse_keys(name)):
            raise InvalidAction(f"{name!r} is not a modifier: one of shift, ctrl, alt, super, meta, hyper")
    return codes


def text_keysyms(text: str) -> list[int]:
    """Return the keysyms that type `text`, one per character.

    Raises:
        InvalidAction: it contains a control character that no key types.
    """
    normal = unicodedata.normalize("NFC", text.replace("\r\n", "\n"))
    try:
        return [keysym(character) for character in normal]
    except ValueError as error:
        raise InvalidAction(
            f"the text cannot be typed: {error}; remove it, or press a key by its name"
        ) from None


def _split(keys: str) -> list[str]:
    """Split at "+"; an empty name where one is expected is the key "+" itself."""
    if keys == "+" or keys.endswith("++"):
        return [*(_split(keys[:-2]) if len(keys) > 2 else []), "plus"]
    return [name if name.isspace() else name.strip() for name in keys.split("+")]


def _code(name: str, keys: str) -> int:
    if len(name) == 1:
        return text_keysyms(name)[0]
    code = X11.get(name) or _NAMES.get(name.lower()) or _NAMES.get(name.lower().replace(" ", "_"))
    if code is None:
        similar = get_close_matches(name.lower(), _NAMES, 3)
        hint = (
            f"did you mean {' or '.join(similar)}?"
            if similar
            else "use xdotool names such as Return, ctrl, F5"
        )
        raise InvalidAction(f"no key is called {name!r} in {keys!r}: {hint}")
    return code


def _together(code: int, is_shifted: bool) -> int:
    """Return the keysym that a keyboard sends for a character of ASCII while modifiers are down."""
    if not 0x20 <= code <= 0x7E:
        return code
    character = chr(code)
    return ord(_SHIFTED.get(character, character.upper()) if is_shifted else character.lower())
