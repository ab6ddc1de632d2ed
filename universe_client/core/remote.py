"""The agent's side of one remote: where its input goes, and what each step returns of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rewarder.protocol.episode import EpisodeId, Popped
from universe_client.core.frame_rule import agreed
from universe_client.core.info import (
    Reaction,
    Traffic,
    add_episode,
    add_latencies,
    add_planned,
    blank,
)
from universe_client.core.link import Link, State
from universe_client.core.view import View
from universe_client.errors import RemoteError
from vnc.events import Event, TimedEvents
from vnc.session import Frame


@dataclass(slots=True)
class Slot:
    """One remote's share of a step.

    Attributes:
        observation, reward, done, info: the entries of the lists that `VectorEnv.recv` returns.
        env_observation: the newest environment observation since the last step; if an episode ended, that episode's.
    """

    observation: dict[str, Any] | None
    reward: float | None
    done: bool | None
    info: dict[str, Any]
    env_observation: Any = None


class Content:
    """What an observation contains beside the pixels: the texts and the environment observation of one episode."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget the episode."""
        self._text: list[Any] = []
        self._instruction: Any = None  # the first text
        self._env_observation: Any = None

    def add(self, popped: Popped) -> None:
        """Add what has arrived."""
        self._text += popped.text
        if self._instruction is None and popped.text:
            self._instruction = popped.text[0]
        if popped.env_observation is not None:
            self._env_observation = popped.env_observation

    def observation(self, frame: Frame) -> dict[str, Any]:
        """Return an observation with `frame`; each text is returned once."""
        observation: dict[str, Any] = {"vision": frame, "text": self._text, "instruction": self._instruction}
        if self._env_observation is not None:
            observation["env_observation"] = self._env_observation
        self._text = []
        return observation


class Remote:
    """The agent's side of a `Link`. All methods run on the agent's thread.

    Attributes:
        link: the side on the event loop's thread.
        view: the newest frame that has been taken.
        error: the newest error; None before the first.
        new_error: the error that the last poll reported; None if there was none.
    """

    def __init__(self, link: Link) -> None:
        self.link = link
        self.view = View()
        self._connection = link.connection
        self._pace, self._is_realtime = link.pace, link.pace.is_realtime
        self.error: RemoteError | None = None
        self.new_error: RemoteError | None = None
        self._raised: RemoteError | None = None
        self._observed: EpisodeId | None = None  # the episode of the last observation that the agent received
        self._content = Content()
        self._traffic = Traffic()
        self._masked_events = 0
        self._masked_planned = 0  # events that could not be planned, since the last poll
        self._reaction: Reaction | None = None  # of the last action

    # -- resets and ends ----------------------------------------------------------------------------------------

    def begin_reset(self) -> None:
        """Drop everything of the episodes so far; an observer only drops what it has seen."""
        self._pace.begin_reset()
        self.link.gate.cancel()
        if not self.link.config.observer:
            self.link.buffer.begin_reset()
        self._leave_episode()

    def _leave_episode(self) -> None:
        self._observed = None
        self._content.clear()

    def end_episode(self, reason: str) -> bool:
        """Truncate the episode that the agent sees, and report it in the next poll; return False if it has ended."""
        if self._observed is None or self._observed != self.link.playing:
            return False
        self.link.gate.cancel()
        if self.link.has_rewarder:
            self.link.buffer.end_episode(reason)
        else:
            self.link.unreported.end_endless(reason)
        return True

    def error_to_raise(self) -> RemoteError | None:
        """Return the newest error, once; the next poll reports it nevertheless."""
        errors = self.link.unreported.errors
        newest = errors[-1] if errors else self.new_error
        if newest is self._raised:
            return None
        self._raised = newest
        self.error = newest or self.error
        return newest

    # -- steps --------------------------------------------------------------------------------------------------

    def send(self, events: Sequence[Event], ticks: int = 1) -> bool:
        """Send `events` if the episode that the agent saw is still being played; otherwise drop and count them.

        In lock-step they are for the next `ticks` ticks. Return False if they were dropped.
        """
        self._masked_events, self._reaction = 0, None
        if not events and self._is_realtime:
            return True
        began = time.monotonic()
        if not self._pace.send(events, self._observed, ticks):
            self._masked_events = len(events)
            return False
        if self._is_realtime:
            self._reaction = Reaction(began - self.view.seen_time, time.monotonic() - began)
        return True

    def plan(self, since: float, timed: Sequence[TimedEvents]) -> None:
        """Plan input, if the episode that the agent saw is still being played; otherwise drop and count it.

        In real time only; see `InputGate.plan`.
        """
        if not self.link.plan(since, timed, self._observed):
            self._masked_planned += sum(len(events) for _, events in timed)

    @property
    def has_news(self) -> bool:
        """Whether a poll would return something that the agent has not seen: a frame, or the end of its episode."""
        return self._pace.has_news(self.view, self._observed)

    @property
    def is_idle(self) -> bool:
        """Whether `send` may be called: always, except in lock-step after an interrupted step."""
        return self._pace.is_idle(self._observed)

    @property
    def is_settled(self) -> bool:
        """Whether `poll` may be called: always, except in lock-step while a step or reset is pending."""
        return self._pace.is_settled(self.view, self._observed)

    def next_look(self, look: float) -> None:
        """Announce when the next poll is; see `vnc.session.Session.next_look`."""
        self._pace.next_look(look)

    def look(self) -> None:
        """Take the newest frame of the episode that the agent sees; leave rewards and ends for the next poll."""
        if self._observed is not None:
            self._pace.take(self.view, self._observed, hold=True)

    def poll(self, copy: bool = True, hold: bool = False) -> Slot:
        """Return what has arrived since the last poll.

        Args:
            copy: return a copy of the frame; False returns a read-only view.
            hold: do not take a frame of the next episode before the poll that follows the one which returned the end:
                the view keeps the last frame of the episode.
        """
        # The order matters: the rewards must be at least as new as the frame.
        taken = self._pace.take(self.view, self._observed, hold)
        popped, self.new_error, endless_end = self.link.unreported.collect()
        self.error = self.new_error or self.error
        slot = self._slot(popped, endless_end, taken, copy)
        if not self._is_realtime:
            self._pace.polled(slot.observation is not None, bool(slot.done))
        return slot

    def _slot(self, popped: Popped, endless_end: str | None, taken: EpisodeId | None, copy: bool) -> Slot:
        reward: float | None = None
        done: bool | None = None
        if self._connection.has_rewarder:
            reward, done = popped.reward, popped.terminated or popped.truncated
            truncated, end_reason = popped.truncated, popped.end_reason
            shown = agreed(taken, popped.running)
        else:
            end_reason = endless_end
            truncated = end_reason is not None
            done = truncated or None
            shown = None if truncated else taken
        self._enter_episode(popped, shown)
        observation = None
        if shown is not None:
            observation = self._content.observation(self.view.frame.copy() if copy else self.view.read_only)
        info = self._info(popped)
        info["truncated"], info["end_reason"] = truncated, end_reason
        return Slot(observation, reward, done, info, popped.env_observation)

    def _enter_episode(self, popped: Popped, shown: EpisodeId | None) -> None:
        """Note what the agent sees from now on; the content of an ended episode is never shown."""
        if popped.complete_episode_id is not None:
            self._content.clear()
        else:
            self._content.add(popped)
        self._observed = shown

    def _info(self, popped: Popped) -> dict[str, Any]:
        is_shown = self._observed is not None
        info = blank()
        add_episode(info, popped)
        info["mask.masked.action"] = self._masked_events + self._masked_planned
        self._masked_planned = 0
        if self.link.gate.plans:
            add_planned(info, self.link.gate.report())
        if not is_shown:
            info["mask.masked.observation"] = True
            info["env_status.reason"] = self._reason(popped)
        info["error"] = None if self.new_error is None else str(self.new_error)
        self._traffic.add_to(info, self.view.session)
        if self.view.is_shared:
            info["stats.vnc.pixels_by"] = "shared"
        rewarder = self._connection.rewarder
        clock = None if rewarder is None else rewarder.clock
        add_latencies(info, popped, clock, self._reaction, self.view.seen_time if is_shown else None)
        return info

    def _reason(self, popped: Popped) -> str:
        """Return why there is no observation."""
        state = self.link.state
        if state is State.RUNNING or (state is State.RESETTING and popped.running is not None):
            return "no_frame"
        return str(state)
