"""The two ends of the rewarder protocol without I/O.

A session handles received frames in `receive`. Its other methods queue messages, which `data_to_send`
returns as frames. The caller passes the time: `now` in monotonic seconds, `wall` in UNIX seconds for `sent_at`.
"""

from __future__ import annotations

import logging
import math
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from rewarder.errors import ProtocolError, ResetRejected
from rewarder.protocol.buffer import RewardBuffer
from rewarder.protocol.clock import ClockSync
from rewarder.protocol.codec import decode, encode
from rewarder.protocol.episode import EpisodeId
from rewarder.protocol.messages import (
    Action,
    Call,
    ConnectionClose,
    Describe,
    Envelope,
    EnvObservation,
    EnvObservationSpace,
    Headers,
    Input,
    Message,
    Ping,
    ReplyCall,
    ReplyError,
    ReplyPing,
    ReplyReset,
    ReplyStep,
    Reset,
    Reward,
    Step,
    Text,
    WatchInput,
)

logger = logging.getLogger(__name__)

MAX_PENDING = 64
"""Pings that await a reply; older ones are forgotten."""
MAX_REWARD = 1e300
"""Largest absolute value of a reward, so that sums stay finite."""
MAX_WARNINGS = 32
"""Different warnings that are logged per connection, once each."""


class _Session:
    """What both ends share: message ids, the outbox, and warnings."""

    def __init__(self, label: str) -> None:
        self.label = label
        self._ids = count(1)
        self._outbox: list[str] = []
        self._warned: set[str] = set()

    def data_to_send(self) -> list[str]:
        """Return the text frames to send, in order, and forget them."""
        frames, self._outbox = self._outbox, []
        return frames

    def send(self, message: Message, wall: float, episode_id: EpisodeId | None = None, **headers: Any) -> int:
        """Send a message, about an episode or about none; return its id.

        Raises:
            ValueError: the message is too large.
        """
        message_id = next(self._ids)
        self._outbox.append(encode(Headers(message_id, wall, episode_id, **headers), message))
        return message_id

    def _warn(self, what: str) -> None:
        if what not in self._warned and len(self._warned) < MAX_WARNINGS:
            self._warned.add(what)
            logger.warning("%s: ignored %s", self.label, what)


class ClientSession(_Session):
    """The agent's end of one connection, which writes episodes into a `RewardBuffer`.

    Attributes:
        clock: skew and round-trip time, from the answered pings.
        closing: the reason in `v0.connection.close`, once it is received.
        env_observation_space: the space of environment observations, once it is received.
        reset_error: the error that answered the latest reset, if any.
        speed: the share of real time at which the environment runs, 0 to 1; None while unknown, and in lock-step.
    """

    def __init__(self, buffer: RewardBuffer, label: str = "rewarder") -> None:
        super().__init__(label)
        self.clock = ClockSync()
        self.closing: str | None = None
        self.env_observation_space: EnvObservationSpace | None = None
        self.reset_error: ResetRejected | None = None
        self.speed: float | None = None
        self._feed = buffer.connect()
        self._pings: OrderedDict[int, float] = OrderedDict()
        self._reset_id: int | None = None

    def reset(self, reset: Reset, wall: float) -> int:
        """Send a reset. Only the reply to the latest one has an effect."""
        self.reset_error = None
        # OpenAI's client always sends "0"; the server numbers the episodes.
        self._reset_id = self.send(reset, wall, episode_id=EpisodeId((0,)))
        self._feed.reset_sent(self._reset_id)
        return self._reset_id

    def ping(self, now: float, wall: float) -> None:
        """Send a ping, whose reply has the server's clock."""
        self._pings[self.send(Ping(), wall)] = now
        if len(self._pings) > MAX_PENDING:
            self._pings.popitem(last=False)

    def receive(self, data: str | bytes, now: float, wall: float) -> Envelope | None:
        """Handle one frame.

        Returns:
            The message, after its effects; None if it is a repeated one, or if the buffer has ended this connection.

        Raises:
            ProtocolError: the frame is invalid; close the connection with the error's code.
        """
        envelope = decode(data)
        if not self._feed.is_open or self._feed.is_duplicate(envelope.headers.message_id):
            return None
        message = envelope.message
        if isinstance(message, (Reward, Describe, Text, EnvObservation)):
            self._receive_episode(envelope, now)
        elif isinstance(message, ReplyPing):
            self._receive_pong(envelope.headers, now, wall)
            self.speed = _share(message.speed)
        elif isinstance(message, ReplyReset):
            self._receive_reset(envelope.headers)
        elif isinstance(message, ReplyError):
            self._receive_error(envelope.headers, message.message or "no reason given")
        elif isinstance(message, ConnectionClose):
            self.closing = (message.message or "no reason given")[:1000]
        elif isinstance(message, EnvObservationSpace):
            self.env_observation_space = message
        elif not isinstance(message, (ReplyStep, ReplyCall, Input)):
            self._warn(f"method {message.method!r}")
        return envelope

    def _receive_episode(self, envelope: Envelope, now: float) -> None:
        headers, message, feed = envelope.headers, envelope.message, self._feed
        episode_id = headers.episode_id
        if episode_id is None:
            self._warn(f"{message.method} without an episode_id")
        elif isinstance(message, Reward):
            reward, done = message.reward or 0.0, message.done or False
            if not abs(reward) <= MAX_REWARD:
                raise ProtocolError(f"reward {reward:g}, the limit is {MAX_REWARD:g} either way", 1007)
            feed.reward(episode_id, reward, done, message.info, headers.sent_at, now, envelope.size)
        elif isinstance(message, Describe):
            feed.describe(episode_id, message)
        elif isinstance(message, Text):
            feed.text(episode_id, message.text, envelope.size)
        elif isinstance(message, EnvObservation):
            feed.env_observation(episode_id, message.observation)

    def _receive_pong(self, headers: Headers, now: float, wall: float) -> None:
        parent = headers.parent_message_id
        sent = None if parent is None else self._pings.pop(parent, None)
        if sent is None:
            self._warn("a reply without a ping")
        elif headers.sent_at is not None:
            self.clock.add(sent, now, headers.sent_at, wall)

    def _receive_reset(self, headers: Headers) -> None:
        if not self._feed.reset_replied(headers.parent_message_id, headers.episode_id):
            logger.debug(
                "%s: ignored a reply to reset %s, which is not the latest",
                self.label,
                headers.parent_message_id,
            )

    def _receive_error(self, headers: Headers, reason: str) -> None:
        reason = reason[:1000]
        if self._reset_id is not None and headers.parent_message_id == self._reset_id:
            self.reset_error = ResetRejected(reason)
        else:
            self._warn(f"error reply {reason[:64]!r}")


@dataclass(frozen=True, slots=True)
class ResetRequest:
    """A `v0.env.reset` of a client, which needs one reply."""

    connection: int
    message_id: int | None
    env_id: str | None
    seed: int | None
    fps: float | None
    time_scale: float | None
    received_at: float


@dataclass(frozen=True, slots=True)
class StepRequest:
    """A `v1.env.step` of a client, which needs one reply."""

    connection: int
    message_id: int | None
    events: Sequence[Sequence[Any]]
    received_at: float
    ticks: int = 1
    max_last_two: bool = False


@dataclass(frozen=True, slots=True)
class CallRequest:
    """A `v1.env.call` of a client, which needs one reply."""

    connection: int
    message_id: int | None
    call: Call
    received_at: float


@dataclass(frozen=True, slots=True)
class WatchRequest:
    """A `v1.env.watch_input` of a client, which is answered only by an error."""

    connection: int
    message_id: int | None
    mark: int | None
    received_at: float


Request = ResetRequest | StepRequest | CallRequest | WatchRequest


@dataclass(frozen=True, slots=True)
class ActionRequest:
    """A `v0.agent.action` of a client."""

    env_id: str | None
    action: Sequence[Sequence[Any]]


class ServerSession(_Session):
    """The remote's end of one connection. An observer receives everything and may only ping.

    Attributes:
        speed: the share of real time at which the environment runs, for the replies to pings; set by the owner.
    """

    def __init__(self, connection: int, *, observer: bool = False, label: str = "client") -> None:
        super().__init__(label)
        self.connection = connection
        self.observer = observer
        self.speed: float | None = None

    def receive(self, data: str | bytes, now: float, wall: float) -> Request | ActionRequest | None:
        """Handle one frame; return the request in it for the environment, if any.

        Raises:
            ProtocolError: the frame is invalid; close the connection with the error's code.
        """
        envelope = decode(data)
        message, message_id = envelope.message, envelope.headers.message_id
        if isinstance(message, Ping):
            self.send(ReplyPing(self.speed), wall, parent_message_id=message_id, parent_runtime=0.0)
        elif not isinstance(message, (Reset, Action, Step, Call, WatchInput)):
            self._refuse(message_id, f"unknown method {message.method!r}", wall)
        elif self.observer:
            self._refuse(message_id, "observers may only ping", wall)
        elif isinstance(message, Reset):
            fps, time_scale = _positive(message.fps), _positive(message.time_scale)
            return ResetRequest(
                self.connection, message_id, message.env_id, message.seed, fps, time_scale, now
            )
        elif isinstance(message, Step):
            events = _events(message.events)
            return StepRequest(self.connection, message_id, events, now, message.ticks, message.max_last_two)
        elif isinstance(message, Call):
            return CallRequest(self.connection, message_id, message, now)
        elif isinstance(message, WatchInput):
            return WatchRequest(self.connection, message_id, message.mark, now)
        else:
            return ActionRequest(message.env_id, _events(message.action))
        return None

    def reply(
        self, request: Request, message: Message, now: float, wall: float, episode_id: EpisodeId | None = None
    ) -> None:
        """Reply to a request, which is complete or has failed.

        Args:
            request: a request that `receive` returned.
            message: the reply.
            now: monotonic seconds.
            wall: UNIX seconds.
            episode_id: the episode that a reset or a step began or continued.

        Raises:
            ValueError: the message is too large.
        """
        runtime = now - request.received_at
        headers = {"parent_message_id": request.message_id, "parent_runtime": runtime}
        self.send(message, wall, episode_id, **headers)

    def announce_close(self, reason: str, wall: float) -> None:
        """Send the reason why the connection is about to close."""
        self.send(ConnectionClose(reason), wall)

    def _refuse(self, message_id: int | None, reason: str, wall: float) -> None:
        self._warn(reason)
        self.send(ReplyError(reason), wall, parent_message_id=message_id, parent_runtime=0.0)


def close_reason(text: str) -> str:
    """Cut a text to fit into a close frame, 123 bytes of UTF-8 (RFC 6455 section 5.5)."""
    return text.encode("utf-8", "replace")[:120].decode("utf-8", "ignore")


def checked_reward(reward: float, done: bool, info: dict[str, Any] | None) -> Reward:
    """Return the message for a reward of an environment.

    Raises:
        ValueError: it is not a finite number, which JSON does not have, or exceeds `MAX_REWARD`.
    """
    if not math.isfinite(reward):
        raise ValueError(f"reward {reward} is not a finite number")
    if abs(reward) > MAX_REWARD:
        raise ValueError(f"reward {reward:g}, the limit is {MAX_REWARD:g} either way")
    return Reward(float(reward), bool(done), info or {})


def _share(value: float | None) -> float | None:
    return value if value is not None and 0 <= value <= 1 else None


def _positive(value: float | None) -> float | None:
    return value if value is not None and value > 0 else None


def _events(action: list[Any] | None) -> list[list[Any]]:
    events = action or []
    if not all(isinstance(event, list) for event in events):
        raise ProtocolError("malformed message: an action is a list of lists", 1007)
    return events
