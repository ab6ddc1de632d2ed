"""The two sessions, against each other and against frames no session would send."""

from __future__ import annotations

import json
import logging

import pytest

from rewarder.errors import ProtocolError
from rewarder.protocol.buffer import RewardBuffer
from rewarder.protocol.episode import EpisodeId
from rewarder.protocol.messages import Action, Describe, ReplyError, ReplyReset, Reset, Reward, Text
from rewarder.protocol.sessions import (
    MAX_PENDING,
    MAX_WARNINGS,
    ActionRequest,
    ClientSession,
    ResetRequest,
    ServerSession,
    checked_reward,
)

ONE = EpisodeId((1,))


class Pair:
    """A client and a server session joined back to back."""

    def __init__(self, *, observer: bool = False) -> None:
        self.buffer = RewardBuffer()
        self.client = ClientSession(self.buffer, "remote 0")
        self.server = ServerSession(3, observer=observer)

    def to_server(self, now: float = 0.0, wall: float = 0.0) -> list[ResetRequest | ActionRequest | None]:
        return [self.server.receive(frame, now, wall) for frame in self.client.data_to_send()]

    def to_client(self, now: float = 0.0, wall: float = 0.0) -> list[dict]:
        frames = self.server.data_to_send()
        for frame in frames:
            self.client.receive(frame, now, wall)
        return [json.loads(frame) for frame in frames]


@pytest.fixture
def pair() -> Pair:
    return Pair()


def test_a_whole_episode(pair):
    pair.client.reset(Reset("a", 7, 30.0), 0.0)
    [request] = pair.to_server(now=5.0)
    assert request == ResetRequest(3, 1, "a", 7, 30.0, None, 5.0)
    pair.server.send(Describe("a", "resetting", 30.0), 0.0, ONE)
    pair.server.send(Describe("a", "running", 30.0), 0.0, ONE)
    pair.server.reply(request, ReplyReset(), 5.25, 0.0, ONE)
    pair.to_client()
    assert pair.buffer.running == ONE
    pair.server.send(checked_reward(1.5, True, None), 1.0, ONE)
    pair.to_client(now=9.0)
    popped = pair.buffer.pop()
    assert (popped.reward, popped.terminated, popped.sent_at, popped.received_at) == (1.5, True, 1.0, 9.0)


def test_ids_increase_and_replies_name_theirs(pair):
    pair.client.reset(Reset("a"), 0.0)
    pair.client.reset(Reset("a"), 0.0)
    first, second = pair.to_server()
    pair.server.reply(second, ReplyReset(), 0.0, 0.0, ONE)
    pair.server.reply(first, ReplyError("superseded"), 0.0, 0.0)
    reply, error = pair.to_client()
    assert [each["headers"]["message_id"] for each in (reply, error)] == [1, 2]
    assert (reply["headers"]["parent_message_id"], error["headers"]["parent_message_id"]) == (2, 1)
    assert pair.client.reset_error is None


def test_parent_runtime_is_the_time_the_server_took(pair):
    pair.client.reset(Reset("a"), 0.0)
    [request] = pair.to_server(now=5.0)
    pair.server.reply(request, ReplyReset(), 7.5, 0.0, ONE)
    assert pair.to_client()[0]["headers"]["parent_runtime"] == 2.5


def test_a_rejected_reset_is_told_and_forgotten_by_the_next(pair):
    pair.client.reset(Reset("nope"), 0.0)
    [request] = pair.to_server()
    pair.server.reply(request, ReplyError("no such environment: nope"), 0.0, 0.0)
    pair.to_client()
    assert pair.client.reset_error is not None
    assert pair.client.reset_error.message == "no such environment: nope"
    assert pair.buffer.running is None
    pair.client.reset(Reset("a"), 0.0)
    assert pair.client.reset_error is None


def test_pings_are_answered_and_give_the_skew(pair):
    pair.client.ping(10.0, 1000.0)
    pair.to_server(wall=4600.05)
    pair.to_client(now=10.1, wall=1000.1)
    assert pair.client.clock.skew == pytest.approx(3600.0)
    assert pair.client.clock.rtt == pytest.approx(0.1)


def test_pongs_contain_the_speed_of_the_environment(pair):
    for speed, understood in ((None, None), (0.25, 0.25), (1.0, 1.0), (-0.5, None), (1.5, None)):
        pair.server.speed = speed
        pair.client.ping(10.0, 1000.0)
        pair.to_server()
        pair.to_client()
        assert pair.client.speed == understood


def test_a_pong_counts_once(pair):
    pair.client.ping(10.0, 0.0)
    pair.to_server()
    [frame] = pair.server.data_to_send()
    pair.client.receive(frame, 11.0, 0.0)
    pair.client.receive(frame.replace('"message_id":1', '"message_id":9', 1), 12.0, 0.0)
    assert pair.client.clock.samples == 1


def test_unanswered_pings_are_bounded(pair):
    for number in range(10 * MAX_PENDING):
        pair.client.ping(float(number), 0.0)
    assert len(pair.client._pings) == MAX_PENDING


def test_actions_arrive(pair):
    pair.client.send(Action("a", [["JoystickAxisXEvent", 0.1]]), 0.0)
    assert pair.to_server() == [ActionRequest("a", [["JoystickAxisXEvent", 0.1]])]


def test_an_action_that_is_no_list_of_lists_is_refused(pair):
    with pytest.raises(ProtocolError):
        pair.server.receive('{"method":"v0.agent.action","body":{"action":["up"]}}', 0.0, 0.0)


@pytest.mark.parametrize("value", [0, -1, None])
@pytest.mark.parametrize("name", ["fps", "time_scale"])
def test_a_useless_rate_is_none(pair, name, value):
    frame = json.dumps({"method": "v0.env.reset", "headers": {}, "body": {name: value}})
    assert pair.server.receive(frame, 1.0, 0.0) == ResetRequest(3, None, None, None, None, None, 1.0)


@pytest.mark.parametrize("frame", [
    '{"method":"v1.hello","headers":{"message_id":"8"}}',
    '{"method":"v0.env.reward","headers":{"message_id":8},"body":{"reward":1,"done":false,"info":{}}}',
])  # fmt: skip
def test_an_unknown_client_method_gets_an_error_reply(pair, frame):
    assert pair.server.receive(frame, 0.0, 0.0) is None
    [reply] = [json.loads(each) for each in pair.server.data_to_send()]
    assert reply["method"] == "v0.reply.error"
    assert reply["headers"]["parent_message_id"] == 8
    assert "unknown method" in reply["body"]["message"]


def test_observers_may_only_ping():
    pair = Pair(observer=True)
    pair.client.reset(Reset("a"), 0.0)
    pair.client.send(Action("a", []), 0.0)
    pair.client.ping(0.0, 0.0)
    assert pair.to_server() == [None, None, None]
    assert [each["method"] for each in pair.to_client()] == ["v0.reply.error"] * 2 + ["v0.reply.control.ping"]
    assert pair.client.reset_error is not None


def test_the_goodbye_is_remembered(pair):
    pair.server.announce_close("idle for 600 s", 0.0)
    pair.to_client()
    assert pair.client.closing == "idle for 600 s"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_reward_that_json_cannot_say_is_refused(value):
    with pytest.raises(ValueError, match="not a finite number"):
        checked_reward(value, False, None)


def test_f22_a_repeated_message_counts_once(pair):
    pair.server.send(Reward(1.0), 0.0, ONE)
    pair.server.send(Text("x"), 0.0, ONE)
    frames = pair.server.data_to_send()
    for frame in frames * 3:
        pair.client.receive(frame, 0.0, 0.0)
    popped = pair.buffer.pop()
    assert (popped.reward, popped.text, popped.duplicate) == (1.0, ["x"], 4)


def test_f24_oddities_are_logged_once_and_bounded(pair, caplog):
    caplog.set_level(logging.WARNING)
    for _ in range(3):
        pair.client.receive('{"method":"v0.new","headers":{}}', 0.0, 0.0)
        pair.client.receive('{"method":"v0.env.reward","headers":{},"body":{"reward":5}}', 0.0, 0.0)
    assert [record.getMessage() for record in caplog.records] == [
        "remote 0: ignored method 'v0.new'",
        "remote 0: ignored v0.env.reward without an episode_id",
    ]
    for number in range(10 * MAX_WARNINGS):
        pair.client.receive(f'{{"method":"m{number}","headers":{{}}}}', 0.0, 0.0)
    assert len(caplog.records) == MAX_WARNINGS
    assert pair.buffer.pop().reward == 0


@pytest.mark.parametrize("parent", ["null", '"77"', "77", '"x"'])
@pytest.mark.parametrize("method", ["v0.reply.env.reset", "v0.reply.control.ping", "v0.reply.error"])
def test_replies_to_nothing_change_nothing(pair, method, parent):
    pair.client.reset(Reset("a"), 0.0)
    pair.client.receive(
        f'{{"method":"{method}","headers":{{"parent_message_id":{parent},"episode_id":1,"sent_at":1}}}}',
        0.0,
        0.0,
    )
    assert (pair.client.reset_error, pair.client.clock.samples) == (None, 0)
    pair.client.receive(
        '{"method":"v0.env.describe","headers":{"episode_id":1},"body":{"env_state":"running"}}', 0.0, 0.0
    )
    assert pair.buffer.running is None


def test_a_string_parent_id_matches(pair):
    pair.client.reset(Reset("a"), 0.0)
    pair.client.receive(
        '{"method":"v0.reply.env.reset","headers":{"parent_message_id":"1","episode_id":"1.2"},"body":null}',
        0.0,
        0.0,
    )
    assert pair.buffer.pop().episode_id == EpisodeId((1, 2))
