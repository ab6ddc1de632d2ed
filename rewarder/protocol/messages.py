"""The messages of the rewarder protocol.

Each message is one JSON object in one WebSocket text frame; `rewarder.protocol.codec` reads and writes them:

    {"method": "v0.env.text",
     "headers": {"message_id": 15, "sent_at": 1479493678.19, "episode_id": "7"},
     "body": {"text": "this is some text"}}
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import msgspec

from rewarder.protocol.episode import EpisodeId
from rewarder.protocol.timed_input import TimedInput


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
         "body": {"env_id": "builtin.NeonDrive-v0", "env_state": "running", "fps": 60, "time_scale": 1}}

    Attributes:
        env_id: the environment.
        env_state: `resetting` or `running`.
        fps: ticks per second of the environment's time.
        time_scale: seconds of the environment's time per second; null is 1.
    """

    method: ClassVar[str] = "v0.env.describe"
    env_id: str | None = None
    env_state: str | None = None
    fps: float | None = None
    time_scale: float | None = None


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


class ReplyStep(Message, frozen=True, omit_defaults=True):
    """From the remote, in lock-step: a step is complete. All other messages of its ticks precede this one.

    On a step channel (`rewarder.steps`) the reply contains them: either only `reward`, `info` and `observation`, as
    one `v0.env.reward` and one `v0.env.observation` would have them, or, if there is anything else, all in `messages`.

    Example:
        {"method": "v1.reply.env.step", "headers": {"message_id": 8, "sent_at": 1479493680.31, "episode_id": "8",
         "parent_message_id": 18, "parent_runtime": 0.01}, "body": {"checksum": 3735928559}}

    Attributes:
        checksum: CRC-32 of the screen's pixels after the tick, row by row, R G B; null if the remote does not draw
            them, and on a step channel.
        reward: the sum of the step, if there was a reward or an info.
        info: of the reward.
        observation: the environment observation.
        is_drawn: on a step channel, whether the shared pixels have been written.
        messages: complete messages, in order.
    """

    method: ClassVar[str] = "v1.reply.env.step"
    checksum: int | None = None
    reward: float | None = None
    info: dict[str, Any] | None = None
    observation: Any = None
    is_drawn: bool = False
    messages: list[str] = []


class ReplyPing(Message, frozen=True, omit_defaults=True):
    """From the remote: the reply to a ping, with the remote's clock in `sent_at`.

    Example:
        {"method": "v0.reply.control.ping",
         "headers": {"message_id": 9, "sent_at": 1479493680.1, "parent_message_id": 16}, "body": {"speed": 1.0}}

    Attributes:
        speed: the ticks per second of the last seconds as a share of `fps`, 0 to 1; it is less than 1 where the machine
            is too slow. Null or missing: unknown, or in lock-step.
    """

    method: ClassVar[str] = "v0.reply.control.ping"
    speed: float | None = None


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


class Input(Message, frozen=True, omit_defaults=True):
    """From the remote, to the client that asked with `WatchInput`: what others have pressed in an episode.

    Example:
        {"method": "v1.env.input", "headers": {"message_id": 11, "sent_at": 1479493681.2, "episode_id": "8"},
         "body": {"events": [["KeyEvent", 65361, true, 1479493681.19], ["PointerEvent", 10, 20, 1, 1479493681.2]]}}

    Attributes:
        events: in order; the last value of each is the time at which it arrived, on the remote's clock.
        dropped: how many further events are left out, because there were too many at once.
    """

    method: ClassVar[str] = "v1.env.input"
    events: list[TimedInput] = []
    dropped: Annotated[int, msgspec.Meta(ge=0, lt=1 << 53)] = 0


class Reset(Message, frozen=True):
    """From the agent: begin a new episode.

    Example:
        {"method": "v0.env.reset", "headers": {"message_id": 15, "sent_at": 1479493679.9, "episode_id": "0"},
         "body": {"env_id": "builtin.NeonDrive-v0", "seed": 1, "fps": 60, "time_scale": null}}

    Attributes:
        env_id: the environment to switch to; null keeps the present one.
        seed: of the episode, 0 to 2**63 - 1, or null.
        fps: ticks per second of the environment's time; null is the environment's own.
        time_scale: seconds of the environment's time per second, 0.1 to 10; null is 1. A remote whose time cannot be
            scaled ignores it, as its `v0.env.describe` tells.
    """

    method: ClassVar[str] = "v0.env.reset"
    env_id: str | None = None
    seed: int | None = None
    fps: float | None = None
    time_scale: float | None = None


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


MAX_TICKS = 1000
"""Ticks of one `Step`, so that a reset never waits long."""


class Step(Message, frozen=True, omit_defaults=True):
    """From the agent, in lock-step: run ticks with this input. After an episode's end, begin the next one.

    Example:
        {"method": "v1.env.step", "headers": {"message_id": 18, "sent_at": 1479493680.3},
         "body": {"events": [["KeyEvent", 65361, true], ["PointerEvent", 10, 20, 1]]}}

    Attributes:
        events: `["KeyEvent", keysym, down]` and `["PointerEvent", x, y, button_mask]`, in order, before the first tick.
        ticks: at most this many ticks, 1 to `MAX_TICKS`, until the episode ends; rewarders that do not offer
            `features.TICKS` always run one.
        max_last_two: show the brighter of the last two frames, per channel.
    """

    method: ClassVar[str] = "v1.env.step"
    events: list[Any] | None = None
    ticks: int = 1
    max_last_two: bool = False


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


class WatchInput(Message, frozen=True):
    """From the controlling client: report input of all VNC clients but its own, until it disconnects. See `Input`.

    Example:
        {"method": "v1.env.watch_input", "headers": {"message_id": 20, "sent_at": 1479493681.1},
         "body": {"mark": -1431502900}}

    Attributes:
        mark: the pseudo-encoding by which the remote recognises the client's own VNC connection.
    """

    method: ClassVar[str] = "v1.env.watch_input"
    mark: int | None = None


class UnknownMessage(msgspec.Struct, frozen=True):
    """A message with a method that this version does not have. Readers ignore it."""

    method: str


SERVER_MESSAGES: tuple[type[Message], ...] = (
    Describe, Reward, Text, EnvObservation, ConnectionClose, ReplyError, ReplyReset, ReplyPing, ReplyStep,
    ReplyCall, EnvObservationSpace, Input,
)  # fmt: skip
CLIENT_MESSAGES: tuple[type[Message], ...] = (Reset, Ping, Action, Step, Call, WatchInput)


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
