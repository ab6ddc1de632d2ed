"""The tools of the MCP server through the official client, over scripted remotes with a screen of 24x16 pixels."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import re

import anyio
import numpy as np
import pytest
from mcp.shared.exceptions import MCPError
from PIL import Image

from tests.support.remotes.remote import HEIGHT, WIDTH, press_game
from universe_client.hands import Outcome, Picture, Region
from universe_client.hands.json_actions import Action
from universe_client.hands.mcp.answers import MAX_BASE64, outcome_words, within_limit
from vnc.events import KeyEvent, PointerEvent
from vnc.keysyms import keysym


def words(result):
    return result.content[0].text


def picture(result):
    (image,) = [block for block in result.content if block.type == "image"]
    return Image.open(io.BytesIO(base64.b64decode(image.data)))


async def act(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, words(result)
    return result


async def refused(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert result.is_error and len(result.content) == 1
    return words(result)


async def until(client, **facts):
    """Call `task` until it has these facts: rewards and ends may arrive later than a picture. Return its answer."""
    while True:
        result = await act(client, "task")
        if facts.items() <= result.meta["universe-client"].items():
            return result


# -- what a host is told ----------------------------------------------------------------------------------------------


async def test_each_tool_and_each_argument_is_described_without_references(scripted, connected):
    async with connected(scripted()) as client:
        assert "remote-0" in client.instructions
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == {
        *("screenshot", "wait_until_still", "task", "list_remotes", "do", "click", "move", "drag", "scroll"),
        *("type", "press", "hold", "reset"),
    }
    for tool in tools.values():
        assert tool.description and tool.annotations.read_only_hint is not None
        schema = json.dumps(tool.input_schema)
        assert not any(word in schema for word in ("$ref", "anyOf", "oneOf", '"null"')), tool.name
        for name, argument in tool.input_schema.get("properties", {}).items():
            assert argument.get("description"), (tool.name, name)
    assert not tools["click"].annotations.read_only_hint and tools["screenshot"].annotations.read_only_hint


# -- looking ----------------------------------------------------------------------------------------------------------


async def test_a_screenshot_is_an_image_block_with_the_name_the_size_and_the_task(scripted, connected):
    remote = scripted()
    async with connected(remote) as client:
        await act(client, "reset")
        remote.text("Press it.")
        remote.paint(130)
        await act(client, "wait_until_still")
        result = await act(client, "screenshot", format="png")
    assert words(result).startswith(f"remote-0 ({WIDTH}x{HEIGHT} pixels):") and "Press it." in words(result)
    assert [block.type for block in result.content] == ["text", "image"]
    assert picture(result).size == (WIDTH, HEIGHT) and picture(result).getpixel((3, 3)) == (130, 130, 130)
    assert result.meta["universe-client"] == {
        "remote": "remote-0",
        "size": [WIDTH, HEIGHT],
        "task": "Press it.",
        "reward": 0.0,
        "done": False,
    }


async def test_a_part_is_shown_and_coordinates_stay(scripted, connected):
    remote = scripted()
    async with connected(remote) as client:
        result = await act(client, "screenshot", region=[4, 2, 10, 6])
        assert picture(result).size == (10, 6) and "x 4 to 14, y 2 to 8" in words(result)
        assert picture(await act(client, "screenshot", full_size=True)).size == (WIDTH, HEIGHT)
        await act(client, "click", x=20, y=15)
        assert "region" in await refused(client, "screenshot", region=[4, 2, 100, 6])
    assert remote.wait_for_events(1)[0] == PointerEvent(20, 15, 0)


def test_pictures_stay_below_what_hosts_accept():
    noise = np.random.default_rng(0).integers(0, 256, (1568, 1568, 3), np.uint8)
    large = Picture(noise, "png", Region(0, 0, 1568, 1568), 1.0, 80)
    small = within_limit(large)
    assert len(base64.b64encode(large.data)) > MAX_BASE64 >= len(base64.b64encode(small.data))
    assert small.media_type == "image/jpeg" and (small.width, small.height) == (1568, 1568)
    grey = Picture(np.zeros((768, 1024, 3), np.uint8), "png", Region(0, 0, 1024, 768), 1.0, 80)
    assert within_limit(grey) is grey


async def test_a_screen_that_is_too_large_is_answered_below_what_hosts_accept(scripted, connected):
    noise = np.random.default_rng(0).integers(0, 256, (2160, 3840, 3), np.uint8)
    async with connected(scripted(picture=noise, has_rewarder=False)) as client:
        result = await act(client, "screenshot")
        assert max(picture(result).size) <= 1568 and "(1568x882 pixels)" in words(result)
        assert len(result.content[1].data) <= MAX_BASE64
        said = await refused(client, "click", x=2000, y=10)
        assert said.endswith("x=2000 is outside the picture, which is 1568x882: 0 <= x < 1568")
        full = await act(client, "screenshot", full_size=True)
        assert picture(full).size == (3840, 2160)


# -- acting -----------------------------------------------------------------------------------------------------------


async def test_one_call_plays_several_actions_and_returns_the_reward(scripted, connected):
    remote = scripted(on_input=press_game)
    async with connected(remote) as client:
        result = await act(
            client,
            "do",
            actions=[
                {"action": "click", "x": 3, "y": 4},
                {"action": "press", "keys": "ctrl+s"},
                {"action": "type", "text": "a"},
            ],
        )
        events = remote.wait_for_events(9)
        await until(client, reward=remote.reward_sum)
    facts = result.meta["universe-client"]
    assert facts["played"] == 3 and facts["settled"] and facts["pointer"] == [3, 4]
    assert events[:3] == [PointerEvent(3, 4, 0), PointerEvent(3, 4, 1), PointerEvent(3, 4, 0)]
    ctrl, s, a = map(keysym, ("Control_L", "s", "a"))
    assert events[3:] == [
        *(KeyEvent(ctrl, True), KeyEvent(s, True), KeyEvent(s, False), KeyEvent(ctrl, False)),
        *(KeyEvent(a, True), KeyEvent(a, False)),
    ]


@pytest.mark.parametrize(
    ("tool", "arguments", "masks"),
    [
        ("click", {"x": 1, "y": 2, "button": "right"}, [0, 4, 0]),
        ("click", {"x": 1, "y": 2, "count": 2}, [0, 1, 0, 1, 0]),
        ("move", {"x": 1, "y": 2}, [0]),
        ("scroll", {"x": 1, "y": 2, "direction": "down", "amount": 2}, [0, 16, 0, 16, 0]),
        ("scroll", {"x": 1, "y": 2, "direction": "up", "amount": 1}, [0, 8, 0]),
    ],
)
async def test_the_mouse(scripted, connected, tool, arguments, masks):
    remote = scripted()
    async with connected(remote) as client:
        await act(client, tool, **arguments)
    events = remote.wait_for_events(len(masks))
    assert [event.button_mask for event in events] == masks
    assert {(event.x, event.y) for event in events} == {(1, 2)}


async def test_a_path_is_dragged_and_a_key_is_held(scripted, connected):
    remote = scripted()
    async with connected(remote) as client:
        await act(client, "drag", path=[[1, 1], [9, 5]], modifiers="shift")
        await act(client, "hold", keys="Left", seconds=0.05)
    while len([event for event in remote.events if isinstance(event, KeyEvent)]) < 4:
        remote.wait_for_events(len(remote.events) + 1)
    pointer = [event for event in remote.events if isinstance(event, PointerEvent)]
    assert (pointer[-1].x, pointer[-1].y, pointer[-1].button_mask) == (9, 5, 0)
    assert any(event.button_mask == 1 for event in pointer)
    down = [event.keysym for event in remote.events if isinstance(event, KeyEvent) and event.down]
    assert down == [keysym("Shift_L"), keysym("Left")]


async def test_the_end_of_an_episode_is_said_and_reset_begins_the_next(scripted, connected):
    remote = scripted(on_input=lambda remote, events: remote.finish(2.5))
    async with connected(remote) as client:
        await act(client, "press", keys="a")
        result = await until(client, done=True)
        assert "Reward so far: 2.5. The episode has ended: call reset" in words(result)
        assert "reset" in await refused(client, "click", x=1, y=1)
        result = await act(client, "reset", seed=7)
        assert not result.meta["universe-client"]["done"]
        assert "Reward so far: 0" in words(await act(client, "task"))
    requests = [remote.next_reset() for _ in range(remote.resets.qsize())]
    assert requests[-1].seed == 7


# -- what cannot be done ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("click", {"x": 2000, "y": 1}, "x=2000 is outside the picture, which is 24x16: 0 <= x < 24"),
        ("press", {"keys": "ctrl+Retrun"}, "no key is called 'Retrun'.*return"),
        ("click", {"x": 3}, "click needs both x and y"),
        ("hold", {"keys": "a", "seconds": 1000}, "less than or equal to 300"),
        ("drag", {"path": [[1, 1]]}, "at least 2 items"),
        ("click", {"remote": "remote-3"}, "no remote 'remote-3'; there are: remote-0"),
        ("do", {"actions": []}, "at least 1 item"),
        ("do", {"actions": [{"action": "press", "keys": "a", "x": 1}]}, "press takes keys, repeat, not x"),
        ("do", {"actions": [{"action": "type"}]}, "type needs text"),
        ("do", {"actions": [{"action": "fly"}]}, "'click', 'move', 'drag'"),
        (
            "do",
            {"actions": [{"action": "press", "keys": "a"}, {"action": "move", "x": 24, "y": 1}]},
            "action 2 of 2: x=24 is outside",
        ),
    ],
)
async def test_bad_input_is_refused_in_words_and_nothing_is_sent(scripted, connected, tool, arguments, said):
    remote = scripted()
    async with connected(remote) as client:
        await act(client, "screenshot")
        text = await refused(client, tool, **arguments)
        await act(client, "screenshot")
    assert remote.events == []
    assert re.search(said, text, re.DOTALL), text


async def test_of_several_remotes_one_is_named(scripted, connected):
    first, second = scripted(), scripted()
    async with connected(first, second) as client:
        assert "say which one with remote=: remote-0, remote-1" in await refused(client, "click", x=1, y=1)
        result = await act(client, "click", x=1, y=1, remote="remote-1")
        listed = await act(client, "list_remotes")
    assert words(result).startswith("remote-1 (")
    assert [block.text.partition(" ")[0] for block in listed.content] == ["remote-0", "remote-1"]
    assert first.events == [] and second.wait_for_events(3)


async def test_calls_for_one_remote_follow_one_another(scripted, connected):
    """Hosts send the calls of one turn at the same time."""
    remote = scripted()
    async with connected(remote) as client:
        await act(client, "screenshot")
        await asyncio.gather(*(act(client, "type", text=letter) for letter in "abc"))
    assert [chr(event.keysym) for event in remote.wait_for_events(6)] == list("aabbcc")


def noticed():
    """Return an `on_input` and the event that it sets."""
    pressed, loop = asyncio.Event(), asyncio.get_running_loop()
    return (lambda remote, events: loop.call_soon_threadsafe(pressed.set)), pressed


async def test_a_cancelled_call_leaves_nothing_pressed(scripted, connected):
    on_input, pressed = noticed()
    remote = scripted(on_input=on_input)
    async with connected(remote) as client:
        await act(client, "screenshot")
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "hold", {"keys": "w", "seconds": 200})
            await pressed.wait()
            group.cancel_scope.cancel()
        await act(client, "screenshot")
    assert remote.wait_for_events(2) == [KeyEvent(keysym("w"), True), KeyEvent(keysym("w"), False)]


async def test_a_remote_that_is_lost_in_the_middle_is_said_and_comes_back(scripted, connected):
    on_input, pressed = noticed()
    remote = scripted(on_input=on_input)
    async with connected(remote) as client:
        await act(client, "screenshot")
        batch = [{"action": "press", "keys": "a"}, {"action": "wait", "seconds": 200}]
        call = asyncio.create_task(refused(client, "do", actions=batch))
        await pressed.wait()
        await asyncio.to_thread(remote.stop_vnc)
        text = await call
        assert re.search("lost after [01] of 2 actions; nothing stays pressed", text), text
        await asyncio.to_thread(remote.restart_vnc)
        assert picture(await act(client, "reset")).size == (WIDTH, HEIGHT)


async def test_a_second_client_is_told_that_the_remote_is_taken(scripted, connected):
    remote = scripted()
    async with connected(remote) as first, connected(remote) as second:
        await act(first, "screenshot")
        assert "another controller" in await refused(second, "click", x=1, y=1)
        assert "Nothing on the screen changed" in words(await act(first, "move", x=2, y=2))
    assert not any(getattr(event, "button_mask", 0) for event in remote.events)


# -- resources --------------------------------------------------------------------------------------------------------


async def test_the_state_and_the_screen_are_resources(scripted, connected):
    remote = scripted()
    async with connected(remote) as client:
        resources = {str(each.uri): each.mime_type for each in (await client.list_resources()).resources}
        assert resources == {
            "remote://remote-0/state": "application/json",
            "remote://remote-0/screen": "image/jpeg",
        }
        (state,) = (await client.read_resource("remote://remote-0/state")).contents
        (screen,) = (await client.read_resource("remote://remote-0/screen")).contents
        with pytest.raises(MCPError):
            await client.read_resource("remote://remote-9/state")
    assert json.loads(state.text) == {"size": [WIDTH, HEIGHT], "task": None, "reward": 0.0, "done": False}
    assert Image.open(io.BytesIO(base64.b64decode(screen.blob))).size == (WIDTH, HEIGHT)


async def test_a_client_that_listens_is_told_when_an_episode_ends(scripted, connected):
    remote = scripted()
    async with connected(remote) as client:
        await act(client, "screenshot")
        async with client.listen(resource_subscriptions=["remote://remote-0/state"]) as changes:
            remote.finish(1.0)
            async for event in changes:
                assert event.uri == "remote://remote-0/state"
                (content,) = (await client.read_resource(event.uri)).contents
                state = json.loads(content.text)
                if state["done"]:
                    break
    assert state["reward"] == 1.0


def test_an_action_is_the_same_for_every_way_to_write_it():
    assert (
        Action(action="click", x=1, y=2, modifiers=None).parsed() == Action(action="click", x=1, y=2).parsed()
    )


def test_an_outcome_is_told_in_sentences():
    outcome = Outcome(
        None, None, (3, 4), True, 0.1234, (Region(0, 0, 8, 8),), 1.0, 2.5, "Press it.", done=True, played=1
    )
    said = outcome_words(outcome)
    assert said == (
        "The remote says: Press it.\n The screen is still, except for 8x8 pixels at 0, 0, after 0.12 s. "
        "Pointer at 3, 4. Nothing on the screen changed. Reward +1; 2.5 in this episode. "
        "The episode has ended with reward 2.5. "
        "Call reset to begin the next."
    )
