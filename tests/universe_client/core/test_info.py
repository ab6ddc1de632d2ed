"""The schema of info."""

from __future__ import annotations

import pytest

from tests.support.drivers import needs_native
from tests.support.remotes.agent import steps
from universe_client.core.info import SCHEMA, blank, merge


def test_blank_is_fresh_and_has_every_key():
    one, other = blank(), blank()
    assert one == other
    assert one is not other
    assert one.keys() == SCHEMA.keys()
    assert all(
        one[key] == default and type(one[key]) is type(default) for key, (default, _) in SCHEMA.items()
    )


def test_universes_names_are_kept_and_each_has_a_meaning():
    """SEMANTICS section 4; `episode` is Gymnasium's."""
    prefix = "stats.gauges.diagnostics."
    assert {
        "env_status.env_id", "env_status.env_state", "env_status.episode_id", "env_status.reason",
        "env_status.complete.episode_id", "stats.reward.count", "stats.reward.stale", "stats.reward.duplicate",
        "stats.vnc.updates.n", "stats.vnc.updates.bytes", "stats.vnc.updates.pixels", "stats.vnc.updates.rectangles",
        "stats.vnc.pixels_by",
        "mask.masked.action", "mask.masked.observation", "error", "reaction_time",
        prefix + "clock_skew", prefix + "rtt",
        prefix + "lag.observation", prefix + "lag.action", prefix + "lag.reward", prefix + "lag.rewarder_message",
        "terminated", "truncated", "end_reason",
    } <= SCHEMA.keys()  # fmt: skip
    assert "episode" not in SCHEMA
    assert all(meaning for _, meaning in SCHEMA.values())


def test_counts_of_two_looks_are_added_and_the_latest_known_value_of_the_rest_is_kept():
    earlier = {"stats.reward.count": 2, "error": "lost", "terminated": False, "remote.score": 5}
    earlier["env_status.reason"] = "resetting"
    later = {"stats.reward.count": 3, "error": None, "terminated": True, "remote.score": 7, "rtt": 0.5}
    later["env_status.reason"] = None
    assert merge(earlier, later) == {
        "stats.reward.count": 5,
        "error": "lost",
        "terminated": True,
        "remote.score": 7,
        "rtt": 0.5,
        "env_status.reason": None,
    }


def test_a_look_without_a_key_changes_nothing_of_it():
    assert merge({"stats.reward.count": 2, "env_status.reason": "lost"}, {}) == {
        "stats.reward.count": 2,
        "env_status.reason": "lost",
    }


@pytest.mark.parametrize(
    ("driver", "encoding", "way"),
    [
        pytest.param("native", "auto", "shared", marks=needs_native),
        pytest.param("native", "raw", "vnc", marks=needs_native),
        ("portable", "auto", "vnc"),
    ],
)
def test_info_says_how_pixels_come(scripted, playing, encoding, way):
    remote = scripted()
    env = playing(remote, encoding=encoding)
    seen = set()
    for value, step in enumerate(steps(env)):
        remote.paint(value)
        seen.add(step.info["stats.vnc.pixels_by"])
        if step.observation is not None and value >= 30 and step.info["stats.vnc.pixels_by"] == way:
            break
    assert seen <= {None, "vnc", way}
