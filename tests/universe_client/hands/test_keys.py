"""Keys by the names that models write."""

from __future__ import annotations

import pytest

from universe_client.hands import InvalidAction, parse_keys
from universe_client.hands.keys import parse_modifiers, text_keysyms
from vnc.keysyms import X11


@pytest.mark.parametrize(
    ("keys", "names"),
    [
        ("ctrl+s", ["Control_L", "s"]),
        ("CTRL+S", ["Control_L", "s"]),
        ("Ctrl + Shift + t", ["Control_L", "Shift_L", "T"]),
        ("alt+Tab", ["Alt_L", "Tab"]),
        ("Page_Up", ["Page_Up"]),
        ("pageup", ["Page_Up"]),
        ("page_down", ["Page_Down"]),
        ("RETURN", ["Return"]),
        ("Enter", ["Return"]),
        ("esc", ["Escape"]),
        ("backspace", ["BackSpace"]),
        ("BackSpace", ["BackSpace"]),
        ("super", ["Super_L"]),
        ("cmd+c", ["Super_L", "c"]),
        ("WIN", ["Super_L"]),
        ("option+x", ["Alt_L", "x"]),
        ("control+Delete", ["Control_L", "Delete"]),
        ("arrowleft", ["Left"]),
        ("f5", ["F5"]),
        ("ctrl+F4", ["Control_L", "F4"]),
        ("shift+1", ["Shift_L", "exclam"]),
        ("shift+slash", ["Shift_L", "question"]),
        ("shift+F10", ["Shift_L", "F10"]),
        ("+", ["plus"]),
        ("ctrl++", ["Control_L", "plus"]),
        ("ctrl+plus", ["Control_L", "plus"]),
        ("ctrl+minus", ["Control_L", "minus"]),
        ("A", ["A"]),
        (" ", ["space"]),
        ("space", ["space"]),
        ("é", ["eacute"]),
        ("KP_Enter", ["KP_Enter"]),
        ("dead_acute", ["dead_acute"]),
        ("XF86Back", ["XF86Back"]) if "XF86Back" in X11 else ("Menu", ["Menu"]),
    ],
)
def test_names(keys, names):
    assert parse_keys(keys) == tuple(X11[name] for name in names)


@pytest.mark.parametrize("keys", ["", "ctrl+", "+s", "ctrl+boo", "boo", "ctrl++s", "\0"])
def test_what_is_no_key(keys):
    with pytest.raises(InvalidAction):
        parse_keys(keys)


def test_similar_names_are_recommended():
    with pytest.raises(InvalidAction, match="no key is called 'Retrun' in 'Retrun': did you mean return"):
        parse_keys("Retrun")


def test_modifiers():
    assert (
        parse_modifiers(["ctrl", "shift"])
        == parse_modifiers(["ctrl+shift"])
        == (X11["Control_L"], X11["Shift_L"])
    )
    with pytest.raises(InvalidAction, match="'Return' is not a modifier"):
        parse_modifiers(["Return"])


def test_a_text_is_one_keysym_per_composed_character():
    assert text_keysyms("aé€\r\n\t😀") == [0x61, 0xE9, 0x010020AC, 0xFF0D, 0xFF09, 0x0101F600]
    assert text_keysyms("e\N{COMBINING ACUTE ACCENT}") == [0xE9]
