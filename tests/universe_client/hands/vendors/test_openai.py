"""OpenAI's tools over the SDK's own types, on a scripted remote with a screen of 24x16 pixels."""

from __future__ import annotations

import base64
import io

import numpy as np
import pydantic
import pytest
from openai import OpenAI
from openai.lib.computer import ComputerToolset, ComputerUseError
from openai.types.responses import (
    ComputerToolParam,
    ComputerUsePreviewToolParam,
    ResponseComputerToolCall,
    computer_action,
    response_computer_tool_call,
)
from openai.types.responses.response_input_item_param import ComputerCallOutput
from PIL import Image

from tests.support.remotes.remote import frame
from universe_client.hands import Click, Drag, InvalidAction, Move, Press, Scroll, Type, Wait
from universe_client.hands.fakes import FakeOpenAI, Turn
from universe_client.hands.vendors.openai import ComputerTool, Driver, NotApproved, actions_of
from vnc.events import PointerEvent

AT = {"x": 3, "y": 4}
ROWS = [
    ({"type": "click", "button": "left", **AT}, [Click(3, 4)]),
    ({"type": "click", "button": "right", **AT}, [Click(3, 4, button="right")]),
    ({"type": "click", "button": "wheel", **AT}, [Click(3, 4, button="middle")]),
    ({"type": "click", "button": "back", **AT}, [Click(3, 4, button="back")]),
    ({"type": "click", "button": "forward", **AT}, [Click(3, 4, button="forward")]),
    (
        {"type": "click", "button": "left", "keys": ["CTRL", "SHIFT"], **AT},
        [Click(3, 4, modifiers=("CTRL", "SHIFT"))],
    ),
    ({"type": "double_click", **AT}, [Click(3, 4, count=2)]),
    ({"type": "double_click", "keys": ["ALT"], **AT}, [Click(3, 4, count=2, modifiers=("ALT",))]),
    ({"type": "drag", "path": [{"x": 1, "y": 2}, {"x": 3, "y": 4}]}, [Drag([(1, 2), (3, 4)])]),
    (
        {"type": "drag", "path": [{"x": 1, "y": 2}, {"x": 3, "y": 4}], "keys": ["SHIFT"]},
        [Drag([(1, 2), (3, 4)], modifiers=("SHIFT",))],
    ),
    ({"type": "keypress", "keys": ["CTRL", "S"]}, [Press("CTRL+S")]),
    ({"type": "keypress", "keys": ["ARROWLEFT"]}, [Press("Left")]),
    ({"type": "keypress", "keys": ["CTRL", "+"]}, [Press("CTRL+plus")]),
    ({"type": "move", **AT}, [Move(3, 4)]),
    ({"type": "move", "keys": ["ALT"], **AT}, [Move(3, 4, modifiers=("ALT",))]),
    ({"type": "scroll", "scroll_x": 0, "scroll_y": 300, **AT}, [Scroll(3, 4, dy=3)]),
    ({"type": "scroll", "scroll_x": -120, "scroll_y": 0, **AT}, [Scroll(3, 4, dx=-1)]),
    ({"type": "scroll", "scroll_x": 1, "scroll_y": -1, **AT}, [Scroll(3, 4, dx=1, dy=-1)]),
    ({"type": "scroll", "scroll_x": 0, "scroll_y": 10**9, **AT}, [Scroll(3, 4, dy=100)]),
    (
        {"type": "scroll", "scroll_x": 0, "scroll_y": 100, "keys": ["CTRL"], **AT},
        [Scroll(3, 4, dy=1, modifiers=("CTRL",))],
    ),
    ({"type": "type", "text": "größer\n"}, [Type("größer\n")]),
    ({"type": "wait"}, [Wait(1.0)]),
    ({"type": "screenshot"}, []),
]
"""An action, and what is played."""
MODELS = {
    "click": "Click",
    "double_click": "DoubleClick",
    "drag": "Drag",
    "keypress": "Keypress",
    "move": "Move",
    "screenshot": "Screenshot",
    "scroll": "Scroll",
    "type": "Type",
    "wait": "Wait",
}


def models(kind):
    """The SDK's types of an action: of `computer`, and of `computer_use_preview`."""
    return [
        getattr(computer_action, MODELS[kind]),
        getattr(response_computer_tool_call, f"Action{MODELS[kind]}"),
    ]


def call_of(*actions, checks=(), preview=False):
    return ResponseComputerToolCall.model_validate(
        {
            "id": "cu_1",
            "call_id": "call_1",
            "type": "computer_call",
            "status": "completed",
            "pending_safety_checks": [{"id": "c1", "code": "malicious", "message": each} for each in checks],
            **({"action": actions[0]} if preview else {"actions": list(actions)}),
        }
    )


def picture(output):
    pydantic.TypeAdapter(ComputerCallOutput).validate_python(output)
    kind, _, data = output["output"]["image_url"].partition(";base64,")
    assert kind == "data:image/png"
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB"))


def tool_on(hands, **options):
    permits = {"approve": lambda checks: False, "confirm": lambda name, arguments: True}
    return ComputerTool(hands, **permits | options)


@pytest.mark.parametrize(("action", "played"), ROWS)
def test_a_row(action, played):
    for model in models(action["type"]):
        parsed = model.model_validate(action, strict=True)
        assert parsed.to_dict(exclude_none=True) == action
        assert actions_of(parsed) == played


def test_there_is_a_row_for_every_action_and_argument_of_the_sdk():
    covered = {(action["type"], name) for action, _ in ROWS for name in action}
    assert covered == {
        (kind, name) for kind in MODELS for model in models(kind) for name in model.model_fields
    }
    buttons = {action["button"] for action, _ in ROWS if "button" in action}
    assert buttons == set(computer_action.Click.model_fields["button"].annotation.__args__)


def test_the_tools_are_declared_as_the_sdk_says(computer):
    hands, _ = computer()
    entry = tool_on(hands).to_dict()
    pydantic.TypeAdapter(ComputerToolParam).validate_python(entry)
    assert entry == {"type": "computer"}
    entry = tool_on(hands, preview=True, environment="browser").to_dict()
    pydantic.TypeAdapter(ComputerUsePreviewToolParam).validate_python(entry)
    assert (entry["display_width"], entry["display_height"], entry["environment"]) == (24, 16, "browser")


def test_a_list_of_actions_is_one_call_and_one_settled_picture(computer):
    hands, remote = computer()
    click, move = {"type": "click", "button": "left", **AT}, {"type": "move", "x": 9, "y": 8}
    (output,) = tool_on(hands).answer(call_of(click, {"type": "screenshot"}, move))
    assert (picture(output) == frame(remote.episode)).all() and output["call_id"] == "call_1"
    assert output["acknowledged_safety_checks"] == []
    assert remote.events == [
        PointerEvent(3, 4, 0),
        PointerEvent(3, 4, 1),
        PointerEvent(3, 4, 0),
        PointerEvent(9, 8, 0),
    ]


def test_the_preview_tool_has_one_action_a_call(computer):
    hands, remote = computer()
    (output,) = tool_on(hands, preview=True).answer(call_of({"type": "move", **AT}, preview=True))
    assert picture(output).shape == (16, 24, 3) and remote.events == [PointerEvent(3, 4, 0)]


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ({"type": "click", "button": "left", "x": 24, "y": 4}, "x=24 is outside the picture, which is 24x16"),
        ({"type": "keypress", "keys": ["HYPERSPACE"]}, "no key is called 'HYPERSPACE'"),
        ({"type": "keypress", "keys": []}, "keypress without keys"),
        ({"type": "drag", "path": [AT]}, "a drag needs at least 2 points, not 1"),
        ({"type": "move", "keys": ["Q"], **AT}, "'Q' is not a modifier"),
    ],
)
def test_the_model_is_told_what_it_did_wrong_and_nothing_is_sent(computer, action, words):
    hands, remote = computer()
    output, said = tool_on(hands).answer(call_of({"type": "move", "x": 1, "y": 1}, action))
    assert picture(output).shape == (16, 24, 3)
    assert said["role"] == "user" and words in said["content"]
    assert remote.events == []


def test_safety_checks_are_asked_about_and_acknowledged(computer):
    hands, remote = computer()
    move = {"type": "move", **AT}
    with pytest.raises(NotApproved, match="safety checks were not acknowledged: a bank; a mail"):
        tool_on(hands).answer(call_of(move, checks=["a bank", "a mail"]))
    assert remote.events == []
    asked = []
    tool = tool_on(hands, approve=lambda checks: asked.append(checks) or True)
    (output,) = tool.answer(call_of(move, checks=["a bank"]))
    assert [check.message for check in asked[0]] == ["a bank"]
    assert output["acknowledged_safety_checks"] == [{"id": "c1", "code": "malicious", "message": "a bank"}]


def test_permission_is_asked_for_all_actions_before_the_first_is_played(computer):
    hands, remote = computer()
    asked = []

    def no_typing(name, arguments):
        asked.append((name, arguments.get("text")))
        return name != "type"

    moves = [{"type": "move", **AT}, {"type": "type", "text": "rm"}, {"type": "wait"}]
    output, said = tool_on(hands, confirm=no_typing).answer(call_of(*moves))
    assert picture(output).shape == (16, 24, 3) and "the user did not permit 'type'" in said["content"]
    assert asked == [("move", None), ("type", "rm")] and remote.events == []


def test_an_unknown_action_is_refused():
    with pytest.raises(InvalidAction, match="there is no action 'fly'"):
        actions_of(computer_action.Wait.model_construct(type="fly"))


# -- the SDK's own loop -----------------------------------------------------------------------------------------------


def test_the_loop_of_the_sdk_drives_a_computer(computer):
    hands, remote = computer()
    every = [action for action, _ in ROWS if action.get("button") not in ("back", "forward")]
    every = [action for action in every if abs(action.get("scroll_y", 0)) < 1000 and action["type"] != "wait"]
    turns = [Turn(every), Turn(text="All done.")]
    with FakeOpenAI(lambda seen: turns[seen.turn]) as api, OpenAI(base_url=api.url, api_key="none") as client:
        driven = ComputerToolset(Driver(hands))
        response = driven.run(client, {"model": "gpt-5.4", "input": "Do it all.", "store": True})
    assert response.output_text == "All done." and len(api.requests) == 2
    assert len(remote.events) > 30


def test_the_loop_of_the_sdk_ends_at_an_action_that_cannot_be_played(computer):
    hands, _ = computer()
    wrong = ResponseComputerToolCall.model_validate(
        call_of({"type": "click", "button": "left", "x": 99, "y": 0}).to_dict()
    )
    with pytest.raises((InvalidAction, ComputerUseError), match="x=99 is outside"):
        ComputerToolset(Driver(hands)).execute(wrong)
