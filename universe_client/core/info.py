"""What `info["n"][i]` holds: the same keys on every step, so that a table or an array can be made of it.

A value that is not known is None; counts are 0. Times are seconds, counts are since the previous step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SCHEMA: dict[str, tuple[Any, str]] = {
    "terminated": (False, "the episode ended by its own rules"),
    "truncated": (False, "the episode was cut: a time limit, a lost remote, a newer episode"),
    "end_reason": (None, "terminated | truncated | superseded | lost | time_limit; None while it goes on"),
    "error": (None, "what happened to this remote since the previous step, in words"),
    "env_status.env_id": (None, "the environment the remote runs"),
    "env_status.env_state": (None, "what the rewarder says of it: running, resetting, ..."),
    "env_status.episode_id": (None, "the episode now"),
    "env_status.reason": (None, "why there is no observation: connecting, resetting, no_frame, lost, closed"),
    "env_status.complete.episode_id": (None, "on a done step: the episode that ended"),
    "env_status.complete.env_state": (None, "on a done step: its last state"),
    "env_status.skipped_episodes": (
        0,
        "whole episodes that ended between two steps; their reward is in this one",
    ),
    "stats.reward.count": (0, "reward messages summed into this step's reward"),
    "stats.reward.stale": (0, "messages of older episodes, dropped"),
    "stats.reward.duplicate": (0, "messages that came twice, counted once"),
    "stats.vnc.updates.n": (0, "framebuffer updates"),
    "stats.vnc.updates.bytes": (0, "their encoded size"),
    "stats.vnc.updates.pixels": (0, "the pixels they changed"),
    "stats.vnc.updates.rectangles": (0, "the rects they came in"),
    "mask.masked.action": (0, "events of this step's action that were dropped"),
    "mask.masked.observation": (False, "True when the observation is None"),
    "reaction_time": (
        None,
        "how old the world was that this step's action answered: seeing, thinking, sending",
    ),
    "stats.gauges.diagnostics.clock_skew": (None, "the remote's clock minus ours"),
    "stats.gauges.diagnostics.rtt": (None, "there and back on the rewarder channel"),
    "stats.gauges.diagnostics.lag.observation": (
        None,
        "age of this observation's pixels: on the way and waiting",
    ),
    "stats.gauges.diagnostics.lag.action": (None, "time this step's action needs to the remote"),
    "stats.gauges.diagnostics.lag.reward": (None, "age of the newest reward: from its sending to this step"),
    "stats.gauges.diagnostics.lag.rewarder_message": (
        None,
        "what the newest reward message needed on its way",
    ),
}
"""Key: (value when there is nothing to say, meaning). Beside these, what the remote sends in a reward's info
arrives as `remote.<key>` on the step that delivers that reward."""

_BLANK = {key: default for key, (default, _) in SCHEMA.items()}


def blank() -> dict[str, Any]:
    """Return a fresh info dict in which every key has its empty value."""
    return _BLANK.copy()


COUNTS = frozenset(key for key, (default, _) in SCHEMA.items() if type(default) is int)
"""Keys whose values count something since the previous step."""
CURRENT = frozenset(
    {
        "env_status.env_id",
        "env_status.env_state",
        "env_status.episode_id",
        "env_status.reason",
        "mask.masked.observation",
        "stats.gauges.diagnostics.lag.observation",
    }
)
"""Keys that describe the observation of this step, or why there is none: a later None replaces an earlier value."""


def merge(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> dict[str, Any]:
    """Return one info for two consecutive looks at a remote.

    Counts are added. Any other value is the later one, or the earlier one if the later is None (but see `CURRENT`).
    """
    merged = {**earlier, **later}
    for key, value in earlier.items():
        if key in COUNTS:
            merged[key] = value + later.get(key, 0)
        elif merged[key] is None and key not in CURRENT:
            merged[key] = value
    return merged
