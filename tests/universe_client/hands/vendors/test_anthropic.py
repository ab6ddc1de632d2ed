"""Anthropic's tools over the SDK's own classes, on a scripted remote with a screen of 24x16 pixels."""

from __future__ import annotations

import asyncio
import base64
import io
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pydantic
import pytest
from anthropic.tools import ToolError, ToolsetConfigError
from anthropic.types.beta import (
    BetaToolComputerUse20241022Param,
    BetaToolComputerUse20250124Param,
    BetaToolComputerUse20251124Param,
    BetaToolResultBlockParam,
    BetaToolUseBlock,
)
from PIL import Image

from tests.support.remotes.remote import frame
from universe_client.errors import ConfigError
from universe_client.hands.vendors.anthropic import (
    BETAS,
    AsyncComputerToolset,
    ComputerToolset,
    OlderComputerTool,
)
from universe_client.hands.vendors.limits import PictureLimits
from vnc.events import KeyEvent, PointerEvent
from vnc.keysyms import keysym

KEY, SHIFT = keysym("Return"), keysym("Shift_L")
TAP = [(KEY, True), (KEY, False)]


def use(name, arguments=None):
    return BetaToolUseBlock(
        type="tool_use", id="toolu_1", toolset_name="computer", name=name, input=arguments or {}
    )


def permit(*_):
    return True


def picture(block):
    assert block["type"] == "image" and block["source"]["type"] == "base64"
    data = base64.b64decode(block["source"]["data"])
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


def answer(toolset, name, arguments=None):
    """Return the result as the SDK sends it, checked against its type."""
    result = toolset.tool_result(use(name, arguments))
    pydantic.TypeAdapter(BetaToolResultBlockParam).validate_python(result)
    assert result["tool_use_id"] == "toolu_1" and result["toolset_name"] == "computer"
    return result


@pytest.fixture
def toolset(computer):
    hands, remote = computer()
    return ComputerToolset(hands, confirm=permit), remote


def test_all_17_members_are_offered(toolset):
    assert toolset[0].to_dict() == {"type": "computer_toolset_20260801"}


@pytest.mark.parametrize(
    ("name", "arguments", "said", "events"),
    [
        ("left_click", {"coordinate": [3, 4]}, "Clicked.", [(3, 4, 0), (3, 4, 1), (3, 4, 0)]),
        ("right_click", {"coordinate": [3, 4]}, "Right-clicked.", [(3, 4, 0), (3, 4, 4), (3, 4, 0)]),
        ("middle_click", {"coordinate": [3, 4]}, "Middle-clicked.", [(3, 4, 0), (3, 4, 2), (3, 4, 0)]),
        ("double_click", {"coordinate": [1, 1]}, "Double-clicked.", [(1, 1, 0), *[(1, 1, 1), (1, 1, 0)] * 2]),
        ("triple_click", {"coordinate": [1, 1]}, "Triple-clicked.", [(1, 1, 0), *[(1, 1, 1), (1, 1, 0)] * 3]),
        ("mouse_move", {"coordinate": [9, 8]}, "Moved the mouse.", [(9, 8, 0)]),
        ("left_mouse_down", {}, "Left mouse button pressed.", [(12, 8, 1)]),
        ("left_mouse_up", {}, "Left mouse button released.", [(12, 8, 0)]),
        ("key", {"text": "return"}, "Pressed return.", TAP),
        ("key", {"text": "Return", "repeat": 2}, "Pressed Return.", TAP * 2),
        ("hold_key", {"text": "Return", "duration": 0}, "Held Return for 0s.", TAP),
        ("type", {"text": "\n"}, "Typed.", TAP),
        (
            "scroll",
            {"coordinate": [3, 4], "scroll_direction": "down", "scroll_amount": 2},
            "Scrolled down.",
            [(3, 4, 0), *[(3, 4, 16), (3, 4, 0)] * 2],
        ),
        ("wait", {"duration": 0}, "Waited 0s.", []),
    ],
)
def test_a_member_acts_on_the_remote(toolset, name, arguments, said, events):
    tool, remote = toolset
    result = answer(tool, name, arguments)
    assert result["content"] == [{"type": "text", "text": said}] and not result.get("is_error")
    expected = [PointerEvent(*event) if len(event) == 3 else KeyEvent(*event) for event in events]
    assert remote.wait_for_events(len(expected)) == expected


def test_a_drag_goes_from_one_place_to_the_other(toolset):
    tool, remote = toolset
    answer(tool, "left_click_drag", {"start_coordinate": [1, 2], "coordinate": [20, 12], "text": "shift"})
    answer(tool, "wait", {"duration": 0})
    first, *pointer, last = remote.wait_for_events(8)
    assert (first, last) == (KeyEvent(SHIFT, True), KeyEvent(SHIFT, False))
    assert pointer[:2] == [PointerEvent(1, 2, 0), PointerEvent(1, 2, 1)]
    assert pointer[-1] == PointerEvent(20, 12, 0)


def test_a_screenshot_shows_the_screen(toolset):
    tool, remote = toolset
    (block,) = answer(tool, "screenshot")["content"]
    assert (picture(block) == frame(remote.episode)).all()


def test_a_zoom_fills_what_the_model_sees(toolset):
    tool, _ = toolset
    (block,) = answer(tool, "zoom", {"region": [0, 0, 12, 8]})["content"]
    height, width, _ = picture(block).shape
    assert width > 1300 and width / height == pytest.approx(1.5, 0.01)
    for wrong in ([0, 0, 25, 8], [5, 5, 5, 8], [-1, 0, 5, 5]):
        result = answer(tool, "zoom", {"region": wrong})
        assert result["is_error"] and "is not in the picture, which is 24x16" in str(result["content"])


def test_the_pointer_is_where_it_was_moved(toolset):
    tool, _ = toolset
    answer(tool, "mouse_move", {"coordinate": [9, 8]})
    assert answer(tool, "cursor_position")["content"] == [{"type": "text", "text": "X=9,Y=8"}]


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("left_click", {"coordinate": [24, 4]}, "x=24 is outside the picture, which is 24x16: 0 <= x < 24"),
        ("left_click", {"coordinate": [1, 2, 3]}, "coordinate: expected [x, y]"),
        ("key", {"text": "no_such_key"}, "no key is called 'no_such_key'"),
        ("key", {"text": "a", "repeat": 101}, "repeat=101 is out of range: 1 to 100"),
        ("wait", {"duration": 301}, "duration=301 is out of range: 0 to 300"),
        ("scroll", {"scroll_direction": "up", "scroll_amount": -1}, "scroll_amount=-1 is out of range"),
        ("left_click", {"text": "q"}, "'q' is not a modifier"),
        ("fly", {}, "unknown computer toolset member 'fly'"),
    ],
)
def test_the_model_reads_what_it_did_wrong_and_nothing_is_sent(toolset, name, arguments, words):
    tool, remote = toolset
    result = answer(tool, name, arguments)
    assert result["is_error"] and words in str(result["content"])
    assert remote.events == []


def test_permission_is_required_and_asked(computer):
    hands, remote = computer()
    with pytest.raises(ToolsetConfigError, match="requires a confirm callable"):
        ComputerToolset(hands)
    off = {name: {"enabled": False} for name in ("type", "key", "hold_key")}
    assert ComputerToolset(hands, configs=off).to_dict()["configs"] == off
    asked = []

    def only_looks(context):
        asked.append((context.member, context.input.to_dict()))
        return context.member == "screenshot"

    strict = ComputerToolset(hands, confirm=only_looks)
    assert answer(strict, "type", {"text": "rm -rf /"})["is_error"]
    assert not answer(strict, "screenshot").get("is_error")
    assert asked == [("type", {"text": "rm -rf /"}), ("screenshot", {})] and remote.events == []


def test_after_the_episode_nothing_is_played_and_the_last_screen_stays(computer):
    hands, _ = computer(on_input=lambda remote, events: remote.finish(1.0))
    tool = ComputerToolset(hands, confirm=permit)
    answer(tool, "left_click", {"coordinate": [1, 1]})
    hands.wait_until_still()
    assert hands.done and hands.reward == 1.0
    result = answer(tool, "left_click", {"coordinate": [1, 1]})
    assert result["is_error"] and "the episode has ended" in str(result["content"])
    assert answer(tool, "screenshot")["content"][0]["type"] == "image"


def test_a_large_screen_is_scaled_once_and_clicks_are_scaled_back(computer):
    """A model that sees at most 12 pixels a side clicks at twice its coordinates."""
    hands, remote = computer()
    tool = ComputerToolset(hands, confirm=permit, limits=PictureLimits(edge=12, patch=1, patches=1000))
    assert hands.size == (12, 8)
    assert picture(answer(tool, "screenshot")["content"][0]).shape == (8, 12, 3)
    answer(tool, "left_click", {"coordinate": [11, 7]})
    assert remote.wait_for_events(3)[-1] == PointerEvent(23, 15, 0)
    assert answer(tool, "cursor_position")["content"] == [{"type": "text", "text": "X=11,Y=7"}]
    assert answer(tool, "left_click", {"coordinate": [12, 7]})["is_error"]


def test_the_model_reads_that_the_remote_is_lost_and_nothing_stays_pressed(computer):
    hands, remote = computer()
    tool = ComputerToolset(hands, confirm=permit)
    answer(tool, "screenshot")
    with ThreadPoolExecutor(1) as other:
        other.submit(lambda: remote.wait_for_events(1) and remote.stop_vnc())
        lost = answer(tool, "hold_key", {"text": "w", "duration": 100})
    assert lost["is_error"] and "lost after 0 of 1 actions; nothing stays pressed" in str(lost["content"])
    remote.restart_vnc()
    hands.reset()
    assert hands._channel.held == ((), None)


async def test_the_toolset_for_an_event_loop_does_the_same(computer):
    hands, remote = computer()
    asked = []

    async def confirm(context):
        asked.append(context.member)
        return True

    async with AsyncComputerToolset(hands, confirm=confirm) as tool:
        result = await tool.tool_result(use("left_click", {"coordinate": [3, 4]}))
        assert result["content"] == [{"type": "text", "text": "Clicked."}]
        shown = await tool.tool_result(use("screenshot"))
        assert (picture(shown["content"][0]) == frame(remote.episode)).all()
        result = await tool.tool_result(use("left_click", {"coordinate": [24, 4]}))
        assert result["is_error"] and "x=24 is outside the picture" in str(result["content"])
    assert asked == ["left_click", "screenshot", "left_click"]
    assert remote.events == [PointerEvent(3, 4, 0), PointerEvent(3, 4, 1), PointerEvent(3, 4, 0)]


async def test_a_cancelled_member_releases_what_it_holds(computer):
    hands, remote = computer()
    async with AsyncComputerToolset(hands, confirm=permit) as tool:
        held = asyncio.create_task(tool.tool_result(use("hold_key", {"text": "Return", "duration": 300})))
        await asyncio.to_thread(remote.wait_for_events, 1)
        held.cancel()
        with pytest.raises(asyncio.CancelledError):
            await held
        assert await asyncio.to_thread(remote.wait_for_events, 2) == [
            KeyEvent(KEY, True),
            KeyEvent(KEY, False),
        ]


# -- the older tools --------------------------------------------------------------------------------------------------

TYPES = {
    "computer_20241022": BetaToolComputerUse20241022Param,
    "computer_20250124": BetaToolComputerUse20250124Param,
    "computer_20251124": BetaToolComputerUse20251124Param,
}


@pytest.fixture(params=BETAS)
def older(computer, request):
    hands, remote = computer()
    return OlderComputerTool(hands, request.param, confirm=permit), remote


def test_an_older_tool_is_declared_as_the_sdk_says(older):
    tool, _ = older
    entry = tool.to_dict()
    pydantic.TypeAdapter(TYPES[entry["type"]]).validate_python(entry)
    assert (entry["name"], entry["display_width_px"], entry["display_height_px"]) == ("computer", 24, 16)
    assert entry.get("enable_zoom") is (True if entry["type"] == "computer_20251124" else None)


def test_an_act_of_an_older_tool_returns_the_settled_picture(older):
    tool, remote = older
    said, shown = tool.call({"action": "left_click", "coordinate": [3, 4]})
    assert said == {"type": "text", "text": "left_click: done"}
    assert (picture(shown) == frame(remote.episode)).all()
    assert remote.events == [PointerEvent(3, 4, 0), PointerEvent(3, 4, 1), PointerEvent(3, 4, 0)]
    assert tool.call({"action": "cursor_position"}) == "X=3,Y=4"
    (shown,) = tool.call({"action": "screenshot"})
    assert picture(shown).shape == (16, 24, 3)


def test_each_version_has_its_own_actions(computer):
    hands, _ = computer()
    first, second, third = (OlderComputerTool(hands, version, confirm=permit) for version in BETAS)
    scroll = {"action": "scroll", "coordinate": [1, 1], "scroll_direction": "up", "scroll_amount": 1}
    zoom = {"action": "zoom", "region": [0, 0, 4, 4]}
    with pytest.raises(ToolError, match="computer_20241022 has no action 'scroll'; it has cursor_position, "):
        first.call(scroll)
    assert second.call(scroll)
    with pytest.raises(ToolError, match="computer_20250124 has no action 'zoom'"):
        second.call(zoom)
    assert third.call(zoom)[0]["type"] == "image"
    with pytest.raises(ToolError, match="has no action 'zoom'"):
        OlderComputerTool(hands, "computer_20251124", enable_zoom=False, confirm=permit).call(zoom)
    with pytest.raises(ConfigError, match="'computer_1999' is none of computer_20241022, "):
        OlderComputerTool(hands, "computer_1999", confirm=permit)


def test_an_older_tool_asks_for_permission_and_says_what_is_wrong(computer):
    hands, remote = computer()
    asked = []
    tool = OlderComputerTool(hands, "computer_20251124", confirm=lambda *call: asked.append(call))
    typing = {"action": "type", "text": "x"}
    with pytest.raises(ToolError, match="the user did not permit 'type'"):
        tool.call(typing)
    assert asked == [("type", typing)] and remote.events == []
    for wrong in (None, [], {}, {"action": 5}):
        with pytest.raises(ToolError, match="the argument 'action' is missing"):
            tool.call(wrong)
