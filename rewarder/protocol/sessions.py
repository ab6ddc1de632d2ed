"""The rewarder protocol without I/O: what each end makes of a message, and the messages it answers with.

Both sessions have three verbs: `receive` a frame, ask for something to be sent, and collect it with
`data_to_send`. Time is given, never read: `now` is monotonic seconds, `wall` unix seconds for `sent_at`.
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
    decode,
    encode,
)

logger = logging.getLogger(__name__)

MAX_PENDING = 64
"""Pings whose reply may be outstanding; older ones are given up."""
MAX_REWARD = 1e300
"""Of one reward, either way: any number of them that can ever arrive has a finite sum."""
MAX_NOTED = 32
"""Different oddities logged per connection, once each."""


class _Session:
    """What both ends share: ids, the outbox, and the log of oddities."""

    def __init__(self, label: str) -> None:
        self.label = label
        self._ids = count(1)
        self._outbox: list[str] = []
        self._noted: set[str] = set()

    def data_to_send(self) -> list[str]:
        """Take the text frames to be sent, in order."""
        frames, self._outbox = self._outbox, []
        return frames

    def _send(self, message: Message, wall: float, **headers: Any) -> int:
        message_id = next(self._ids)
        self._outbox.append(encode(Headers(message_id, wall, **headers), message))
        return message_id

    def _note(self, what: str) -> None:
        if what not in self._noted and len(self._noted) < MAX_NOTED:
            self._noted.add(what)
            logger.warning("%s: ignored %s", self.label, what)


class ClientSession(_Session):
    """The agent's end of one connection; what is about episodes goes into the `RewardBuffer`.

    Attributes:
        clock: skew and round trip, from the pings answered so far.
        closing: what the server said in `v0.connection.close`, if it did.
        env_observation_space: of the environment's own observations, if the server told it.
        reset_error: the error the latest reset was answered with; None while there is none.
    """

    def __init__(self, buffer: RewardBuffer, label: str = "rewarder") -> None:
        super().__init__(label)
        self.clock = ClockSync()
        self.closing: str | None = None
        self.env_observation_space: EnvObservationSpace | None = None
        self.reset_error: ResetRejected | None = None
        self._feed = buffer.connect()
        self._pings: OrderedDict[int, float] = OrderedDict()
        self._reset_id: int | None = None

    def reset(self, env_id: str | None, seed: int | None, fps: float | None, wall: float) -> int:
        """Ask for a reset; only the answer to the latest one counts."""
        self.reset_error = None
        # "0" is what the original client always sent: the server alone decides about episodes.
        self._reset_id = self._send(Reset(env_id, seed, fps), wall, episode_id=EpisodeId((0,)))
        self._feed.reset_sent(self._reset_id)
        return self._reset_id

    def step(self, events: Sequence[Sequence[object]], wall: float) -> int:
        """Ask for one tick with this input, in lock-step; return the message id that its answer will name."""
        return self._send(Step(list(events)), wall)

    def call(self, call: Call, wall: float) -> int:
        """Ask the environment something; return the message id that the answer will name."""
        return self._send(call, wall)

    def action(self, env_id: str | None, action: Sequence[Sequence[Any]], wall: float) -> None:
        """Send input that has no VNC event."""
        self._send(Action(env_id, list(action)), wall)

    def ping(self, now: float, wall: float) -> None:
        """Ask for the server's clock."""
        self._pings[self._send(Ping(), wall)] = now
        if len(self._pings) > MAX_PENDING:
            self._pings.popitem(last=False)

    def receive(self, data: str | bytes, now: float, wall: float) -> Envelope | None:
        """Take one frame.

        Returns:
            The message, already acted upon; None if it was seen before, or if the buffer has ended this connection.

        Raises:
            ProtocolError: the connection has to be closed with the error's code.
        """
        envelope = decode(data)
        if not self._feed.is_open or self._feed.is_duplicate(envelope.headers.message_id):
            return None
        message = envelope.message
        if isinstance(message, (Reward, Describe, Text, EnvObservation)):
            self._receive_episode(envelope, now)
        elif isinstance(message, ReplyPing):
            self._receive_pong(envelope.headers, now, wall)
        elif isinstance(message, ReplyReset):
            self._receive_reset(envelope.headers)
        elif isinstance(message, ReplyError):
            self._receive_error(envelope.headers, message.message or "no reason given")
        elif isinstance(message, ConnectionClose):
            self.closing = (message.message or "no reason given")[:1000]
        elif isinstance(message, EnvObservationSpace):
            self.env_observation_space = message
        elif not isinstance(message, (ReplyStep, ReplyCall)):
            self._note(f"method {message.method!r}")
        return envelope

    def _receive_episode(self, envelope: Envelope, now: float) -> None:
        headers, message, feed = envelope.headers, envelope.message, self._feed
        episode_id = headers.episode_id
        if episode_id is None:
            self._note(f"{message.method} without an episode_id")
        elif isinstance(message, Reward):
            reward, done = message.reward or 0.0, message.done or False
            if not abs(reward) <= MAX_REWARD:
                raise ProtocolError(f"reward {reward:g}, the limit is {MAX_REWARD:g} either way", 1007)
            feed.reward(episode_id, reward, done, message.info, headers.sent_at, now, envelope.size)
        elif isinstance(message, Describe):
            feed.describe(episode_id, message.env_id, message.env_state, message.fps)
        elif isinstance(message, Text):
            feed.text(episode_id, message.text, envelope.size)
        elif isinstance(message, EnvObservation):
            feed.env_observation(episode_id, message.observation)

    def _receive_pong(self, headers: Headers, now: float, wall: float) -> None:
        parent = headers.parent_message_id
        sent = None if parent is None else self._pings.pop(parent, None)
        if sent is None:
            self._note("a reply to no ping of ours")
        elif headers.sent_at is not None:
            self.clock.add(sent, now, headers.sent_at, wall)

    def _receive_reset(self, headers: Headers) -> None:
        if not self._feed.reset_replied(headers.parent_message_id, headers.episode_id):
            logger.debug("%s: a reply to reset %s, not the latest", self.label, headers.parent_message_id)

    def _receive_error(self, headers: Headers, reason: str) -> None:
        reason = reason[:1000]
        if self._reset_id is not None and headers.parent_message_id == self._reset_id:
            self.reset_error = ResetRejected(reason)
        else:
            self._note(f"error reply {reason[:64]!r}")


@dataclass(frozen=True, slots=True)
class ResetRequest:
    """A client's `v0.env.reset`, to be answered once."""

    connection: int
    message_id: int | None
    env_id: str | None
    seed: int | None
    fps: float | None
    received_at: float


@dataclass(frozen=True, slots=True)
class StepRequest:
    """A client's `v1.env.step`, to be answered once."""

    connection: int
    message_id: int | None
    events: Sequence[Sequence[Any]]
    received_at: float


@dataclass(frozen=True, slots=True)
class CallRequest:
    """A client's `v1.env.call`, to be answered once."""

    connection: int
    message_id: int | None
    call: Call
    received_at: float


Request = ResetRequest | StepRequest | CallRequest


@dataclass(frozen=True, slots=True)
class ActionRequest:
    """A client's `v0.agent.action`."""

    env_id: str | None
    action: Sequence[Sequence[Any]]


class ServerSession(_Session):
    """The remote's end of one connection. An observer hears everything and may only ping."""

    def __init__(self, connection: int, *, observer: bool = False, label: str = "client") -> None:
        super().__init__(label)
        self.connection = connection
        self.observer = observer

    def receive(self, data: str | bytes, now: float, wall: float) -> Request | ActionRequest | None:
        """Take one frame; return what the runtime has to do about it, if anything.

        Raises:
            ProtocolError: the connection has to be closed with the error's code.
        """
        envelope = decode(data)
        message, message_id = envelope.message, envelope.headers.message_id
        if isinstance(message, Ping):
            self._send(ReplyPing(), wall, parent_message_id=message_id, parent_runtime=0.0)
        elif not isinstance(message, (Reset, Action, Step, Call)):
            self._refuse(message_id, f"unknown method {message.method!r}", wall)
        elif self.observer:
            self._refuse(message_id, "observers may only ping", wall)
        elif isinstance(message, Reset):
            return ResetRequest(
                self.connection, message_id, message.env_id, message.seed, _positive(message.fps), now
            )
        elif isinstance(message, Step):
            return StepRequest(self.connection, message_id, _events(message.events), now)
        elif isinstance(message, Call):
            return CallRequest(self.connection, message_id, message, now)
        else:
            return ActionRequest(message.env_id, _events(message.action))
        return None

    def publish(self, episode_id: EpisodeId, message: Message, wall: float) -> None:
        """Send a message about an episode."""
        self._send(message, wall, episode_id=episode_id)

    def reply_reset(
        self,
        request: ResetRequest,
        episode_id: EpisodeId,
        now: float,
        wall: float,
        checksum: int | None = None,
    ) -> None:
        """Answer a reset: it is complete and led to this episode."""
        self._reply(ReplyReset(checksum), request, episode_id, now, wall)

    def reply_step(
        self,
        request: StepRequest,
        episode_id: EpisodeId,
        now: float,
        wall: float,
        checksum: int | None = None,
    ) -> None:
        """Answer a step: the tick is over, or it led to this episode."""
        self._reply(ReplyStep(checksum), request, episode_id, now, wall)

    def reply_call(self, request: CallRequest, reply: ReplyCall, now: float, wall: float) -> None:
        """Answer a call.

        Raises:
            ValueError: the value is larger than a message may be.
        """
        self._reply(reply, request, None, now, wall)

    def tell(self, message: Message, wall: float) -> None:
        """Send a message that is about no episode."""
        self._send(message, wall)

    def _reply(
        self, message: Message, request: Request, episode_id: EpisodeId | None, now: float, wall: float
    ) -> None:
        self._send(
            message,
            wall,
            episode_id=episode_id,
            parent_message_id=request.message_id,
            parent_runtime=now - request.received_at,
        )

    def reply_error(self, request: Request, message: str, now: float, wall: float) -> None:
        """Answer a request: it failed."""
        self._send(
            ReplyError(message),
            wall,
            parent_message_id=request.message_id,
            parent_runtime=now - request.received_at,
        )

    def say_goodbye(self, reason: str, wall: float) -> None:
        """Say in words why the connection is about to be closed."""
        self._send(ConnectionClose(reason), wall)

    def _refuse(self, message_id: int | None, reason: str, wall: float) -> None:
        self._note(reason)
        self._send(ReplyError(reason), wall, parent_message_id=message_id, parent_runtime=0.0)


def close_reason(text: str) -> str:
    """Fit a text into a close frame: 123 bytes of UTF-8 (RFC 6455 section 5.5)."""
    return text.encode("utf-8", "replace")[:120].decode("utf-8", "ignore")


def checked_reward(reward: float, done: bool, info: dict[str, Any] | None) -> Reward:
    """Return the message for a reward a runtime gave.

    Raises:
        ValueError: not a finite number, which JSON cannot say, or beyond `MAX_REWARD`.
    """
    if not math.isfinite(reward):
        raise ValueError(f"reward {reward} is not a finite number")
    if abs(reward) > MAX_REWARD:
        raise ValueError(f"reward {reward:g}, the limit is {MAX_REWARD:g} either way")
    return Reward(float(reward), bool(done), info or {})


def _positive(fps: float | None) -> float | None:
    return fps if fps is not None and fps > 0 else None


def _events(action: list[Any] | None) -> list[list[Any]]:
    events = action or []
    if not all(isinstance(event, list) for event in events):
        raise ProtocolError("malformed message: an action is a list of lists", 1007)
    return events
