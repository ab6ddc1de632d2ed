"""Every member of Anthropic's tools, and every argument that the SDK's types have."""

from __future__ import annotations

import pytest
from anthropic.types import beta
from anthropic.types.beta.beta_computer_member_name import BetaComputerMemberName

from universe_client.hands import (
    ButtonDown,
    ButtonUp,
    Click,
    Drag,
    Hold,
    InvalidAction,
    Move,
    Press,
    Scroll,
    Type,
    Wait,
)
from universe_client.hands.vendors.members import ACTS, LOOKS, Arguments, actions_of, parse

AT = {"coordinate": [3, 4]}
CLICKS = {
    "left_click": ("left", 1),
    "right_click": ("right", 1),
    "middle_click": ("middle", 1),
    "double_click": ("left", 2),
    "triple_click": ("left", 3),
}
HELD = {"text": "ctrl+shift"}
DRAG = {"start_coordinate": [1, 2], **AT}
ROWS = [
    ("key", {"text": "ctrl+s"}, [Press("ctrl+s")]),
    ("key", {"text": "Down", "repeat": 100}, [Press("Down", repeat=100)]),
    ("key", {"text": "ctrl+a Delete", "repeat": 2}, [Press("ctrl+a"), Press("Delete")] * 2),
    ("key", {"text": " "}, [Press("space")]),
    ("hold_key", {"text": "shift", "duration": 2}, [Hold("shift", 2)]),
    ("type", {"text": "größer\n"}, [Type("größer\n")]),
    ("mouse_move", AT, [Move(3, 4)]),
    ("left_mouse_down", {}, [ButtonDown()]),
    ("left_mouse_up", {}, [ButtonUp()]),
    *((name, AT, [Click(3, 4, *how)]) for name, how in CLICKS.items()),
    *((name, {}, [Click(None, None, *how)]) for name, how in CLICKS.items()),
    *((name, AT | HELD, [Click(3, 4, *how, modifiers=("ctrl", "shift"))]) for name, how in CLICKS.items()),
    ("left_click_drag", DRAG, [Drag([(1, 2), (3, 4)])]),
    ("left_click_drag", DRAG | {"text": "alt"}, [Drag([(1, 2), (3, 4)], modifiers=("alt",))]),
    ("scroll", AT | {"scroll_direction": "down", "scroll_amount": 5}, [Scroll(3, 4, dy=5)]),
    ("scroll", AT | {"scroll_direction": "up", "scroll_amount": 5}, [Scroll(3, 4, dy=-5)]),
    ("scroll", AT | {"scroll_direction": "left", "scroll_amount": 1}, [Scroll(3, 4, dx=-1)]),
    ("scroll", AT | {"scroll_direction": "right", "scroll_amount": 1}, [Scroll(3, 4, dx=1)]),
    ("scroll", {"scroll_direction": "down", "scroll_amount": 3}, [Scroll(dy=3)]),
    (
        "scroll",
        {"scroll_direction": "down", "scroll_amount": 3, "text": "ctrl"},
        [Scroll(dy=3, modifiers=("ctrl",))],
    ),
    ("wait", {"duration": 300}, [Wait(300)]),
]
"""A member, its arguments, and what is played."""
OLDER = [
    ("left_click", AT | {"key": "ctrl"}, [Click(3, 4, modifiers=("ctrl",))]),
    ("left_click_drag", AT, [ButtonDown(), Move(3, 4), ButtonUp()]),
    ("wait", {"duration": 0.5}, [Wait(0.5)]),
]
"""What only the older tools have."""
LOOKED = {"screenshot": {}, "cursor_position": {}, "zoom": {"region": [0, 0, 10, 10]}}
MEMBERS = BetaComputerMemberName.__args__


def model_of(member):
    """The SDK's own type of the member's input."""
    return getattr(beta, f"BetaComputer{''.join(part.title() for part in member.split('_'))}Input", None)


def fields_of(member):
    model = model_of(member)
    return set() if model is None else set(model.model_fields)


@pytest.mark.parametrize(("member", "arguments", "played"), ROWS + OLDER)
def test_a_row(member, arguments, played):
    assert actions_of(member, parse(arguments)) == played


@pytest.mark.parametrize(("member", "arguments", "played"), [row for row in ROWS if row[1]])
def test_the_arguments_of_a_row_are_those_of_the_sdk(member, arguments, played):
    assert model_of(member).model_validate(arguments, strict=True).to_dict() == arguments
    assert set(arguments) <= fields_of(member)


def test_there_is_a_row_for_every_member_and_argument_of_the_sdk():
    covered = {(member, name) for member, arguments, _ in ROWS for name in arguments}
    covered |= {(member, name) for member, arguments in LOOKED.items() for name in arguments}
    assert len(MEMBERS) == 17 and set(MEMBERS) == {*ACTS, *LOOKS}
    assert set(MEMBERS) == {member for member, _, _ in ROWS} | set(LOOKED)
    assert covered == {(member, name) for member in MEMBERS for name in fields_of(member)}


@pytest.mark.parametrize(
    ("member", "arguments", "words"),
    [
        ("fly", {}, "there is no action 'fly'; there are key, "),
        ("key", {}, "the argument 'text' is missing"),
        ("key", {"text": "a", "repeat": 101}, "repeat=101 is out of range: 1 to 100"),
        ("key", {"text": "a", "repeat": 0}, "repeat=0 is out of range: 1 to 100"),
        ("hold_key", {"text": "a"}, "the argument 'duration' is missing"),
        ("hold_key", {"text": "a", "duration": 301}, "duration=301 is out of range: 0 to 300"),
        ("wait", {"duration": -1}, "duration=-1 is out of range: 0 to 300"),
        ("mouse_move", {}, "the argument 'coordinate' is missing"),
        ("mouse_move", {"coordinate": [1]}, "coordinate"),
        ("mouse_move", {"coordinate": [1.5, 2]}, "coordinate"),
        ("mouse_move", {"coordinate": "1, 2"}, "coordinate"),
        ("scroll", {"scroll_amount": 1}, "the argument 'scroll_direction' is missing"),
        ("scroll", {"scroll_direction": "in", "scroll_amount": 1}, "scroll_direction"),
        ("scroll", {"scroll_direction": "up", "scroll_amount": 101}, "scroll_amount=101 is out of range"),
        ("type", {"text": None}, "the argument 'text' is missing"),
        ("type", {"text": 5}, "text"),
    ],
)
def test_what_cannot_be_played_is_said_in_words(member, arguments, words):
    with pytest.raises(InvalidAction, match=words):
        actions_of(member, parse(arguments))


def test_unknown_arguments_are_ignored():
    assert parse({"text": "a", "from_the_future": [1]}) == Arguments(text="a")
