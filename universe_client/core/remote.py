"""One remote as the agent sees it: what it may act on, and what each step tells it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rewarder.protocol.episode import EpisodeId, Popped
from universe_client.core.info import blank
from universe_client.core.link import Link, State
from universe_client.errors import RemoteError
from vnc.events import Event
from vnc.session import Frame, Session


@dataclass(slots=True)
class Slot:
    """One remote's share of a step; `reward` and `done` are None for a remote without a rewarder."""

    observation: dict[str, Any] | None
    reward: float | None
    done: bool | None
    info: dict[str, Any]
    env_observation: Any = None
    """The newest observation of the environment's own since the last step, that of an episode that ended if one did."""


class Remote:
    """The agent's end of a `Link`; all methods are the agent's thread's."""

    def __init__(self, link: Link, observer: bool = False) -> None:
        self.link = link
        self.error: RemoteError | None = None
        self.new_error: RemoteError | None = None
        self._raised: RemoteError | None = None
        self._observer = observer
        self._observed: EpisodeId | None = None  # the episode of the newest observation the agent was given
        self.taken = 0  # how often a frame has been taken into `frame`
        self.frame = np.zeros((0, 0, 3), np.uint8)
        self._frame_time = 0.0  # when it was finished, or later
        self._session: Session | None = None  # the one that `_frame` and `_counted` belong to
        self._counted = (0, 0, 0, 0)  # its updates, bytes, pixels and rects that have been told
        self._cuts = 0  # of the link's, how many have been reported
        self._cut: str | None = None  # why this side ended an endless episode, until that is reported
        self._text: list[Any] = []
        self._instruction: Any = None  # the first text of the episode
        self._env_observation: Any = None
        self._masked_events = 0
        self._reaction_time: float | None = None
        self._send_time: float | None = None
        self._seen_time = 0.0  # when the world looked as it was last shown

    def begin_reset(self) -> None:
        """From here on nothing of the episodes so far is shown or counted; an observer only forgets its view."""
        if not self._observer:
            self.link.buffer.begin_reset()
        self._leave_episode()

    def end_episode(self, reason: str) -> bool:
        """Cut the episode that the agent sees: the next `poll` reports it as truncated. Return whether it was on."""
        if self._observed is None or self._observed != self.link.playing:
            return False
        if self._has_rewarder:
            self.link.buffer.end_episode(reason)
        else:
            self._cut = reason
        return True

    @property
    def _has_rewarder(self) -> bool:
        return self.link.address is None or self.link.address.rewarder is not None

    def send(self, events: Sequence[Event]) -> None:
        """Send `events` if the episode that the agent saw is still on; otherwise drop and count them."""
        self._masked_events = 0
        self._reaction_time = self._send_time = None
        if not events:
            return
        began = time.monotonic()
        if not self.link.act(events, self._observed):
            self._masked_events = len(events)
            return
        self._send_time = time.monotonic() - began
        self._reaction_time = began - self._seen_time

    @property
    def frame(self) -> Frame:
        """The array that frames are taken into. Set it to have them somewhere else: a row of a batch, say.

        While the screen has another shape than that array, frames go to an array of its own, and this is that one.
        """
        return self._frame

    @frame.setter
    def frame(self, frame: Frame) -> None:
        self._frame = frame
        self._view = frame.view()  # what is lent
        self._view.flags.writeable = False
        self._frame_number = -1  # whatever has been taken is not in it

    @property
    def fresh(self) -> bool:
        """Whether there is something to see that the agent has not seen: a frame, or the end of its episode."""
        playing, session = self.link.playing, self.link.session
        if self._observed is None:
            awaited = playing is not None
            return awaited and (not self._has_rewarder or self.link.buffer.running == playing)
        if playing != self._observed:
            return True
        return session is not None and session.frames != self._frame_number

    def error_to_raise(self) -> RemoteError | None:
        """Return the newest error, once; the next poll tells it all the same."""
        newest = self.link.errors[-1] if self.link.errors else self.new_error
        if newest is self._raised:
            return None
        self._raised = newest
        self.error = newest or self.error
        return newest

    def look(self) -> None:
        """Bring `frame` up to date, if the episode that the agent sees is still on; rewards are left for later."""
        if self._observed is not None:
            self._take(hold=True)

    def poll(self, copy: bool = True, hold: bool = False) -> Slot:
        """Return what has come since the last poll.

        Args:
            copy: the frame is the caller's to keep; False lends a view.
            hold: leave `frame` as it is until the end of the episode that it shows has been told: no frame of the
                next episode is taken before the poll that follows the done.
        """
        # Before the pop: a frame must not be newer than what is known of the episode.
        taken = self._take(hold)
        popped, self.new_error, cuts = self.link.collect()
        self.error = self.new_error or self.error
        if not self._has_rewarder:
            return self._poll_endless(popped, taken, cuts, copy)
        slot = self._slot(popped, taken if taken == popped.running else None, copy)
        slot.info["truncated"] = popped.truncated
        slot.info["end_reason"] = popped.end_reason
        return slot

    def _slot(self, popped: Popped, shown: EpisodeId | None, copy: bool) -> Slot:
        self._note_text(popped)
        self._observed = shown
        observation = None if shown is None else self._observation(copy)
        done = popped.terminated or popped.truncated
        return Slot(observation, popped.reward, done, self._info(popped, shown), popped.env_observation)

    def _poll_endless(self, popped: Popped, taken: EpisodeId | None, cuts: int, copy: bool) -> Slot:
        """Without a rewarder there is no reward, and no end but a loss or our own cut."""
        reason, self._cut = self._cut, None
        if cuts > self._cuts:
            self._cuts, reason = cuts, "lost"
        slot = self._slot(popped, taken if reason is None else None, copy)
        slot.reward, slot.done = None, None if reason is None else True
        slot.info["truncated"] = reason is not None
        slot.info["end_reason"] = reason
        return slot

    def _take(self, hold: bool = False) -> EpisodeId | None:
        """Bring `_frame` up to date; return the episode whose pixels it holds."""
        episode, session = self.link.playing, self.link.session
        if episode is None or session is None:
            return None
        if hold and self._observed is not None and self._observed != episode:
            return None
        if session is not self._session:
            if self._observed is not None:
                return None  # the loss of its session has not been reported yet
            self._session, self._frame_number, self._counted = session, 0, (0, 0, 0, 0)
        if session.frames == self._frame_number:
            self._seen_time = time.monotonic()  # nothing has changed: this is how the world looks now
            if self._observed == episode:
                return episode
        elif not self._is_known(session.frame_time, episode):
            # The loop is late. The frame that was shown last is of the same episode, as far as is known.
            return episode if self._observed == episode == self.link.playing else None
        elif not self._take_newest(session):
            return None
        return episode if self._is_known(self._frame_time, episode) else None

    def _is_known(self, moment: float, episode: EpisodeId) -> bool:
        """Whether a frame of that moment, now that all that was said before it has been heard, is of `episode`."""
        heard = not self._has_rewarder or self.link.heard(moment)
        return heard and self.link.playing == episode

    def _take_newest(self, session: Session) -> bool:
        if self._frame.shape != session.shape:
            self.frame = np.zeros(session.shape, np.uint8)
        try:
            self._frame_number = session.take(self._frame)
            self.taken += 1
        except ValueError:  # resized since its shape was read: there is a frame again at the next poll
            return False
        self._seen_time = self._frame_time = session.frame_time
        return True

    def _observation(self, copy: bool) -> dict[str, Any]:
        frame = self._frame.copy() if copy else self._view
        observation: dict[str, Any] = {"vision": frame, "text": self._text, "instruction": self._instruction}
        if self._env_observation is not None:
            observation["env_observation"] = self._env_observation
        self._text = []
        return observation

    def _note_text(self, popped: Popped) -> None:
        """Keep text for the next observation of its episode; that of an ended episode goes with it."""
        if popped.complete_episode_id is not None:
            self._leave_episode()
        else:
            self._text += popped.text
            if self._instruction is None and popped.text:
                self._instruction = popped.text[0]
            if popped.env_observation is not None:
                self._env_observation = popped.env_observation

    def _leave_episode(self) -> None:
        self._observed = None
        self._text = []
        self._instruction = self._env_observation = None

    def _info(self, popped: Popped, shown: EpisodeId | None) -> dict[str, Any]:
        info = blank()
        info["terminated"] = popped.terminated
        info["env_status.env_id"] = popped.env_id
        info["env_status.env_state"] = popped.env_state
        info["stats.reward.count"] = popped.count
        info["stats.reward.stale"] = popped.stale
        info["stats.reward.duplicate"] = popped.duplicate
        info["mask.masked.action"] = self._masked_events
        info["reaction_time"] = self._reaction_time
        if popped.episode_id is not None:
            info["env_status.episode_id"] = popped.episode_id.text
        if popped.complete_episode_id is not None:
            info["env_status.complete.episode_id"] = popped.complete_episode_id.text
            info["env_status.complete.env_state"] = popped.complete_env_state
            info["env_status.skipped_episodes"] = popped.skipped_episodes
        if shown is None:
            info["mask.masked.observation"] = True
            info["env_status.reason"] = self._reason(popped)
        info["error"] = None if self.new_error is None else str(self.new_error)
        self._add_traffic(info)
        self._add_lags(info, popped, shown)
        for key, value in popped.info.items():
            info[f"remote.{key}"] = value
        return info

    def _reason(self, popped: Popped) -> str:
        """Why there is no observation."""
        state = self.link.state
        if state is State.RUNNING or (state is State.RESETTING and popped.running is not None):
            return "no_frame"
        return str(state)

    def _add_traffic(self, info: dict[str, Any]) -> None:
        session = self._session
        if session is None or session.frames == self._counted[0]:  # a frame is an update that carried pixels
            return
        stats = session.stats
        now = stats.updates, stats.bytes, stats.pixels, stats.rectangles
        then, self._counted = self._counted, now
        info["stats.vnc.updates.n"] = now[0] - then[0]
        info["stats.vnc.updates.bytes"] = now[1] - then[1]
        info["stats.vnc.updates.pixels"] = now[2] - then[2]
        info["stats.vnc.updates.rectangles"] = now[3] - then[3]

    def _add_lags(self, info: dict[str, Any], popped: Popped, shown: EpisodeId | None) -> None:
        """Half a round trip stands for each way; a remote without a rewarder has none measured: 0."""
        rewarder = self.link.rewarder
        clock = None if rewarder is None else rewarder.clock
        rtt = None if clock is None else clock.rtt
        way = (rtt or 0.0) / 2
        if self._reaction_time is not None and self._send_time is not None:
            info["reaction_time"] = self._reaction_time + self._send_time + 2 * way
            info["stats.gauges.diagnostics.lag.action"] = self._send_time + way
        if shown is not None:
            info["stats.gauges.diagnostics.lag.observation"] = time.monotonic() - self._seen_time + way
        if clock is None or rtt is None:
            return
        info["stats.gauges.diagnostics.rtt"] = rtt
        info["stats.gauges.diagnostics.clock_skew"] = clock.skew
        sent, received = popped.sent_at, popped.received_at
        if sent is not None and received is not None:
            info["stats.gauges.diagnostics.lag.rewarder_message"] = clock.lag(sent, received)
            info["stats.gauges.diagnostics.lag.reward"] = clock.lag(sent, time.monotonic())
