"""The rewarder ends, stops, sends odd messages, or never completes a reset."""

from __future__ import annotations

import threading
import time

import pytest
from websockets.asyncio.connection import broadcast

from rewarder.client import RewarderTimeouts
from rewarder.protocol.episode import EpisodeId
from rewarder.protocol.sessions import checked_reward
from tests.support.remotes.agent import (
    failed,
    is_done,
    one_step,
    running,
    until,
    until_running,
    wait_until,
)
from tests.support.remotes.remote import ScriptedRemote, by_hand
from tests.support.timing import Stopwatch
from universe_client.errors import AuthError, PeerLost, ProtocolError, ResetTimeout
from universe_client.providers.address import AddressProvider

# -- the connection


@pytest.mark.fault("F4", "rewarder SIGSTOP / SIGKILL")
def test_f4_a_killed_rewarder_cuts_the_episode_and_keeps_its_reward(scripted, playing):
    remote = scripted()
    env = playing(remote)
    remote.reward(3.0)
    wait_until(lambda: env.remotes[0].link.buffer._current.count == 1)
    remote.stop_rewarder()
    seen = until(env, is_done)
    assert sum(step.reward for step in seen) == 3.0
    assert seen[-1].info["end_reason"] == "lost"
    after = [one_step(env) for _ in range(20)]
    assert all(step.observation is None for step in after), "pixels of no known episode"
    remote.restart_rewarder()
    until_running(env)


@pytest.mark.fault("F4", "rewarder SIGSTOP / SIGKILL")
def test_f4_a_stalled_rewarder_is_lost_after_its_ping_timeout(scripted, playing, proxied):
    remote = scripted()
    proxy, address = proxied(remote, "rewarder")
    env = playing(address, rewarder_timeouts=RewarderTimeouts(ping_interval=0.2, ping_timeout=0.3, close=0.2))
    proxy.stall()
    cut = until(env, is_done)[-1]
    assert "no pong within 0.3 s" in cut.info["error"]
    assert cut.info["end_reason"] == "lost"
    proxy.flow()
    until_running(env)


@pytest.mark.fault("F20", "WebSocket close codes")
@pytest.mark.parametrize(
    ("code", "kind"),
    [(1000, PeerLost), (1001, PeerLost), (1011, PeerLost), (1012, PeerLost), (1013, PeerLost), (4408, PeerLost),
     (1002, ProtocolError), (1003, ProtocolError), (1007, ProtocolError), (1008, ProtocolError),
     (1009, ProtocolError), (4401, AuthError)],
)  # fmt: skip
def test_f20_close_codes_become_errors(scripted, playing, measure, code, kind):
    remote = scripted()
    env = playing(remote, backoff=(10.0, 10.0))
    remote.stop_rewarder(code)
    cut = until(env, is_done)[-1]
    assert cut.info["truncated"]
    measure(f"error after {code}", type(env.remotes[0].error).__name__, equals=kind.__name__)


# -- messages


@pytest.mark.fault("F22", "duplicate message")
def test_f22_a_message_that_comes_twice_is_counted_once(scripted, playing, measure):
    remote = scripted()
    env = playing(remote)

    def twice() -> None:
        (peer,) = remote.rewarder._peers.values()
        peer.session.send(checked_reward(3.0, False, {}), time.time(), EpisodeId.parse(remote.episode))
        for frame in peer.session.data_to_send() * 2:
            broadcast([peer.websocket], frame)

    remote.script(twice)
    remote.reward(0.0, info={"last": True})
    seen = until(env, lambda step: "remote.last" in step.info)
    measure("sum of 3", sum(step.reward for step in seen), equals=3.0)
    measure("duplicates", sum(step.info["stats.reward.duplicate"] for step in seen), equals=1)


@pytest.mark.fault("F23", "late / out-of-order episode ids")
def test_f23_episode_ids_out_of_order(scripted, open_env, measure):
    """5, 4, 5, 7, 6: 4 does not end 5, 7 ends 5 as truncated, 6 is stale."""
    remote = scripted(on_reset=by_hand)
    env = open_env(remote)
    env.reset()
    request = remote.next_reset()

    def five() -> None:
        remote.episode = 5
        remote.describe("resetting")
        remote.paint()
        remote.describe("running")
        remote.reply(request)

    remote.script(five)
    until_running(env)

    def rest() -> None:
        remote.reward(100.0, True, episode=4)
        remote.reward(2.0, episode=5)
        remote.episode = 7
        remote.describe("resetting")
        remote.paint()
        remote.describe("running")
        remote.reward(200.0, True, episode=6)
        remote.reward(4.0, episode=7)

    remote.script(rest)
    seen = until(env, is_done)
    last = seen[-1]
    assert sum(step.reward for step in seen) == 2.0
    assert last.info["end_reason"] == "superseded"
    assert last.info["truncated"]
    assert last.info["env_status.complete.episode_id"] == "5"
    seen += until(env, lambda step: step.reward != 0.0)
    measure("sum of the rewards that are not late", sum(step.reward for step in seen), equals=6.0)
    measure("ends", sum(step.done for step in seen), equals=1)
    measure("late messages counted", sum(step.info["stats.reward.stale"] for step in seen), equals=2)
    assert until_running(env).pixel == 7


@pytest.mark.fault(
    "F24", "describe(running) before reset reply, reward before describe, unknown method, unknown field"
)
def test_f24_reward_before_describe_and_unknown_methods_are_tolerated(scripted, open_env, caplog, measure):
    remote = scripted(on_reset=by_hand)
    env = open_env(remote)
    env.reset()
    request = remote.next_reset()

    def odd() -> None:
        remote.episode = 1
        remote.reward(1.5)
        for _ in range(3):
            broadcast(
                [peer.websocket for peer in remote.rewarder._peers.values()],
                '{"method": "v9.env.dance", "headers": {"sent_at": "soon"}, "body": null, "more": 1}',
            )
        remote.paint()
        remote.describe("running")
        remote.reply(request)

    remote.script(odd)
    seen = until(env, running)
    measure("sum of 1.5, sent before describe", sum(step.reward for step in seen), equals=1.5)
    measure("ends and errors", sum(bool(step.done or step.info["error"]) for step in seen), equals=0)
    logged = sum("v9.env.dance" in record.getMessage() for record in caplog.records)
    measure("log lines for 3 messages of an unknown method", logged, equals=1)


# -- resets that do not end


class Replacing(AddressProvider):
    """Counts the remotes that are discarded."""

    discarded = 0

    async def discard(self, index: int) -> None:
        self.discarded += 1


@pytest.mark.fault("F30", "reset never completes")
def test_f30_a_reset_that_does_not_end_is_reported_and_the_remote_replaced(scripted, open_env, measure):
    remote = scripted(on_reset=by_hand)
    provider = Replacing([remote.address])
    env = open_env(provider, reset_timeout=0.3)
    watch = Stopwatch()
    env.reset()
    step = until(env, failed)[-1]
    measure("time to ResetTimeout, reset_timeout=0.3", watch.elapsed, at_least=0.25, unit="s")
    measure("time to ResetTimeout, on a processor", watch.seconds, at_most=5, unit="s")
    assert "not running after 0.3 s" in step.info["error"]
    assert isinstance(env.remotes[0].error, ResetTimeout)
    remote.next_reset()
    remote._on_reset = ScriptedRemote.answer  # the replacement is a better one
    remote.next_reset()
    wait_until(lambda: provider.discarded >= 1, what="the remote was not given back")
    until_running(env)


@pytest.mark.fault("F30", "reset never completes")
def test_f30_the_deadline_holds_for_an_autoreset_too(scripted, open_env):
    remote = scripted()
    env = open_env(remote, reset_timeout=0.3)
    env.reset()
    until_running(env)
    remote.finish(1.0)
    until(env, is_done)
    assert "not running after 0.3 s" in until(env, failed)[-1].info["error"]
    until_running(env)


def test_an_agent_that_does_not_reset_has_no_deadline(scripted, open_env):
    remote = scripted(on_reset=by_hand)
    env = open_env(remote, reset_timeout=0.05)
    wait_until(lambda: env.remotes[0].link.rewarder is not None)
    threading.Event().wait(0.2)
    assert env.remotes[0].link.unreported.errors == []
