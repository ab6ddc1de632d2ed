"""Key names to keysyms; the numbers are X11's keysymdef.h."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vnc.keysyms import ALIASES, X11, keysym


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("Left", 0xFF51), ("left", 0xFF51), ("ArrowLeft", 0xFF51), ("arrowup", 0xFF52), ("Right", 0xFF53),
        ("Return", 0xFF0D), ("enter", 0xFF0D), ("KP_Enter", 0xFF8D), ("kpenter", 0xFF8D), ("esc", 0xFF1B),
        ("Page_Up", 0xFF55), ("pgup", 0xFF55), ("bsp", 0xFF08), ("del", 0xFFFF), ("F1", 0xFFBE), ("f12", 0xFFC9),
        ("ctrl", 0xFFE3), ("lctrl", 0xFFE3), ("rctrl", 0xFFE4), ("Control_R", 0xFFE4), ("shift", 0xFFE1),
        ("rshift", 0xFFE2), ("alt", 0xFFE9), ("ralt", 0xFFEA), ("super", 0xFFEB), ("cmd", 0xFFEB),
        ("space", 0x20), ("spacebar", 0x20), ("slash", 0x2F), ("bslash", 0x5C), ("kp5", 0xFFB5),
        ("a", 0x61), ("A", 0x41), ("~", 0x7E), (" ", 0x20), ("ä", 0xE4), ("ÿ", 0xFF), ("€", 0x010020AC),
        ("λ", 0x010003BB), ("🙂", 0x0101F642), ("\n", 0xFF0D), ("\t", 0xFF09), ("\b", 0xFF08), ("\x1b", 0xFF1B),
        ("adiaeresis", 0xE4), (0xFF51, 0xFF51), (1, 1), (0x1FFFFFFF, 0x1FFFFFFF),
    ],
)  # fmt: skip
def test_names_characters_and_numbers(name, code):
    assert keysym(name) == code


@pytest.mark.parametrize(
    "key", ["", "no such key", "Leftt", "\x00", "\x7f", "\x85", 0, -1, 0x20000000, 1 << 40]
)
def test_what_names_no_key_is_a_value_error(key):
    with pytest.raises(ValueError, match=r"key"):
        keysym(key)


@given(st.characters())
def test_every_character_has_a_keysym_or_is_a_control_character(character):
    try:
        code = keysym(character)
    except ValueError:
        assert ord(character) < 0xA0
        assert not 0x20 <= ord(character) <= 0x7E
    else:
        assert 0 < code <= 0x1FFFFFFF


def test_x11s_own_names_win_over_ours():
    for name, code in X11.items():
        if len(name) > 1 and code:
            assert keysym(name) == code
    assert all(keysym(alias.upper()) for alias in ALIASES)
