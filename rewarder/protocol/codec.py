"""Decode and encode messages: a tolerant reader and a strict writer.

The reader accepts what published remotes send: ids as integers or strings, a missing `message_id`, null bodies and
fields, unknown methods and fields. The writer sends what every published client understands: `episode_id` as a string,
`message_id` and `parent_message_id` as integers, `sent_at` as a float in UNIX seconds, and the body as an object.
"""

from __future__ import annotations

import math
import re
from typing import Any

import msgspec

from rewarder.errors import ProtocolError
from rewarder.protocol.episode import EpisodeId
from rewarder.protocol.messages import (
    CLIENT_MESSAGES,
    SERVER_MESSAGES,
    Envelope,
    Headers,
    Message,
    UnknownMessage,
)
from rewarder.sanitize import clean, clean_data

MAX_FRAME = 1 << 20
"""Bytes of one message, the default limit of common WebSocket libraries."""
MAX_DEPTH = 64
"""Nesting of JSON containers in one message."""
MAX_ID = 1 << 53
"""Message ids from here on are treated as missing: JavaScript cannot represent them exactly."""

_INTEGER = re.compile(r"[0-9]{1,16}")


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
"""Fields of data for agents, in which line ends and tabs stay."""

_NULL = msgspec.Raw(b"null")
_ENVELOPE = msgspec.json.Decoder(_WireEnvelope)
_BODIES = {kind.method: msgspec.json.Decoder(kind) for kind in SERVER_MESSAGES + CLIENT_MESSAGES}
_EMPTY_BODIES = {kind.method: kind() for kind in SERVER_MESSAGES + CLIENT_MESSAGES}
_ENCODER = msgspec.json.Encoder()


def decode(data: str | bytes) -> Envelope:
    """Decode one frame.

    Args:
        data: the frame as WebSocket libraries return it, `str` for text and `bytes` for binary.

    Raises:
        ProtocolError: with close code 1003 (binary), 1009 (too big), 1007 (not a message of this protocol).
    """
    if not isinstance(data, str):
        raise ProtocolError("binary frame, the protocol has text frames only", 1003)
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
    if may_be_deep(data):
        _check_depth(message)
    if may_have_controls(data):
        message = _harmless(message)
    return Envelope(headers, message, len(data))


def may_be_deep(data: str) -> bool:
    """Return False if a message is certainly not nested too deeply: counting brackets is cheap."""
    return data.count("[") + data.count("{") > MAX_DEPTH


def may_have_controls(data: str) -> bool:
    """Return False if a message certainly has no control character: it would be escaped, or not printable."""
    return "\\" in data or not data.isprintable()


def encode(headers: Headers, message: Message) -> str:
    """Encode one message.

    Raises:
        ValueError: the message is larger than `MAX_FRAME`, or contains a value that JSON does not have.
    """
    return encode_bytes(headers, message).decode()


def encode_bytes(headers: Headers, message: Message) -> bytes:
    """Encode one message, in UTF-8; see `encode`."""
    try:
        data = _ENCODER.encode({"method": message.method, "headers": _wire_headers(headers), "body": message})
    except (TypeError, OverflowError, RecursionError) as error:
        raise ValueError(f"{message.method}: {error}") from error
    if len(data) > MAX_FRAME:
        raise ValueError(f"{message.method} of {len(data)} bytes, the limit is {MAX_FRAME}")
    return data


def _body(wire: _WireEnvelope) -> Message | UnknownMessage:
    decoder = _BODIES.get(wire.method)
    if decoder is None:
        return UnknownMessage(wire.method[:64])
    # OpenAI's C++ remotes send null for an empty body.
    if wire.body == _NULL:
        return _EMPTY_BODIES[wire.method]
    return decoder.decode(wire.body)


def _harmless(message: Message | UnknownMessage) -> Message | UnknownMessage:
    """Replace control characters: see `rewarder.sanitize`."""
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
    """Return an id as an integer; None if it is missing or not a possible id."""
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
