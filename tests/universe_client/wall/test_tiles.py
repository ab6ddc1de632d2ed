"""What a tile knows of its remote."""

import numpy as np
import pytest

from universe_client.core.info import blank
from universe_client.spaces.actions import key
from universe_client.wall.tiles import Tile
from vnc.events import PointerEvent


def seen(vision, instruction=None):
    return {"vision": vision, "text": [], "instruction": instruction}


@pytest.fixture
def tile():
    return Tile()


def test_keys_are_shown_while_they_are_held(tile):
    tile.send([key("Left", True), key("a", True)])
    tile.send([key("Left", False), PointerEvent(3, 4, 1)])
    summary = tile.summary()
    assert summary["held"] == ["a"] and summary["pointer"] == (3, 4, 1)


def test_scores_are_of_the_episode_and_returns_of_those_that_ended(tile):
    for reward, ended in ((1.0, False), (2.0, True), (5.0, False)):
        tile.receive(None, reward, blank() | {"terminated": ended, "env_status.skipped_episodes": int(ended)})
    summary = tile.summary()
    assert (summary["score"], summary["returns"], summary["episodes"]) == (5.0, [3.0], 2)


def test_an_end_releases_the_keys(tile):
    tile.send([key("Left", True)])
    tile.receive(None, 0.0, blank() | {"truncated": True})
    assert tile.summary()["held"] == []


def test_frames_are_counted_once(tile):
    frame = np.zeros((4, 6, 3), np.uint8)
    for vision in (frame, frame, frame.copy()):
        tile.receive(seen(vision, "press OK"), None, blank())
    summary = tile.summary()
    assert (summary["frames"], summary["size"], summary["task"]) == (2, [6, 4], "press OK")


def test_an_error_stays_until_there_is_a_picture_again(tile):
    tile.receive(None, None, blank() | {"error": "lost", "env_status.reason": "lost"})
    tile.receive(None, None, blank() | {"env_status.reason": "connecting"})
    assert (tile.summary()["error"], tile.summary()["reason"]) == ("lost", "connecting")
    tile.receive(seen(np.zeros((4, 6, 3), np.uint8)), None, blank())
    assert tile.summary()["error"] is None


def test_the_histogram_counts_every_reaction(tile):
    for seconds in (0.001, 0.0055, 0.0055, 3.0):
        tile.receive(None, None, blank() | {"reaction_time": seconds})
    reaction = tile.summary()["reaction"]
    assert reaction["bars"][0] == 1 and reaction["bars"][2] == 2 and reaction["bars"][-1] == 1
    assert reaction["median"] == 5.5 and len(reaction["bars"]) == len(reaction["bounds"]) + 1
