"""The tolerant reader and the strict writer."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewarder.errors import ProtocolError
from rewarder.protocol.codec import MAX_DEPTH, MAX_FRAME, decode, encode
from rewarder.protocol.episode import EpisodeId
from rewarder.protocol.messages import (
    CLIENT_MESSAGES,
    SERVER_MESSAGES,
    Action,
    Describe,
    EnvObservation,
    Headers,
    Input,
    Ping,
    ReplyReset,
    Reset,
    Reward,
    Text,
    UnknownMessage,
    WatchInput,
)
from rewarder.protocol.timed_input import KeyInput, PointerInput


def wire(method: str, body: object = None, **headers: object) -> str:
    return json.dumps({"method": method, "headers": headers, "body": body})


def test_there_is_a_struct_for_each_message_of_the_document():
    methods = {kind.method for kind in SERVER_MESSAGES + CLIENT_MESSAGES}
    assert methods == {
        "v0.env.describe", "v0.env.reward", "v0.env.text", "v0.env.observation", "v0.connection.close",
        "v0.reply.error", "v0.reply.env.reset", "v0.reply.control.ping", "v0.agent.action", "v0.env.reset",
        "v0.control.ping", "v1.env.step", "v1.reply.env.step", "v1.env.call", "v1.reply.env.call",
        "v1.env.observation_space", "v1.env.input", "v1.env.watch_input",
    }  # fmt: skip


@pytest.mark.parametrize("episode_id", ["7", 7, 7.0])
@pytest.mark.parametrize("message_id", ["26", 26, 26.0])
def test_ids_are_read_as_integer_or_string(episode_id, message_id):
    headers = decode(
        wire(
            "v0.reply.env.reset",
            None,
            parent_message_id=message_id,
            episode_id=episode_id,
            message_id=message_id,
        )
    ).headers
    assert headers == Headers(26, None, EpisodeId((7,)), 26)


@pytest.mark.parametrize("value", ["x", "", "1e3", "-1", -1, 0.5, 2**60, "9" * 17, "\uff11"])
def test_an_id_we_cannot_have_sent_counts_as_missing(value):
    assert decode(wire("v0.control.ping", message_id=value)).headers.message_id is None


@pytest.mark.parametrize("body", [None, {}])
@pytest.mark.parametrize("kind", SERVER_MESSAGES + CLIENT_MESSAGES)
def test_null_and_empty_bodies_are_read(kind, body):
    assert decode(wire(kind.method, body)).message == kind()


@pytest.mark.parametrize(
    "text", ['{"method":"v0.control.ping"}', '{"method":"v0.control.ping","headers":null}']
)
def test_headers_and_body_may_be_missing(text):
    envelope = decode(text)
    assert envelope.message == Ping()
    assert envelope.headers == Headers()


def test_null_fields_are_read():
    assert decode(wire("v0.env.reward", {"reward": None, "done": None, "info": None})).message == Reward(
        None, None, None
    )


def test_unknown_fields_are_ignored():
    envelope = decode(wire("v0.env.describe", {"env_id": "a", "new": [1]}, sent_at=1.5, other={}))
    assert envelope.message == Describe("a")
    assert envelope.headers.sent_at == 1.5


def test_unknown_methods_are_named_not_fatal():
    assert decode(wire("v1.hello", {"x": 1})).message == UnknownMessage("v1.hello")


@pytest.mark.parametrize("value", ["soon", "nan", "inf"])
def test_a_sent_at_that_is_no_time_counts_as_missing(value):
    assert decode(wire("v0.control.ping", sent_at=value)).headers.sent_at is None


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "null", "42", '"x"', "{}", '{"method": 1}', '{"method": "v0.env.reward", "headers": []}',
        '{"method": "v0.env.reward", "body": []}', '{"method": "v0.env.reward", "body": {"reward": "many"}}',
        '{"method": "v0.env.reward", "body": {"reward": NaN}}',
        '{"method": "v0.env.reward", "body": {"reward": 1e999}}',
        '{"method": "v0.env.reward", "headers": {"episode_id": "one"}}',
        '{"method": "v0.env.reward", "headers": {"episode_id": -1}}',
        '{"method": "v0.env.reward", "headers": {"episode_id": "1."}}',
        '{"method": "v0.env.reward", "headers": {"message_id": true}}',
        '{"method": "v0.env.text"} {}',
        "\ud800",
    ],
)  # fmt: skip
def test_what_is_not_a_message_closes_with_1007(text):
    with pytest.raises(ProtocolError) as caught:
        decode(text)
    assert caught.value.code == 1007


def test_a_binary_frame_closes_with_1003():
    with pytest.raises(ProtocolError) as caught:
        decode(b'{"method": "v0.control.ping"}')
    assert caught.value.code == 1003


def test_a_large_frame_closes_with_1009():
    with pytest.raises(ProtocolError, match="the limit is 1048576") as caught:
        decode(wire("v0.env.text", {"text": "x" * MAX_FRAME}))
    assert caught.value.code == 1009


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 10_000, 100_000])
@pytest.mark.parametrize("method", ["v0.env.text", "v9.unknown"])
@pytest.mark.parametrize("pair", ["[]", ('{"a":', "}")])
def test_deep_nesting_never_overflows(depth, method, pair):
    text = '{"method":"%s","body":{"text":%s}}' % (method, pair[0] * depth + "0" + pair[1] * depth)  # noqa: UP031
    if method == "v9.unknown" and depth < 1000:
        assert decode(text).message == UnknownMessage(method)
        return
    with pytest.raises(ProtocolError) as caught:
        decode(text)
    assert caught.value.code == 1007


def test_wide_is_not_deep():
    text = [[index] for index in range(5000)]
    assert decode(wire("v0.env.text", {"text": text})).message == Text(text)


def test_nesting_up_to_the_limit_is_read():
    text: list = []
    for _ in range(MAX_DEPTH - 2):
        text = [text]
    assert decode(wire("v0.env.text", {"text": text})).message == Text(text)


def test_the_writer_is_strict():
    text = encode(Headers(15, 1479493678.19, EpisodeId((1, 2)), 26, 0.5), ReplyReset())
    assert json.loads(text) == {
        "method": "v0.reply.env.reset",
        "headers": {
            "message_id": 15,
            "sent_at": 1479493678.19,
            "episode_id": "1.2",
            "parent_message_id": 26,
            "parent_runtime": 0.5,
        },
        "body": {},
    }


def test_describe_always_carries_fps():
    assert json.loads(encode(Headers(1, 2.0), Describe("a", "running", 60.0)))["body"] == {
        "env_id": "a", "env_state": "running", "fps": 60.0, "time_scale": None,
    }  # fmt: skip


@pytest.mark.parametrize("value", [object(), "x" * MAX_FRAME])
def test_what_a_peer_could_not_read_is_not_written(value):
    with pytest.raises(ValueError, match=r"v0\.env\.text"):
        encode(Headers(1, 2.0), Text(value))


WORDS = st.text(st.characters(exclude_categories=("Cc", "Cf", "Cs", "Zl", "Zp")))
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | FLOATS | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
IDS = st.lists(st.integers(0, 10**18 - 1), min_size=1, max_size=4).map(lambda parts: EpisodeId(tuple(parts)))
OPTIONAL_FLOATS = st.none() | FLOATS
PLACES = st.integers(0, 2**16 - 1)
MOMENTS = st.floats(0, 2**33, exclude_max=True)
TIMED_INPUT = st.builds(KeyInput, st.integers(0, 2**32 - 1), st.booleans(), MOMENTS) | st.builds(
    PointerInput, PLACES, PLACES, st.integers(0, 511), MOMENTS
)
MESSAGES = st.one_of(
    st.builds(Input, st.lists(TIMED_INPUT, max_size=4), st.integers(0, 2**53 - 1)),
    st.builds(WatchInput, st.none() | st.integers(-(2**31), 2**31 - 1)),
    st.builds(Describe, st.none() | WORDS, st.none() | WORDS, OPTIONAL_FLOATS),
    st.builds(Reward, FLOATS, st.booleans(), st.dictionaries(WORDS, JSON, max_size=4)),
    st.builds(Text, JSON),
    st.builds(EnvObservation, JSON),
    st.builds(Reset, st.none() | WORDS, st.none() | st.integers(-(2**63), 2**63 - 1), OPTIONAL_FLOATS),
    st.builds(Action, WORDS, st.lists(st.lists(JSON, max_size=3), max_size=3)),
    st.sampled_from(SERVER_MESSAGES + CLIENT_MESSAGES).map(lambda kind: kind()),
)
HEADERS = st.builds(
    Headers,
    st.integers(0, 2**53 - 1),
    FLOATS,
    st.none() | IDS,
    st.none() | st.integers(0, 2**53 - 1),
    OPTIONAL_FLOATS,
)


@given(HEADERS, MESSAGES)
def test_what_is_written_is_read_back(headers, message):
    envelope = decode(encode(headers, message))
    assert envelope.headers == headers
    assert envelope.message == message


@given(st.text(max_size=200) | JSON.map(json.dumps))
def test_no_text_does_more_than_raise_a_protocol_error(text):
    try:
        decode(text)
    except ProtocolError as error:
        assert error.code == 1007


@given(st.sampled_from(SERVER_MESSAGES + CLIENT_MESSAGES), JSON, JSON)
def test_no_field_does_more_than_raise_a_protocol_error(kind, headers, body):
    text = msgspec.json.encode({"method": kind.method, "headers": headers, "body": body}).decode()
    try:
        decode(text)
    except ProtocolError as error:
        assert error.code == 1007


@pytest.mark.parametrize(
    "event",
    [
        ["KeyEvent", 65, True], ["KeyEvent", -1, True, 1.0], ["KeyEvent", 1 << 32, True, 1.0],
        ["KeyEvent", 65, "canary", 1.0], ["KeyEvent", 65, True, -1.0], ["KeyEvent", 65, True, 1e30],
        ["PointerEvent", 1 << 16, 0, 0, 1.0], ["PointerEvent", 0, 0, 512, 1.0], ["Joystick", 1, 2, 3], [], {}, 7, None,
    ],
)  # fmt: skip
def test_malformed_input_is_refused_and_not_repeated(event):
    with pytest.raises(ProtocolError, match="malformed message") as caught:
        decode(wire("v1.env.input", {"events": [event]}))
    assert caught.value.code == 1007
    assert "canary" not in str(caught.value), "what people type is in no error"


def test_input_may_have_more_values_than_this_version_knows():
    message = decode(wire("v1.env.input", {"events": [["KeyEvent", 65, True, 1.5, "new"]]})).message
    assert message == Input([KeyInput(65, True, 1.5)])
