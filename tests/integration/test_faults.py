"""The fault table, row by row, on real sockets; deadlines are those of the configuration, made short."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from websockets.asyncio.connection import broadcast

from rewarder.client import RewarderAddress, RewarderTimeouts
from rewarder.episode import EpisodeId
from rewarder.protocol import checked_reward
from tests.faults.proxy import Proxy
from tests.support.agent import one_step, running, until, until_running, wait_until
from tests.support.fixtures import QUICK
from tests.support.remote import ScriptedRemote, by_hand
from tests.support.rfb import Peer
from universe_client import LocalStateError, RemoteError, VectorEnv
from universe_client.errors import AuthError, ConnectError, PeerLost, ProtocolError, ResetTimeout
from universe_client.loop import LoopThread
from universe_client.remotes.address import AddressProvider
from universe_client.remotes.provider import RemoteAddress
from vnc.session import Limits, VNCAddress

ONE_SCREEN = 24 * 16 * 4


def failed(step: Any) -> bool:
    return any(info["error"] is not None for info in step.info_n)


@pytest.fixture
def proxied(far_side: LoopThread) -> Iterator[Callable[..., tuple[Proxy, RemoteAddress]]]:
    """Put a proxy before the VNC port, or with channel="rewarder" before the other, of a scripted remote."""
    proxies: list[Proxy] = []

    def between(remote: ScriptedRemote, channel: str = "vnc", **faults: Any) -> tuple[Proxy, RemoteAddress]:
        address = getattr(remote.address, channel)
        proxy = Proxy(far_side, address.port)
        for name, value in faults.items():
            setattr(proxy, name, value)
        proxies.append(proxy)
        return proxy, replace(remote.address, **{channel: replace(address, port=proxy.port)})

    yield between
    for proxy in proxies:
        proxy.close()


@pytest.fixture
def evil(far_side: LoopThread) -> Iterator[Callable[..., tuple[RemoteAddress, list[float]]]]:
    """A VNC server that has one `talk` with every client; with it, when they came."""
    servers: list[asyncio.Server] = []

    def start(talk: Callable[[Peer], Any]) -> tuple[RemoteAddress, list[float]]:
        attempts: list[float] = []

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            attempts.append(time.monotonic())
            try:
                await talk(Peer(reader, writer))
            except (OSError, EOFError, asyncio.CancelledError):
                pass
            finally:
                writer.transport.abort()

        async def listen() -> int:
            servers.append(await asyncio.start_server(serve, "127.0.0.1", 0))
            return servers[-1].sockets[0].getsockname()[1]

        return RemoteAddress(VNCAddress("127.0.0.1", far_side.run(listen(), 5))), attempts

    yield start

    async def close() -> None:
        for server in servers:
            server.close()

    far_side.run(close(), 5)


# -- unreachable


@contextlib.contextmanager
def unreachable(count: int) -> Iterator[list[RemoteAddress]]:
    """Half are ports where nobody listens, half accept nothing: their backlog is full."""
    with contextlib.ExitStack() as stack:
        addresses = []
        for index in range(count):
            listener = stack.enter_context(socket.socket())
            listener.bind(("127.0.0.1", 0))
            port = listener.getsockname()[1]
            if index % 2:
                listener.listen(0)
                for _ in range(3):
                    filler = stack.enter_context(socket.socket())
                    filler.setblocking(False)
                    filler.connect_ex(("127.0.0.1", port))
            addresses.append(RemoteAddress(VNCAddress("127.0.0.1", port), RewarderAddress("127.0.0.1", port)))
        yield addresses


def test_f8_reset_of_sixteen_unreachable_remotes_returns_at_once_and_step_goes_on(open_env):
    """U3."""
    with unreachable(16) as addresses:
        env = open_env(*addresses)
        times = []
        for _ in range(5):
            began = time.perf_counter()
            observation_n = env.reset()
            times.append(time.perf_counter() - began)
            assert observation_n == [None] * 16
        assert min(times) < 0.010, times
        step_times = []
        errors: set[int] = set()
        for _ in range(300):
            began = time.perf_counter()
            step = one_step(env)
            step_times.append(time.perf_counter() - began)
            assert step.observation_n == [None] * 16
            errors |= {index for index, info in enumerate(step.info_n) if info["error"]}
            env.wait(0.005)
        assert sorted(step_times)[150] < 0.010, sorted(step_times)[-5:]
        assert {0, 2, 4, 6, 8, 10, 12, 14} <= errors, "refused connections are reported"
        began = time.perf_counter()
        env.close()
        assert time.perf_counter() - began < 5, "close waited for connections that do not come about"


def test_f8_a_refused_connection_is_tried_again_and_told_once_per_attempt(scripted, open_env):
    remote = scripted()
    remote.stop()
    env = open_env(remote)
    env.reset()
    for _ in range(3):
        info = until(env, failed)[-1].info
        assert "connect: " in info["error"]
        assert "refused" in info["error"]
        assert not info["truncated"], "there was no episode to cut"
    assert isinstance(env.remotes[0].error, ConnectError)
    remote.start()
    until_running(env)


def test_f8_a_black_hole_is_a_connect_timeout(open_env):
    with unreachable(2) as addresses:
        env = open_env(addresses[1], timeouts=replace(QUICK, connect=0.3))
        env.reset()
        began = time.monotonic()
        step = until(env, failed)[-1]
        assert "no connection within 0.3 s" in step.info["error"]
        assert time.monotonic() - began < 3


# -- lost


def test_f3_a_killed_vnc_server_cuts_the_slot_once_and_it_comes_back(scripted, open_env):
    one, other = scripted(), scripted()
    env = open_env(one, other)
    env.reset()
    until_running(env)
    one.reward(2.0)
    began = time.monotonic()
    one.stop_vnc()
    seen = until(env, lambda step: step.done_n[0])
    assert time.monotonic() - began < 2
    cut = seen[-1]
    assert cut.info["truncated"]
    assert cut.info["end_reason"] == "lost"
    assert "remote 0 (127.0.0.1:" in cut.info["error"]
    assert isinstance(env.remotes[0].error, PeerLost)
    assert sum(step.reward_n[0] for step in seen) == 2.0
    assert all(step.observation_n[1] is not None for step in seen), "the other slot noticed"
    one.restart_vnc()
    after = until(env, running)
    assert not any(step.done_n[0] for step in after)
    assert all(step.observation_n[1] is not None for step in after)


def test_f4_a_killed_rewarder_cuts_the_episode_and_keeps_its_reward(scripted, open_env):
    remote = scripted()
    env = open_env(remote)
    env.reset()
    until_running(env)
    remote.reward(3.0)
    wait_until(lambda: env.remotes[0].link.buffer._current.count == 1)
    remote.stop_rewarder()
    seen = until(env, lambda step: step.done)
    assert sum(step.reward for step in seen) == 3.0
    assert seen[-1].info["end_reason"] == "lost"
    after = [one_step(env) for _ in range(20)]
    assert all(step.observation is None for step in after), "pixels of no known episode"
    remote.restart_rewarder()
    until_running(env)


def test_f4_error_and_truncation_are_told_by_one_step(scripted, open_env):
    remote = scripted()
    env = open_env(remote)
    env.reset()
    for round_ in range(15):
        until_running(env)
        if round_ % 2:
            remote.stop_rewarder()
            restart = remote.restart_rewarder
        else:
            remote.stop_vnc()
            restart = remote.restart_vnc
        deadline = time.monotonic() + 5
        while not (step := one_step(env)).done:
            assert step.info["error"] is None, "the error came before its truncation"
            assert time.monotonic() < deadline
        assert step.info["error"] is not None, "the truncation came before its error"
        restart()


def test_f5_both_die_at_once_and_it_is_told_once(scripted, open_env, caplog):
    remote = scripted()
    env = open_env(remote, backoff=(5.0, 5.0))
    env.reset()
    until_running(env)
    remote.stop()
    seen = until(env, lambda step: step.done)
    seen += [one_step(env) for _ in range(50) if not env.wait(0.005)]
    assert sum(step.done for step in seen) == 1
    assert sum(step.info["error"] is not None for step in seen) == 1
    gc.collect()
    assert not [record for record in caplog.records if "never retrieved" in record.getMessage()]


def test_f6_a_stalled_connection_is_lost_after_the_probe_deadline(scripted, open_env, proxied):
    proxy, address = proxied(scripted())
    env = open_env(address, timeouts=replace(QUICK, probe_interval=0.2, probe_deadline=0.3))
    env.reset()
    until_running(env)
    proxy.stall()
    cut = until(env, lambda step: step.done)[-1]
    assert "no answer to a probe within 0.3 s" in cut.info["error"]
    proxy.flow()
    until_running(env)


def test_f4_a_stalled_rewarder_is_lost_after_its_ping_timeout(scripted, open_env, proxied):
    remote = scripted()
    proxy, address = proxied(remote, "rewarder")
    env = open_env(
        address, rewarder_timeouts=RewarderTimeouts(ping_interval=0.2, ping_timeout=0.3, close=0.2)
    )
    env.reset()
    until_running(env)
    proxy.stall()
    cut = until(env, lambda step: step.done)[-1]
    assert "no pong within 0.3 s" in cut.info["error"]
    assert cut.info["end_reason"] == "lost"
    proxy.flow()
    until_running(env)


def test_f2_a_stall_within_the_deadline_is_no_loss(scripted, open_env, proxied):
    remote = scripted()
    proxy, address = proxied(remote)
    env = open_env(address, timeouts=replace(QUICK, probe_interval=0.2, probe_deadline=8.0))
    env.reset()
    until_running(env)
    proxy.stall()
    remote.paint(99)
    threading.Event().wait(0.5)
    proxy.flow()
    seen = until(env, lambda step: step.observation is not None and step.pixel == 99)
    assert not any(step.done for step in seen)
    assert proxy.accepted == 1


@pytest.mark.parametrize("channel", ["vnc", "rewarder"])
def test_f7_a_reset_connection_is_lost_at_once(scripted, open_env, proxied, channel):
    proxy, address = proxied(scripted(), channel)
    env = open_env(address)
    env.reset()
    until_running(env)
    began = time.monotonic()
    proxy.reset()
    cut = until(env, lambda step: step.done)[-1]
    assert time.monotonic() - began < 2
    assert isinstance(env.remotes[0].error, PeerLost)
    assert cut.info["error"] is not None
    until_running(env)


def test_f7_a_half_closed_connection_is_lost(scripted, open_env, proxied):
    proxy, address = proxied(scripted())
    env = open_env(address)
    env.reset()
    until_running(env)
    proxy.half_close()
    assert until(env, lambda step: step.done)[-1].info["end_reason"] == "lost"
    until_running(env)


@pytest.mark.parametrize("cut_after", [0, 5, 12, 30, 60, 90, ONE_SCREEN])
def test_a_connection_cut_anywhere_is_made_again(scripted, open_env, proxied, cut_after):
    proxy, address = proxied(scripted(), cut_after=cut_after)
    env = open_env(address)
    env.reset()
    until(env, failed)
    proxy.cut_after = None
    until_running(env)
    assert proxy.accepted >= 2


def test_f11_latency_and_small_pieces_change_nothing(scripted, open_env, proxied):
    remote = scripted()
    _, address = proxied(remote, split=40, latency=0.0002)
    env = open_env(address, timeouts=replace(QUICK, update=20.0, handshake=20.0))
    env.reset()
    assert until_running(env).pixel == 1
    remote.script(lambda: (remote.finish(1.0), remote.next_episode()))
    until(env, lambda step: step.done)
    assert until_running(env).pixel == 2


def test_f29_a_remote_that_does_not_read_is_lost_and_step_never_waits(scripted, open_env, proxied):
    remote = scripted(has_rewarder=False)
    proxy, address = proxied(remote)
    env = open_env(
        address,
        limits=Limits(outgoing=16 * 1024),
        timeouts=replace(QUICK, probe_interval=60.0, probe_deadline=60.0),
    )
    env.reset()
    until_running(env)
    proxy.stop_reading()
    action = [[("PointerEvent", 1, 2, 0)] * 20_000]
    longest, deadline = 0.0, time.monotonic() + 20
    while True:
        began = time.monotonic()
        step = one_step(env, action)
        longest = max(longest, time.monotonic() - began)
        if step.info["error"]:
            break
        assert began < deadline
    assert "does not read" in step.info["error"]
    assert longest < 1.0


# -- servers that are none, or refuse


def test_f9_a_dripping_handshake_has_one_deadline(evil, open_env):
    async def drip(peer: Peer) -> None:
        for byte in b"RFB 003.008\n":
            peer.write(bytes([byte]))
            await asyncio.sleep(0.2)

    address, _ = evil(drip)
    env = open_env(address, timeouts=replace(QUICK, handshake=0.5))
    env.reset()
    began = time.monotonic()
    step = until(env, failed)[-1]
    assert "no end of the handshake within 0.5 s" in step.info["error"]
    assert 0.4 < time.monotonic() - began < 2


@pytest.mark.parametrize("banner", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x15\x03\x01\x00\x02\x02\x28" * 4])
def test_f12_no_rfb_server_is_not_stormed_with_retries(evil, open_env, banner):
    async def greet(peer: Peer) -> None:
        peer.write(banner)
        await peer.reader.read()

    address, attempts = evil(greet)
    env = open_env(address, backoff=(0.02, 30.0))
    env.reset()
    step = until(env, failed)[-1]
    assert "not an RFB server" in step.info["error"]
    assert isinstance(env.remotes[0].error, ProtocolError)
    assert not env.remotes[0].error.permanent
    while env.wait(0.4):
        one_step(env)
    assert len(attempts) == 1


def test_f16_a_wrong_password_is_tried_once(scripted, open_env):
    remote = scripted(password="right")
    wrong = replace(remote.address, vnc=replace(remote.address.vnc, password="wrong"))
    env = open_env(wrong, backoff=(0.01, 0.01))
    env.reset()
    until(env, failed, 20)
    assert isinstance(env.remotes[0].error, AuthError)
    assert env.remotes[0].error.permanent
    until(env, lambda step: step.info["env_status.reason"] == "closed")[-1]
    assert not env.wait(0.3) or one_step(env).info["error"] is None
    assert one_step(env).info["env_status.reason"] == "closed"


def test_f16_a_wrong_rewarder_password_is_tried_once(scripted, open_env):
    remote = scripted(password="right")
    wrong = replace(remote.address, rewarder=replace(remote.address.rewarder, password="wrong"))
    env = open_env(wrong, backoff=(0.01, 0.01))
    env.reset()
    until(env, failed, 20)
    assert isinstance(env.remotes[0].error, AuthError)
    until(env, lambda step: step.info["env_status.reason"] == "closed")


def test_f17_a_blacklist_is_not_hammered(evil, open_env):
    """Measured on TigerVNC: `RFB 003.003`, security type 0, these words."""

    async def refuse(peer: Peer) -> None:
        peer.write(b"RFB 003.003\n" + bytes(4) + b"\0\0\0\x1a" + b"Too many security failures")
        await peer.reader.read()

    address, attempts = evil(refuse)
    env = open_env(address, backoff=(0.01, 0.02))
    env.reset()
    step = until(env, failed)[-1]
    assert "Too many security failures" in step.info["error"]
    assert isinstance(env.remotes[0].error, ConnectError)
    while env.wait(0.5):
        one_step(env)
    assert len(attempts) == 1


@pytest.mark.parametrize(
    ("code", "kind"),
    [(1000, PeerLost), (1001, PeerLost), (1011, PeerLost), (1012, PeerLost), (1013, PeerLost), (4408, PeerLost),
     (1002, ProtocolError), (1003, ProtocolError), (1007, ProtocolError), (1008, ProtocolError),
     (1009, ProtocolError), (4401, AuthError)],
)  # fmt: skip
def test_f20_close_codes_become_errors(scripted, open_env, code, kind):
    remote = scripted()
    env = open_env(remote, backoff=(10.0, 10.0))
    env.reset()
    until_running(env)
    remote.stop_rewarder(code)
    cut = until(env, lambda step: step.done)[-1]
    assert cut.info["truncated"]
    assert type(env.remotes[0].error) is kind, cut.info["error"]


# -- messages


def test_f22_a_message_that_comes_twice_is_counted_once(scripted, open_env):
    remote = scripted()
    env = open_env(remote)
    env.reset()
    until_running(env)

    def twice() -> None:
        (peer,) = remote.rewarder._peers.values()
        peer.session.publish(EpisodeId.parse(remote.episode), checked_reward(3.0, False, {}), time.time())
        for frame in peer.session.data_to_send() * 2:
            broadcast([peer.websocket], frame)

    remote.script(twice)
    remote.reward(0.0, info={"last": True})
    seen = until(env, lambda step: "remote.last" in step.info)
    assert sum(step.reward for step in seen) == 3.0
    assert sum(step.info["stats.reward.duplicate"] for step in seen) == 1


def test_f23_episode_ids_out_of_order(scripted, open_env):
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
    seen = until(env, lambda step: step.done)
    last = seen[-1]
    assert sum(step.reward for step in seen) == 2.0
    assert last.info["end_reason"] == "superseded"
    assert last.info["truncated"]
    assert last.info["env_status.complete.episode_id"] == "5"
    seen += until(env, lambda step: step.reward != 0.0)
    assert sum(step.reward for step in seen) == 6.0
    assert sum(step.done for step in seen) == 1
    assert sum(step.info["stats.reward.stale"] for step in seen) == 2
    assert until_running(env).pixel == 7


def test_f24_reward_before_describe_and_unknown_methods_are_tolerated(scripted, open_env, caplog):
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
    assert sum(step.reward for step in seen) == 1.5
    assert not any(step.done or step.info["error"] for step in seen)
    assert sum("v9.env.dance" in record.getMessage() for record in caplog.records) == 1


# -- resets that do not end


class Replacing(AddressProvider):
    """Counts what is given back as of no use."""

    discarded = 0

    async def discard(self, index: int) -> None:
        self.discarded += 1


def test_f30_a_reset_that_does_not_end_is_reported_and_the_remote_replaced(scripted, open_env):
    remote = scripted(on_reset=by_hand)
    provider = Replacing([remote.address])
    env = open_env(provider, reset_timeout=0.3)
    env.reset()
    began = time.monotonic()
    step = until(env, failed)[-1]
    assert 0.25 < time.monotonic() - began < 3
    assert "not running after 0.3 s" in step.info["error"]
    assert isinstance(env.remotes[0].error, ResetTimeout)
    remote.next_reset()
    remote._on_reset = ScriptedRemote.answer  # the replacement is a better one
    remote.next_reset()
    wait_until(lambda: provider.discarded >= 1, what="the remote was not given back")
    until_running(env)


def test_f30_the_deadline_holds_for_an_autoreset_too(scripted, open_env):
    remote = scripted()
    env = open_env(remote, reset_timeout=0.3)
    env.reset()
    until_running(env)
    remote.finish(1.0)
    until(env, lambda step: step.done)
    assert "not running after 0.3 s" in until(env, failed)[-1].info["error"]
    until_running(env)


def test_an_agent_that_does_not_reset_has_no_deadline(scripted, open_env):
    remote = scripted(on_reset=by_hand)
    env = open_env(remote, reset_timeout=0.05)
    wait_until(lambda: env.remotes[0].link.rewarder is not None)
    threading.Event().wait(0.2)
    assert env.remotes[0].link.errors == []


# -- agents


def test_f31_an_agent_that_pauses_loses_nothing_but_old_frames(scripted, open_env):
    remote = scripted()
    env = open_env(remote)
    env.reset()
    until_running(env)
    for value in range(60):
        remote.paint(100 + value)
        remote.reward(1.0)
        threading.Event().wait(0.01)
    remote.reward(0.0, info={"last": True})
    link = env.remotes[0].link
    wait_until(lambda: link.buffer._current.info.get("last", False))
    step = one_step(env)
    assert step.reward == 60.0
    assert step.info["error"] is None
    assert until(env, lambda step: step.pixel == 159)


def test_on_error_raise_raises_what_happened_to_the_first(scripted, open_env):
    one, other = scripted(), scripted()
    env = open_env(one, other, on_error="raise", backoff=(5.0, 5.0))
    env.reset()
    until_running(env)
    other.stop()
    with pytest.raises(RemoteError, match=r"remote 1 \(127\.0\.0\.1"):
        until(env, lambda step: False)
    step = one_step(env)
    assert step.observation_n[0] is not None
    assert step.observation_n[1] is None


def test_ancestor_vnc_env_one_dead_remote_raised_for_all(scripted, open_env):
    """envs/vnc_env.py, _handle_crashed_n: one dead remote of n raised for all n."""
    remotes = [scripted() for _ in range(3)]
    env = open_env(*remotes)
    env.reset()
    until_running(env)
    remotes[1].stop()
    seen = until(env, lambda step: step.done_n[1])
    for step in seen:
        assert step.done_n[0] is False
        assert step.done_n[2] is False
        assert step.info_n[0]["error"] is None
        assert step.observation_n[0] is not None
        assert step.observation_n[2] is not None


CANARY = "canary7!"


def test_ancestor_vnc_env_passwords_in_logs(scripted, open_env, caplog, capfd):
    """envs/vnc_env.py and rewarder/remote.py logged passwords, even the expected one."""
    caplog.set_level(logging.DEBUG)
    remote = scripted(password=CANARY)
    env = open_env(remote)
    env.reset()
    until_running(env)
    remote.stop()
    until(env, failed)
    wrong = ScriptedRemote(remote._loop, password="other")
    bad = replace(wrong.address, vnc=replace(wrong.address.vnc, password=CANARY))
    losing = open_env(bad)
    losing.reset()
    error = until(losing, failed, 20)[-1].info["error"]
    wrong.stop()
    shown = [
        error,
        repr(env),
        repr(env.provider),
        repr(remote.address),
        str(remote.address),
        repr(env.config),
    ]
    shown += [repr(env.remotes[0].link.__dict__), repr(losing.remotes[0].error), *capfd.readouterr()]
    shown += [record.getMessage() for record in caplog.records]
    assert len(caplog.records) > 3
    assert not [text for text in shown if CANARY in text]


# -- the end (F32)


def test_f32_close_leaves_no_thread_and_no_connection(scripted, open_env):
    remote = scripted()
    before = set(threading.enumerate())
    env = open_env(remote)
    env.reset()
    until_running(env)
    assert set(threading.enumerate()) - before
    env.close()
    assert set(threading.enumerate()) == before
    wait_until(lambda: remote.vnc.clients == 0)
    wait_until(lambda: remote.rewarder.controllers == 0)


def test_f32_an_environment_that_is_forgotten_closes_itself(scripted):
    remote = scripted()
    before = set(threading.enumerate())
    env = VectorEnv(None, AddressProvider([remote.address]))
    env.reset()
    until_running(env)
    del env
    gc.collect()
    wait_until(lambda: set(threading.enumerate()) == before, what="the end of the thread")
    wait_until(lambda: remote.vnc.clients == 0)


def test_f32_an_exception_in_the_agent_closes_a_with_block(scripted):
    remote = scripted()
    with pytest.raises(ZeroDivisionError), VectorEnv(None, AddressProvider([remote.address])) as env:
        env.reset()
        until_running(env)
        1 / 0  # noqa: B018
    assert env.closed
    wait_until(lambda: remote.vnc.clients == 0)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_f32_a_forked_process_is_told_to_make_its_own(scripted, open_env):
    env = open_env(scripted())
    env.reset()
    until_running(env)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        told = b"nothing"
        try:
            env.step([[]])
        except LocalStateError as error:
            told = str(error).encode()
        env.close()
        os.write(write, told)
        os._exit(0)
    os.waitpid(child, 0)
    assert b"forked" in os.read(read, 1000)
    os.close(read)
    os.close(write)
    assert one_step(env).observation is not None, "the child closed the parent's connections"


AGENT = """
import sys, universe_client
env = universe_client.make("builtin.NeonDrive-v0", remotes=2)
env.reset()
while not all(env.step([[], []])[0]):
    env.wait(1)
print(*(child.process.pid for child in env.provider._children.values()), flush=True)
{end}
"""


@pytest.mark.parametrize(
    "end",
    ["pass", "raise RuntimeError('agent')", "import os; os.kill(os.getpid(), 2)", "import os; os.kill(os.getpid(), 9)"],
    ids=["end of the script", "exception", "Ctrl-C", "kill -9"],
)  # fmt: skip
def test_f32_no_process_outlives_the_agent(end):
    result = subprocess.run(
        [sys.executable, "-c", AGENT.format(end=end)], capture_output=True, text=True, timeout=40, check=False
    )
    pids = [int(pid) for pid in result.stdout.split()]
    assert len(pids) == 2, result.stderr
    wait_until(lambda: not any(alive(pid) for pid in pids), what="the end of the remotes")


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
