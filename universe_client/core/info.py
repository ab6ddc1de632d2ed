"""What `info["n"][i]` contains: the same keys in every step, so that it can be made a row of a table or an array.

The value of something unknown is None; counts are 0. Times are in seconds, and counts are since the previous step.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from rewarder.protocol.clock import ClockSync
from rewarder.protocol.episode import Popped
from universe_client.core.input.planned import Report
from vnc.session import PixelsBy, Session

SCHEMA: dict[str, tuple[Any, str]] = {
    "terminated": (False, "the episode ended by its own rules"),
    "truncated": (False, "the episode was cut short: by a time limit, a lost connection or a newer episode"),
    "end_reason": (
        None,
        "terminated | truncated | superseded | lost | time_limit; None while the episode goes on",
    ),
    "error": (None, "the message of the newest error of this remote since the previous step"),
    "env_status.env_id": (None, "what the remote plays"),
    "env_status.env_state": (None, "the state that the rewarder has reported: running, resetting, ..."),
    "env_status.episode_id": (None, "the current episode"),
    "env_status.time_scale": (
        1.0,
        "seconds of the remote's time per second; another value than 1.0 only where time_scale was set",
    ),
    "env_status.reason": (
        None,
        "why the observation is None: connecting, resetting, no_frame, lost, closed",
    ),
    "env_status.complete.episode_id": (None, "on a done step: the episode that ended"),
    "env_status.complete.env_state": (None, "on a done step: the last state of that episode"),
    "env_status.skipped_episodes": (
        0,
        "complete episodes between this step and the previous one; this step contains their rewards",
    ),
    "stats.reward.count": (0, "the number of reward messages in this step's reward"),
    "stats.reward.stale": (0, "messages of older episodes, which were dropped"),
    "stats.reward.duplicate": (0, "messages that arrived twice and were counted once"),
    "stats.vnc.updates.n": (0, "FramebufferUpdate messages"),
    "stats.vnc.updates.bytes": (0, "bytes of encoded pixels"),
    "stats.vnc.updates.pixels": (0, "pixels in these updates"),
    "stats.vnc.updates.rectangles": (0, "rectangles in these updates"),
    "stats.vnc.pixels_by": (
        None,
        "how the newest pixels came: shared (memory that a remote on this host shares) | vnc; None before the first",
    ),
    "mask.masked.action": (0, "events of this step's action that were dropped"),
    "timed.played": (
        None,
        "the planned input that was played: a list of (time for which it was planned, time at which it was sent, "
        "events); in seconds of time.monotonic()",
    ),
    "timed.waiting": (0, "entries of planned input that wait for their times"),
    "timed.cancelled": (0, "events of planned input that were dropped before their times"),
    "mask.masked.observation": (False, "whether the observation is None"),
    "reaction_time": (
        None,
        "from the moment the remote drew what the agent saw to the arrival of this step's action at the remote",
    ),
    "stats.gauges.diagnostics.clock_skew": (None, "the remote's clock minus the client's"),
    "stats.gauges.diagnostics.rtt": (None, "round trip time of the rewarder's connection"),
    "stats.gauges.diagnostics.lag.observation": (None, "age of this observation's pixels"),
    "stats.gauges.diagnostics.lag.action": (None, "time that this step's action takes to the remote"),
    "stats.gauges.diagnostics.lag.reward": (
        None,
        "time from the sending of the newest reward message to this step",
    ),
    "stats.gauges.diagnostics.lag.rewarder_message": (None, "travel time of the newest reward message"),
}
"""Key: (value if there is nothing to report, meaning). What a remote sends in the info of a reward is added as
`remote.<key>`, in the step that returns the reward."""

_BLANK = {key: default for key, (default, _) in SCHEMA.items()}


def blank() -> dict[str, Any]:
    """Return a new info dict in which every key has its empty value."""
    return _BLANK.copy()


CURRENT = frozenset(
    {
        "env_status.env_id",
        "env_status.env_state",
        "env_status.episode_id",
        "env_status.reason",
        "mask.masked.observation",
        "timed.waiting",
        "stats.gauges.diagnostics.lag.observation",
    }
)
"""Keys that describe the observation of this step, or why there is none: a later None replaces an earlier value."""
COUNTS = frozenset(key for key, (default, _) in SCHEMA.items() if type(default) is int) - CURRENT
"""Keys whose values count something since the previous step."""
PLAYED = "timed.played"


def merge(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> dict[str, Any]:
    """Return one info for two consecutive looks at a remote.

    Counts are added, and lists of what was played are joined. Any other value is the later one, or the earlier one if
    the later is None (but see `CURRENT`).
    """
    merged = {**earlier, **later}
    for key, value in earlier.items():
        if key in COUNTS:
            merged[key] = value + later.get(key, 0)
        elif key == PLAYED and value and later.get(key):
            merged[key] = value + later[key]
        elif merged[key] is None and key not in CURRENT:
            merged[key] = value
    return merged


def add_episode(info: dict[str, Any], popped: Popped) -> None:
    """Set what the rewarder has sent; `truncated` and `end_reason` are set by the caller."""
    info["terminated"] = popped.terminated
    info["env_status.env_id"] = popped.env_id
    info["env_status.env_state"] = popped.env_state
    info["env_status.time_scale"] = popped.time_scale
    info["stats.reward.count"] = popped.count
    info["stats.reward.stale"] = popped.stale
    info["stats.reward.duplicate"] = popped.duplicate
    if popped.episode_id is not None:
        info["env_status.episode_id"] = popped.episode_id.text
    if popped.complete_episode_id is not None:
        info["env_status.complete.episode_id"] = popped.complete_episode_id.text
        info["env_status.complete.env_state"] = popped.complete_env_state
        info["env_status.skipped_episodes"] = popped.skipped_episodes
    for key, value in popped.info.items():
        info[f"remote.{key}"] = value


def add_planned(info: dict[str, Any], report: Report) -> None:
    """Set the keys of `timed`."""
    info[PLAYED] = report.played or None
    info["timed.waiting"], info["timed.cancelled"] = report.waiting, report.cancelled


class Traffic:
    """Counts what a VNC session has received since the previous step."""

    def __init__(self) -> None:
        self._session: Session | None = None
        self._pixels_by: PixelsBy | None = None
        self._counted = (
            0,
            0,
            0,
            0,
        )  # updates, bytes, pixels, rectangles of the session that have been reported

    def add_to(self, info: dict[str, Any], session: Session | None) -> None:
        """Set the keys of `stats.vnc`."""
        if session is not self._session:
            self._session, self._pixels_by, self._counted = session, None, (0, 0, 0, 0)
        if session is not None and session.frames != self._counted[0]:  # a frame is an update with pixels
            self._pixels_by = session.pixels_by
            self._count(info, session)
        info["stats.vnc.pixels_by"] = self._pixels_by

    def _count(self, info: dict[str, Any], session: Session) -> None:
        stats = session.stats
        now = stats.updates, stats.bytes, stats.pixels, stats.rectangles
        before, self._counted = self._counted, now
        info["stats.vnc.updates.n"] = now[0] - before[0]
        info["stats.vnc.updates.bytes"] = now[1] - before[1]
        info["stats.vnc.updates.pixels"] = now[2] - before[2]
        info["stats.vnc.updates.rectangles"] = now[3] - before[3]


class Reaction(NamedTuple):
    """The part of an action's reaction time that passes on the agent's side.

    Attributes:
        thinking: seconds from the moment at which the client knew what the agent saw to the sending of the action.
        sending: seconds that the sending took.
    """

    thinking: float
    sending: float


def add_latencies(
    info: dict[str, Any],
    popped: Popped,
    clock: ClockSync | None,
    reaction: Reaction | None,
    seen_time: float | None,
) -> None:
    """Set the reaction time and the keys of `stats.gauges`.

    Each way takes half the round trip time; without a rewarder that time is unknown and counts as 0.

    Args:
        info: where to set them.
        popped: the rewards of the step.
        clock: the clock of the rewarder's connection.
        reaction: how long the last action took on this side; None if there was none.
        seen_time: `time.monotonic()` when the observation was what the remote showed; None without an observation.
    """
    rtt = None if clock is None else clock.rtt
    way = (rtt or 0.0) / 2
    if reaction is not None:
        info["reaction_time"] = reaction.thinking + reaction.sending + 2 * way
        info["stats.gauges.diagnostics.lag.action"] = reaction.sending + way
    if seen_time is not None:
        info["stats.gauges.diagnostics.lag.observation"] = time.monotonic() - seen_time + way
    if clock is None or rtt is None:
        return
    info["stats.gauges.diagnostics.rtt"] = rtt
    info["stats.gauges.diagnostics.clock_skew"] = clock.skew
    sent, received = popped.sent_at, popped.received_at
    if sent is not None and received is not None:
        info["stats.gauges.diagnostics.lag.rewarder_message"] = clock.lag(sent, received)
        info["stats.gauges.diagnostics.lag.reward"] = clock.lag(sent, time.monotonic())
