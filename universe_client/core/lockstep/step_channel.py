"""The agent's side of a step channel (`rewarder.steps`): which step is pending, and what its reply has brought."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rewarder.errors import PEER_VANISHED, PeerLost, ProtocolError
from rewarder.protocol.messages import Envelope, ReplyStep, Step
from rewarder.protocol.sessions import MAX_REWARD
from rewarder.steps.channel import Channel
from universe_client.core.view import View

if TYPE_CHECKING:
    from universe_client.core.link import Link

_GRACE = 2.0
"""Seconds in which the rewarder may say why the remote ends, after its step channel was closed."""


class StepChannel:
    """Steps one remote. Only `send`, `receive` and `take` are called on the agent's thread.

    Attributes:
        is_pending: whether the reply to a step is awaited.
        is_lost: whether the channel has ended, so that the connection is about to end.
    """

    def __init__(self, link: Link) -> None:
        self._link = link
        self._channel: Channel | None = None
        self._step_id = 0
        self._is_new = False  # whether the shared pixels differ from the view
        self._is_watched = False
        self.is_pending = self.is_lost = False

    @property
    def is_open(self) -> bool:
        """Whether the remote is stepped over a channel."""
        return self._channel is not None

    def follow(self, channel: Channel | None) -> None:
        """Use the channel of the present connection, if it has one."""
        if channel is not self._channel:
            self._unwatch()
            self._channel = channel
            self.is_pending = self.is_lost = False

    def renew(self) -> None:
        """The shared pixels show the beginning of an episode."""
        self._is_new = True

    def watch(self) -> None:
        """Wake the agent when the awaited reply arrives."""
        if self._channel is not None and self.is_pending and not self._is_watched:
            self._is_watched = True
            self._link.loop.add_reader(self._channel.fileno(), self._arrived)

    def _arrived(self) -> None:
        self._unwatch()
        self._link.wake(always=True)

    def _unwatch(self) -> None:
        if self._is_watched and self._channel is not None:
            self._link.loop.remove_reader(self._channel.fileno())
        self._is_watched = False

    # -- on the agent's thread ----------------------------------------------------------------------------------

    def send(self, step: Step) -> None:
        """Send a step; after the end of an episode, on the event loop's thread."""
        channel = self._channel
        if channel is None:
            return
        try:
            self._step_id = channel.send(step, time.time())
            self.is_pending = True
        except OSError as error:
            self._lost(channel, error)

    def receive(self, wait: bool) -> Envelope | None:
        """Return the reply to the pending step; None if it has not arrived, with `wait` after a second."""
        channel = self._channel
        if channel is None or not self.is_pending:
            return None
        try:
            envelope = channel.receive(wait)
        except (OSError, ProtocolError) as error:
            self._lost(channel, error)
            return None
        if envelope is None or envelope.headers.parent_message_id != self._step_id:
            return None  # or a reply to a step that a reset has overtaken
        self.is_pending = False
        if isinstance(envelope.message, ReplyStep) and envelope.message.is_drawn:
            self._is_new = True
        return envelope

    def take(self, view: View) -> bool:
        """Copy the newest frame into `view`; return False while a step is pending, which may draw another."""
        channel = self._channel
        if channel is None or self.is_pending:
            return False
        if self._is_new or not view.is_filled:
            self._is_new = False
            view.copy(channel.pixels)
        return True

    def _lost(self, channel: Channel, error: Exception) -> None:
        """End the connection; the rewarder's own reason comes first, if it gives one."""
        self.is_pending = False
        self.is_lost = True
        self._link.call_soon(self._end, channel, error)

    def _end(self, channel: Channel, error: Exception) -> None:
        if isinstance(error, ProtocolError):
            self._link.end(error)
        else:
            self._link.loop.call_later(_GRACE, self._end_late, channel)

    def _end_late(self, channel: Channel) -> None:
        if channel is self._channel:
            self._link.end(PeerLost(PEER_VANISHED, "the remote has closed its step channel"))


def feed(link: Link, envelope: Envelope, reply: ReplyStep) -> None:
    """Put what a reply contains into the reward buffer. It may be called on any thread.

    Raises:
        ProtocolError: the reward is out of range, or the reply is about no episode.
    """
    episode_id, buffer = envelope.headers.episode_id, link.buffer.feed
    if episode_id is None:
        raise ProtocolError(f"{reply.method} without an episode_id", 1007)
    if buffer is None:
        return
    if reply.reward is not None:
        if not abs(reply.reward) <= MAX_REWARD:
            raise ProtocolError(f"reward {reply.reward:g}, the limit is {MAX_REWARD:g} either way", 1007)
        sent_at, now = envelope.headers.sent_at, time.monotonic()
        buffer.reward(episode_id, reply.reward, False, reply.info, sent_at, now, envelope.size)
    if reply.observation is not None:
        buffer.env_observation(episode_id, reply.observation)
