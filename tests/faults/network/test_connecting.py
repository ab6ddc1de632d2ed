"""Connections that fail: no server, another kind of server, or a server that refuses."""

from __future__ import annotations

import contextlib
import re
import socket
import statistics
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from rewarder.client import RewarderAddress
from tests.support.fixtures import QUICK
from tests.support.remotes.agent import failed, one_step, until, until_running
from tests.support.timing import StepTimes, Stopwatch
from tests.support.vnc.rfb import Peer
from universe_client import VectorEnv
from universe_client.errors import AuthError, ConnectError, ProtocolError
from universe_client.providers.provider import RemoteAddress
from vnc.session import VNCAddress


@contextlib.contextmanager
def unreachable(count: int) -> Iterator[list[RemoteAddress]]:
    """Yield ports, half of them closed, half with a full backlog."""
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


def step_for(env: VectorEnv, seconds: float) -> None:
    """Step whenever new data arrives, for this many seconds."""
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        env.wait(left)
        one_step(env)


@pytest.mark.fault("F8", "connect refused / host black hole")
def test_f8_reset_of_sixteen_unreachable_remotes_returns_at_once_and_step_goes_on(open_env):
    """U3."""
    with unreachable(16) as addresses:
        env = open_env(*addresses)
        times = StepTimes()
        for _ in range(5):
            assert times.time(env.reset) == [None] * 16
        assert min(times.seconds) < 0.010, times.seconds
        step_times = StepTimes()
        errors: set[int] = set()
        for _ in range(300):
            step = step_times.time(lambda: one_step(env))
            assert step.observation_n == [None] * 16
            errors |= {index for index, info in enumerate(step.info_n) if info["error"]}
            env.wait(0.005)
        assert statistics.median(step_times.seconds) < 0.010, sorted(step_times.seconds)[-5:]
        assert {0, 2, 4, 6, 8, 10, 12, 14} <= errors, "refused connections are reported"
        watch = Stopwatch()
        env.close()
        assert watch.seconds < 5, "close waited for connections that do not come about"


@pytest.mark.fault("F8", "connect refused / host black hole")
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


@pytest.mark.fault("F8", "connect refused / host black hole")
def test_f8_a_black_hole_is_a_connect_timeout(open_env):
    with unreachable(2) as addresses:
        env = open_env(addresses[1], timeouts=replace(QUICK, connect=0.3))
        env.reset()
        assert re.search(r"no connection within 0\.(3|2\d*) s", until(env, failed)[-1].info["error"])


@pytest.mark.fault("F9", "slow-loris handshake")
def test_f9_a_dripping_handshake_has_one_deadline(evil, open_env):
    address, _ = evil(lambda peer: peer.drip(b"RFB 003.008\n", 5))
    env = open_env(address, timeouts=replace(QUICK, handshake=0.5))
    began = time.monotonic()
    env.reset()
    step = until(env, failed)[-1]
    assert "no end of the handshake within 0.5 s" in step.info["error"]
    assert time.monotonic() - began > 0.4


@pytest.mark.fault("F12", "garbage first bytes; HTTP or TLS banner on the VNC port")
@pytest.mark.parametrize("banner", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x15\x03\x01\x00\x02\x02\x28" * 4])
def test_f12_no_rfb_server_is_not_stormed_with_retries(evil, open_env, measure, banner):
    async def greet(peer: Peer) -> None:
        peer.write(banner)
        await peer.idle()

    address, attempts = evil(greet)
    env = open_env(address, backoff=(0.02, 30.0))
    env.reset()
    step = until(env, failed)[-1]
    assert "not an RFB server" in step.info["error"]
    assert isinstance(env.remotes[0].error, ProtocolError)
    assert not env.remotes[0].error.permanent
    step_for(env, 1.5)
    measure("attempts in 1.5 s", len(attempts), equals=1)


@pytest.mark.fault("F16", "wrong password")
@pytest.mark.parametrize("channel", ["vnc", "rewarder"])
def test_f16_a_wrong_password_is_tried_once(scripted, open_env, proxied, measure, channel):
    proxy, address = proxied(scripted(password="right"), channel)
    wrong = replace(address, **{channel: replace(getattr(address, channel), password="wrong")})
    env = open_env(wrong, backoff=(0.01, 0.01))
    env.reset()
    until(env, failed)
    assert isinstance(env.remotes[0].error, AuthError)
    assert env.remotes[0].error.permanent
    until(env, lambda step: step.info["env_status.reason"] == "closed")
    assert not env.wait(0.3) or one_step(env).info["error"] is None
    assert one_step(env).info["env_status.reason"] == "closed"
    measure(f"attempts on {channel}", proxy.accepted, equals=1)


@pytest.mark.fault("F17", "blacklist")
def test_f17_a_blacklist_is_not_hammered(evil, open_env, measure):
    """TigerVNC sends `RFB 003.003`, security type 0 and this text."""

    async def refuse(peer: Peer) -> None:
        peer.write(b"RFB 003.003\n" + bytes(4) + b"\0\0\0\x1a" + b"Too many security failures")
        await peer.idle()

    address, attempts = evil(refuse)
    env = open_env(address, backoff=(0.01, 0.02))
    env.reset()
    step = until(env, failed)[-1]
    assert "Too many security failures" in step.info["error"]
    assert isinstance(env.remotes[0].error, ConnectError)
    step_for(env, 1.5)
    measure("attempts in 1.5 s", len(attempts), equals=1)
