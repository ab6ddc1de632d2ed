"""The messages of the rewarder protocol, with a tolerant reader and a strict writer.

Each message is one JSON object in one WebSocket text frame:

    {"method": "v0.env.text",
     "headers": {"message_id": 15, "sent_at": 1479493678.19, "episode_id": "7"},
     "body": {"text": "this is some text"}}

The reader accepts what published remotes send: ids as integers or strings, a missing `message_id`, null bodies and
fields, unknown methods and fields. The writer sends what every published client understands: `episode_id` as a string,
`message_id` and `parent_message_id` as integers, `sent_at` as a float in UNIX seconds, and the body as an object.
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
"""Bytes of one message, the default limit of common WebSocket libraries."""
MAX_DEPTH = 64
"""Nesting of JSON containers in one message."""
MAX_ID = 1 << 53
"""Message ids from here on are treated as missing: JavaScript cannot represent them exactly."""

_INTEGER = re.compile(r"[0-9]{1,16}")


class Headers(msgspec.Struct, frozen=True):
    """The headers of a message.

    Attributes:
        message_id: grows by one for each message of one end.
        sent_at: the sender's clock, UNIX seconds.
        episode_id: on messages about an episode.
        parent_message_id: on replies, the `message_id` of the request.
        parent_runtime: on replies, seconds that the request took.
    """

    message_id: int | None = None
    sent_at: float | None = None
    episode_id: EpisodeId | None = None
    parent_message_id: int | None = None
    parent_runtime: float | None = None


class Message(msgspec.Struct, frozen=True):
    """Base class of the message bodies."""

    method: ClassVar[str] = ""


class Describe(Message, frozen=True):
    """From the remote: the state of an episode.

    Example:
        {"method": "v0.env.describe", "headers": {"message_id": 1, "sent_at": 1479493678.19, "episode_id": "7"},
         "body": {"env_id": "builtin.NeonDrive-v0", "env_state": "running", "fps": 60}}

    Attributes:
        env_id: the environment.
        env_state: `resetting` or `running`.
        fps: ticks per second.
    """

    method: ClassVar[str] = "v0.env.describe"
    env_id: str | None = None
    env_state: str | None = None
    fps: float | None = None


class Reward(Message, frozen=True):
    """From the remote: a reward.

    Example:
        {"method": "v0.env.reward", "headers": {"message_id": 2, "sent_at": 1479493679.2, "episode_id": "7"},
         "body": {"reward": 1.0, "done": false, "info": {}}}

    Attributes:
        reward: since the last message.
        done: True on the last reward of an episode.
        info: any JSON object; `truncated` in it marks an episode that was cut short.
    """

    method: ClassVar[str] = "v0.env.reward"
    reward: float | None = 0.0
    done: bool | None = False
    info: dict[str, Any] | None = None


class Text(Message, frozen=True):
    """From the remote: text for the agent, any JSON value.

    Example:
        {"method": "v0.env.text", "headers": {"message_id": 3, "sent_at": 1479493679.3, "episode_id": "7"},
         "body": {"text": "press the red button"}}
    """

    method: ClassVar[str] = "v0.env.text"
    text: Any = None


class EnvObservation(Message, frozen=True):
    """From the remote: the environment's own observation, any JSON value or a packed array.

    Example:
        {"method": "v0.env.observation", "headers": {"message_id": 4, "sent_at": 1479493679.3, "episode_id": "7"},
         "body": {"observation": [0.1, -0.2, 0.0, 0.4]}}
    """

    method: ClassVar[str] = "v0.env.observation"
    observation: Any = None


class ConnectionClose(Message, frozen=True):
    """From the remote: the reason why it closes the connection.

    Example:
        {"method": "v0.connection.close", "headers": {"message_id": 5, "sent_at": 1479493690.0},
         "body": {"message": "idle timeout: no controlling client"}}
    """

    method: ClassVar[str] = "v0.connection.close"
    message: str | None = ""


class ReplyError(Message, frozen=True):
    """From the remote: a request failed.

    Example:
        {"method": "v0.reply.error", "headers": {"message_id": 6, "sent_at": 1479493680.0, "parent_message_id": 15},
         "body": {"message": "unknown env_id 'builtin.Chess-v0'"}}
    """

    method: ClassVar[str] = "v0.reply.error"
    message: str | None = ""


class ReplyReset(Message, frozen=True, omit_defaults=True):
    """From the remote: a reset is complete. The header has the id of the episode that it began.

    Example:
        {"method": "v0.reply.env.reset", "headers": {"message_id": 7, "sent_at": 1479493680.0, "episode_id": "8",
         "parent_message_id": 15, "parent_runtime": 0.1}, "body": {}}

    Attributes:
        checksum: in lock-step only, that of the screen; see `ReplyStep`.
    """

    method: ClassVar[str] = "v0.reply.env.reset"
    checksum: int | None = None


class ReplyStep(Message, frozen=True):
    """From the remote, in lock-step: a step is complete. All other messages of its tick precede this one.

    Example:
        {"method": "v1.reply.env.step", "headers": {"message_id": 8, "sent_at": 1479493680.31, "episode_id": "8",
         "parent_message_id": 18, "parent_runtime": 0.01}, "body": {"checksum": 3735928559}}

    Attributes:
        checksum: CRC-32 of the screen's pixels after the tick, row by row, R G B; null if the remote does not draw
            them.
    """

    method: ClassVar[str] = "v1.reply.env.step"
    checksum: int | None = None


class ReplyPing(Message, frozen=True):
    """From the remote: the reply to a ping, with the remote's clock in `sent_at`.

    Example:
        {"method": "v0.reply.control.ping",
         "headers": {"message_id": 9, "sent_at": 1479493680.1, "parent_message_id": 16}, "body": {}}
    """

    method: ClassVar[str] = "v0.reply.control.ping"


class ReplyCall(Message, frozen=True):
    """From the remote: the result of a call.

    Example:
        {"method": "v1.reply.env.call", "headers": {"message_id": 10, "sent_at": 1479493681.1, "parent_message_id": 19},
         "body": {"value": 3, "is_method": false}}

    Attributes:
        value: the result, packed by `rewarder.protocol.values`.
        is_method: True if a `get` found a method, which has no value.
    """

    method: ClassVar[str] = "v1.reply.env.call"
    value: Any = None
    is_method: bool = False


class EnvObservationSpace(Message, frozen=True):
    """From the remote, to a client that wants environment observations: their space.

    Example:
        {"method": "v1.env.observation_space", "headers": {"message_id": 1, "sent_at": 1479493678.0},
         "body": {"low": {"$array": "AACAvwAAgL8=", "dtype": "<f4", "shape": [2]},
                  "high": {"$array": "AACAPwAAgD8=", "dtype": "<f4", "shape": [2]}}}

    Attributes:
        low: the lower bounds, an array packed by `rewarder.protocol.values`.
        high: the upper bounds, of the same shape and dtype.
    """

    method: ClassVar[str] = "v1.env.observation_space"
    low: Any = None
    high: Any = None


class Reset(Message, frozen=True):
    """From the agent: begin a new episode.

    Example:
        {"method": "v0.env.reset", "headers": {"message_id": 15, "sent_at": 1479493679.9, "episode_id": "0"},
         "body": {"env_id": "builtin.NeonDrive-v0", "seed": 1, "fps": 60}}

    Attributes:
        env_id: the environment to switch to; null keeps the present one.
        seed: of the episode, 0 to 2**63 - 1, or null.
        fps: ticks per second; null is the environment's own.
    """

    method: ClassVar[str] = "v0.env.reset"
    env_id: str | None = None
    seed: int | None = None
    fps: float | None = None


class Ping(Message, frozen=True):
    """From the agent: ask for the remote's clock.

    Example:
        {"method": "v0.control.ping", "headers": {"message_id": 16, "sent_at": 1479493680.05}, "body": {}}
    """

    method: ClassVar[str] = "v0.control.ping"


class Action(Message, frozen=True):
    """From the agent: input that has no VNC event, such as a joystick's.

    Example:
        {"method": "v0.agent.action", "headers": {"message_id": 17, "sent_at": 1479493680.2},
         "body": {"env_id": "gtav.SaneDriving-v0", "action": [["JoystickAxisXEvent", 0.5]]}}

    Attributes:
        env_id: the environment it is meant for.
        action: a list of events, each a list of a name and values.
    """

    method: ClassVar[str] = "v0.agent.action"
    env_id: str | None = None
    action: list[Any] | None = None


class Step(Message, frozen=True):
    """From the agent, in lock-step: run one tick with this input. After an episode's end, begin the next one.

    Example:
        {"method": "v1.env.step", "headers": {"message_id": 18, "sent_at": 1479493680.3},
         "body": {"events": [["KeyEvent", 65361, true], ["PointerEvent", 10, 20, 1]]}}

    Attributes:
        events: `["KeyEvent", keysym, down]` and `["PointerEvent", x, y, button_mask]`, in order.
    """

    method: ClassVar[str] = "v1.env.step"
    events: list[Any] | None = None


class Call(Message, frozen=True):
    """From the agent: call, read or set an attribute of the environment that the remote announces.

    Example:
        {"method": "v1.env.call", "headers": {"message_id": 19, "sent_at": 1479493681.0},
         "body": {"operation": "call", "name": "get_state_info", "args": [1, 2], "kwargs": {}}}

    Attributes:
        operation: `call`, `get`, or `set` with one argument.
        name: of the attribute.
        args: positional arguments, packed by `rewarder.protocol.values`.
        kwargs: keyword arguments, packed likewise.
    """

    method: ClassVar[str] = "v1.env.call"
    operation: str = "call"
    name: str = ""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}


class UnknownMessage(msgspec.Struct, frozen=True):
    """A message with a method that this version does not have. Readers ignore it."""

    method: str


SERVER_MESSAGES: tuple[type[Message], ...] = (
    Describe, Reward, Text, EnvObservation, ConnectionClose, ReplyError, ReplyReset, ReplyPing, ReplyStep,
    ReplyCall, EnvObservationSpace,
)  # fmt: skip
CLIENT_MESSAGES: tuple[type[Message], ...] = (Reset, Ping, Action, Step, Call)


class Envelope(msgspec.Struct, frozen=True):
    """One decoded message.

    Attributes:
        headers: of the message.
        message: its body.
        size: its length in characters.
    """

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
    # Counting brackets is cheap and rules out most messages.
    if data.count("[") + data.count("{") > MAX_DEPTH:
        _check_depth(message)
    # A control character is either escaped by a backslash or makes the text not printable.
    if "\\" in data or not data.isprintable():
        message = _harmless(message)
    return Envelope(headers, message, len(data))


def encode(headers: Headers, message: Message) -> str:
    """Encode one message.

    Raises:
        ValueError: the message is larger than `MAX_FRAME`, or contains a value that JSON does not have.
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
