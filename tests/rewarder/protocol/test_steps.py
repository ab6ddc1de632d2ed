"""The messages of a step channel: decoded in one call, exactly as the tolerant reader decodes them."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewarder.errors import ProtocolError
from rewarder.protocol import codec, steps
from rewarder.protocol.codec import MAX_ID, encode_bytes
from rewarder.protocol.episode import EpisodeId
from rewarder.protocol.messages import Headers, Ping, ReplyError, ReplyStep, Step

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
headers = st.builds(
    Headers,
    st.none() | st.integers(0, MAX_ID - 1),
    st.none() | st.floats(allow_nan=False, allow_infinity=False),
    st.none() | st.builds(EpisodeId, st.lists(st.integers(0, 10**9), min_size=1, max_size=3).map(tuple)),
    st.none() | st.integers(0, MAX_ID - 1),
)
messages = st.one_of(
    st.builds(Step, st.none() | st.lists(values), st.integers(1, 1000), st.booleans()),
    st.builds(
        ReplyStep,
        reward=st.none() | st.floats(allow_nan=False, allow_infinity=False),
        info=st.none() | st.dictionaries(st.text(), values),
        observation=values,
        is_drawn=st.booleans(),
        messages=st.lists(st.text()),
    ),
    st.builds(ReplyError, st.text()),
)


def outcome(decode, data):
    try:
        return decode(data)
    except ProtocolError as error:
        return str(error), error.code


@given(headers, messages)
def test_what_is_encoded_is_decoded_as_the_codec_does(head, message):
    data = encode_bytes(head, message)
    assert steps.decode(data) == codec.decode(data.decode())


@given(
    st.sampled_from([Step.method, ReplyStep.method, Ping.method, 3, None]),
    st.none() | st.dictionaries(st.sampled_from(["message_id", "sent_at", "episode_id", "x"]), values),
    st.none() | st.dictionaries(st.sampled_from(["events", "ticks", "reward", "info", "messages"]), values),
)
def test_any_json_has_the_same_outcome(method, head, body):
    data = json.dumps({"method": method, "headers": head, "body": body})
    assert outcome(steps.decode, data.encode()) == outcome(codec.decode, data)


@given(st.binary(max_size=60))
def test_bytes_that_are_no_message_are_an_error(data):
    with pytest.raises(ProtocolError):
        steps.decode(data)


def test_a_step_and_its_reply_do_not_need_the_codec(monkeypatch):
    monkeypatch.setattr(codec, "decode", lambda data: pytest.fail(f"{data} went to the codec"))
    head = Headers(7, 1.5, EpisodeId((1, 2)), 6)
    for message in (Step([["KeyEvent", 65361, True]], 4, True), ReplyStep(reward=1.0, info={"lives": 3})):
        data = encode_bytes(head, message)
        assert steps.decode(data) == msgspec.structs.replace(steps.decode(data), headers=head, size=len(data))


def test_text_for_agents_has_no_control_characters():
    data = encode_bytes(Headers(), ReplyStep(info={"key": "\x1b[31mred"}))
    assert "\x1b" not in str(steps.decode(data).message.info)
