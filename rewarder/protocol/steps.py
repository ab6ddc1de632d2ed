"""Decode the messages of a step channel: those of each step in one call, as this package writes them.

`rewarder.protocol.codec` decodes everything else, and says what is wrong with the rest. Both return the same envelope
for the same message.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from rewarder.errors import ProtocolError
from rewarder.protocol import codec
from rewarder.protocol.episode import EpisodeId
from rewarder.protocol.messages import Envelope, Headers, ReplyStep, Step

_Id = Annotated[int, msgspec.Meta(ge=0, lt=codec.MAX_ID)]


class _Headers(msgspec.Struct):
    message_id: _Id | None = None
    sent_at: float | None = None
    episode_id: str | None = None
    parent_message_id: _Id | None = None
    parent_runtime: float | None = None


class _Step(msgspec.Struct, tag_field="method", tag=Step.method):
    headers: _Headers
    body: Step


class _ReplyStep(msgspec.Struct, tag_field="method", tag=ReplyStep.method):
    headers: _Headers
    body: ReplyStep


_DECODER = msgspec.json.Decoder(_Step | _ReplyStep)


def decode(data: bytes) -> Envelope:
    """Decode one message.

    Raises:
        ProtocolError: as `codec.decode`; also for data that is not UTF-8.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise ProtocolError("message is not UTF-8", 1007) from None
    return _plain(text) or codec.decode(text)


def _plain(text: str) -> Envelope | None:
    """Return a message of a step; None for what `codec` has to look at."""
    if codec.may_be_deep(text) or codec.may_have_controls(text):
        return None
    try:
        wire = _DECODER.decode(text)
        head = wire.headers
        episode_id = None if head.episode_id is None else EpisodeId.parse(head.episode_id)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    headers = Headers(head.message_id, head.sent_at, episode_id, head.parent_message_id, head.parent_runtime)
    return Envelope(headers, wire.body, len(text))
