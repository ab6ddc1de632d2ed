"""Every message of the rewarder protocol as a struct: a tolerant reader and a strict writer.

    {"method": "v0.env.text",
     "headers": {"message_id": 15, "sent_at": 1479493678.19, "episode_id": "7"},
     "body": {"text": "this is some text"}}

The reader takes what shipped remotes really send: ids as integers or strings, missing `message_id`, null
bodies and null fields, unknown methods and fields. The writer sends what every shipped client understands:
`episode_id` a string, `message_id` and `parent_message_id` integers, `sent_at` float seconds, the body always
an object.
"""

from __future__ import annotations

import math
import re
from typing import Any, ClassVar

import msgspec

from rewarder.errors import ProtocolError
from rewarder.protocol.episode import EpisodeId
from rewarder.sanitize import clean, clean_data

MAX_FRAME = 1 << 20
"""Bytes of one message; the WebSocket default of both ends of the original protocol's libraries."""
MAX_DEPTH = 64
"""Nesting of JSON containers in one message; far more than any info needs, far less than a stack holds."""
MAX_ID = 1 << 53
"""Message ids beyond what a JavaScript peer can count are treated as missing."""

_INTEGER = re.compile(r"[0-9]{1,16}")


class Headers(msgspec.Struct, frozen=True):
    """What every message carries, in one type for both directions."""

    message_id: int | None = None
    sent_at: float | None = None
    episode_id: EpisodeId | None = None
    parent_message_id: int | None = None
    parent_runtime: float | None = None


class Message(msgspec.Struct, frozen=True):
    """Base of all message bodies."""

    method: ClassVar[str] = ""


class Describe(Message, frozen=True):
    """Server: the state of an episode."""

    method: ClassVar[str] = "v0.env.describe"
    env_id: str | None = None
    env_state: str | None = None
    fps: float | None = None


class Reward(Message, frozen=True):
    """Server: a reward, and whether it was the episode's last."""

    method: ClassVar[str] = "v0.env.reward"
    reward: float | None = 0.0
    done: bool | None = False
    info: dict[str, Any] | None = None


class Text(Message, frozen=True):
    """Server: text the agent may read; any JSON."""

    method: ClassVar[str] = "v0.env.text"
    text: Any = None


class EnvObservation(Message, frozen=True):
    """Server: an observation other than pixels; any JSON."""

    method: ClassVar[str] = "v0.env.observation"
    observation: Any = None


class ConnectionClose(Message, frozen=True):
    """Server: why it is about to close the connection, in words."""

    method: ClassVar[str] = "v0.connection.close"
    message: str | None = ""


class ReplyError(Message, frozen=True):
    """Server: the request failed."""

    method: ClassVar[str] = "v0.reply.error"
    message: str | None = ""


class ReplyReset(Message, frozen=True, omit_defaults=True):
    """Server: the reset is complete; the header names the episode it led to.

    `checksum`, for a lock-step client, is that of the screen; see `ReplyStep`.
    """

    method: ClassVar[str] = "v0.reply.env.reset"
    checksum: int | None = None


class ReplyStep(Message, frozen=True):
    """Server, in lock-step: the step is over, all that it brought has been sent; the header names the episode.

    `checksum` is the CRC-32 of the screen's pixels now, row by row, R G B; null where the remote does not draw them.
    """

    method: ClassVar[str] = "v1.reply.env.step"
    checksum: int | None = None


class ReplyPing(Message, frozen=True):
    """Server: here is my clock, in `sent_at`."""

    method: ClassVar[str] = "v0.reply.control.ping"


class ReplyCall(Message, frozen=True):
    """Server: what the call returned, as in `rewarder.protocol.values`.

    With `is_method`, for a "get" of something that is there to be called, there is no value.
    """

    method: ClassVar[str] = "v1.reply.env.call"
    value: Any = None
    is_method: bool = False


class EnvObservationSpace(Message, frozen=True):
    """Server, to a client that wants observations: the box that each `v0.env.observation` is from.

    `low` and `high` are as in `rewarder.protocol.values`, arrays of `dtype` and `shape`.
    """

    method: ClassVar[str] = "v1.env.observation_space"
    low: Any = None
    high: Any = None


class Reset(Message, frozen=True):
    """Client: restart, or switch to `env_id`."""

    method: ClassVar[str] = "v0.env.reset"
    env_id: str | None = None
    seed: int | None = None
    fps: float | None = None


class Ping(Message, frozen=True):
    """Client: tell me your clock."""

    method: ClassVar[str] = "v0.control.ping"


class Action(Message, frozen=True):
    """Client: input that has no VNC event, as `[[name, value, ...], ...]`."""

    method: ClassVar[str] = "v0.agent.action"
    env_id: str | None = None
    action: list[Any] | None = None


class Step(Message, frozen=True):
    """Client, in lock-step: live for one tick with this input, or begin the next episode if this one is over.

    `events` are `["KeyEvent", keysym, down]` and `["PointerEvent", x, y, button_mask]`.
    """

    method: ClassVar[str] = "v1.env.step"
    events: list[Any] | None = None


class Call(Message, frozen=True):
    """Client: call, read or set something in the environment that the remote has listed.

    `operation` is "call", "get" or "set" (to the one argument); arguments are as in `rewarder.protocol.values`.
    """

    method: ClassVar[str] = "v1.env.call"
    operation: str = "call"
    name: str = ""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}


class UnknownMessage(msgspec.Struct, frozen=True):
    """A method this version does not know; to be ignored."""

    method: str


SERVER_MESSAGES: tuple[type[Message], ...] = (
    Describe, Reward, Text, EnvObservation, ConnectionClose, ReplyError, ReplyReset, ReplyPing, ReplyStep,
    ReplyCall, EnvObservationSpace,
)  # fmt: skip
CLIENT_MESSAGES: tuple[type[Message], ...] = (Reset, Ping, Action, Step, Call)


class Envelope(msgspec.Struct, frozen=True):
    """One decoded message; `size` is its length on the wire."""

    headers: Headers
    message: Message | UnknownMessage
    size: int = 0


class _WireHeaders(msgspec.Struct):
    message_id: int | float | str | None = None
    sent_at: float | str | None = None
    episode_id: int | float | str | None = None
    parent_message_id: int | float | str | None = None
    parent_runtime: float | str | None = None


class _WireEnvelope(msgspec.Struct):
    method: str
    headers: _WireHeaders | None = None
    body: msgspec.Raw = msgspec.Raw(b"null")


_READ_BY_AGENTS = frozenset({"high", "info", "low", "observation", "text", "value"})
"""Fields with data in which lines may end; what agents send (actions, arguments of calls) nobody prints."""

_NULL = msgspec.Raw(b"null")
_ENVELOPE = msgspec.json.Decoder(_WireEnvelope)
_BODIES = {kind.method: msgspec.json.Decoder(kind) for kind in SERVER_MESSAGES + CLIENT_MESSAGES}
_EMPTY_BODIES = {kind.method: kind() for kind in SERVER_MESSAGES + CLIENT_MESSAGES}
_ENCODER = msgspec.json.Encoder()


def decode(data: str | bytes) -> Envelope:
    """Read one frame: a `str` as WebSocket libraries give text frames, `bytes` for a binary one.

    Raises:
        ProtocolError: with close code 1003 (binary), 1009 (too big), 1007 (not a message of this protocol).
    """
    if not isinstance(data, str):
        raise ProtocolError("binary frame, the protocol is text", 1003)
    if len(data) > MAX_FRAME:
        raise ProtocolError(f"message of {len(data)} characters, the limit is {MAX_FRAME}", 1009)
    try:
        wire = _ENVELOPE.decode(data)
        message = _body(wire)
        headers = _headers(wire.headers)
    except (msgspec.MsgspecError, ValueError) as error:
        raise ProtocolError(f"malformed message: {str(error)[:200]}", 1007) from None
    except RecursionError:
        raise ProtocolError("message is nested too deeply", 1007) from None
    # Counting is quick and almost always enough; walking is neither.
    if data.count("[") + data.count("{") > MAX_DEPTH:
        _check_depth(message)
    # JSON hides what cannot be seen behind a backslash, or it is there for all to see.
    if "\\" in data or not data.isprintable():
        message = _harmless(message)
    return Envelope(headers, message, len(data))


def encode(headers: Headers, message: Message) -> str:
    """Write one message.

    Raises:
        ValueError: the result is larger than a peer will take, or holds what JSON cannot say.
    """
    try:
        data = _ENCODER.encode({"method": message.method, "headers": _wire_headers(headers), "body": message})
    except (TypeError, OverflowError, RecursionError) as error:
        raise ValueError(f"{message.method}: {error}") from error
    if len(data) > MAX_FRAME:
        raise ValueError(f"{message.method} of {len(data)} bytes, the limit is {MAX_FRAME}")
    return data.decode()


def _body(wire: _WireEnvelope) -> Message | UnknownMessage:
    decoder = _BODIES.get(wire.method)
    if decoder is None:
        return UnknownMessage(wire.method[:64])
    # A missing body is as empty as a null one: the C++ remotes of old send null.
    if wire.body == _NULL:
        return _EMPTY_BODIES[wire.method]
    return decoder.decode(wire.body)


def _harmless(message: Message | UnknownMessage) -> Message | UnknownMessage:
    """Replace what a terminal might act on: see `rewarder.sanitize`."""
    changes: dict[str, Any] = {}
    for name in message.__struct_fields__:
        value = getattr(message, name)
        if name in _READ_BY_AGENTS:
            changes[name] = clean_data(value)
        elif isinstance(value, str):
            changes[name] = clean(value)
    return msgspec.structs.replace(message, **changes)


def _headers(wire: _WireHeaders | None) -> Headers:
    if wire is None:
        return Headers()
    return Headers(
        _message_id(wire.message_id),
        _seconds(wire.sent_at),
        None if wire.episode_id is None else _episode_id(wire.episode_id),
        _message_id(wire.parent_message_id),
        _seconds(wire.parent_runtime),
    )


def _episode_id(value: int | float | str) -> EpisodeId:
    return EpisodeId.parse(str(int(value) if isinstance(value, float) and value.is_integer() else value))


def _message_id(value: int | float | str | None) -> int | None:
    """An id as an integer; None when it is missing or nothing we could have sent."""
    if isinstance(value, str):
        return int(value) if _INTEGER.fullmatch(value) else None
    if value is None or value != value or not 0 <= value < MAX_ID or value != int(value):
        return None
    return int(value)


def _seconds(value: float | str | None) -> float | None:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    return value if value is not None and math.isfinite(value) else None


def _wire_headers(headers: Headers) -> dict[str, object]:
    wire: dict[str, object] = {"message_id": headers.message_id, "sent_at": headers.sent_at}
    if headers.episode_id is not None:
        wire["episode_id"] = str(headers.episode_id)
    if headers.parent_message_id is not None:
        wire["parent_message_id"] = headers.parent_message_id
    if headers.parent_runtime is not None:
        wire["parent_runtime"] = headers.parent_runtime
    return wire


def _check_depth(message: Message | UnknownMessage) -> None:
    values: list[Any] = [getattr(message, name) for name in message.__struct_fields__]
    for _ in range(MAX_DEPTH):
        values = [
            inner
            for value in values
            if isinstance(value, (dict, list))
            for inner in (value.values() if isinstance(value, dict) else value)
        ]
        if not values:
            return
    raise ProtocolError(f"message is nested deeper than {MAX_DEPTH}", 1007)
