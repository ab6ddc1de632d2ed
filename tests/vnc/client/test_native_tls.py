"""TLS in the native driver: in the core without the GIL, or by OpenSSL where the core cannot."""

from __future__ import annotations

import ctypes
import ssl
import time

import pytest

from tests.support.drivers import needs_native
from tests.support.vnc.rfb import Peer, listening, raw, update
from tests.support.vnc.sessions import taken
from tests.support.vnc.vencrypt import ANONYMOUS, TLS_NONE, X509_NONE, honest
from vnc.events import KeyEvent
from vnc.session import Timeouts
from vnc.tls import TLS

pytestmark = [needs_native, pytest.mark.parametrize("driver", ["native"])]

PATIENT = Timeouts(probe_interval=120.0, update=120.0, handshake=120.0)
FRAMES = 20
ATTEMPTS = 30
HELD = 2_000_000
"""Microseconds for which a test keeps the GIL; a call through PyDLL does."""


async def no_login(peer: Peer) -> None:
    pass


def is_in_core(session) -> bool:
    return session._loop_plan is None


def keep_the_gil() -> None:
    ctypes.PyDLL(None).usleep(HELD)


@pytest.mark.parametrize("big", [False, True], ids=["small", "big"])
async def test_pixels_arrive_while_the_gil_is_held(opened, authority, identity, big):
    """The server's bytes are in the socket, and neither the event loop nor any Python runs."""
    value = 0
    peers: list[Peer] = []

    async def keep(peer: Peer) -> None:
        peers.append(peer)
        await peer.idle()

    talk = honest(identity.context(), X509_NONE, no_login, keep)
    tls = TLS(ca_file=authority.certificate)
    async with (
        listening(talk) as port,
        opened.on(port, timeouts=PATIENT, tls=tls) as (session, changes),
    ):
        await changes.until(lambda: session.frames == 1 and bool(peers))
        for value in range(1, FRAMES + 1):
            rects = [raw(value, width=1, height=1)] * 200 if big else [raw(value)]
            peers[0].write(update(*rects, raw(value)))
        for _ in range(ATTEMPTS):
            if session.frames > FRAMES:
                break
            keep_the_gil()
        assert session.frames == FRAMES + 1
        assert session.frame_time < time.monotonic()
        assert (taken(session) == value).all()


async def test_planned_input_needs_no_gil(opened, authority, identity):
    received: list[bytes] = []

    async def until_pressed(peer: Peer) -> None:
        received.append(await peer.read(8 * FRAMES))
        await peer.idle()

    talk = honest(identity.context(), X509_NONE, no_login, until_pressed)
    tls = TLS(ca_file=authority.certificate)
    async with (
        listening(talk) as port,
        opened.on(port, timeouts=PATIENT, tls=tls) as (session, changes),
    ):
        await changes.until(lambda: session.frames == 1)
        now = time.monotonic()
        session.plan(now, [(now + 0.01 * step, [KeyEvent(step, True)]) for step in range(FRAMES)])
        played: list[float] = []
        for _ in range(ATTEMPTS):
            played += session.played()
            if len(played) == FRAMES:
                break
            keep_the_gil()
        assert len(played) == FRAMES
        assert played[-1] - played[0] > 0.1, "all at once"
        await changes.until(lambda: bool(received))
        assert [data[-1] for data in (received[0][at : at + 8] for at in range(0, 8 * FRAMES, 8))] == [
            *range(FRAMES)
        ]


# -- which way


@pytest.mark.parametrize("trust", ["authority", "fingerprint", "insecure"])
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_the_core_does_tls_with_a_certificate(opened, authority, identity, trust, version):
    tls = {
        "authority": TLS(ca_file=authority.certificate),
        "fingerprint": TLS(fingerprint=identity.fingerprint),
        "insecure": TLS(insecure=True),
    }[trust]
    context = identity.context()
    context.minimum_version = context.maximum_version = version
    async with (
        listening(honest(context, X509_NONE, no_login)) as port,
        opened.on(port, timeouts=PATIENT, tls=tls) as (session, changes),
    ):
        await changes.until(lambda: session.frames == 1)
        assert is_in_core(session)


@pytest.mark.parametrize("what", ["anonymous", "cipher suite"])
async def test_openssl_does_what_the_core_cannot(opened, authority, identity, what):
    """A server without a certificate, and one whose cipher suites are too old for the core."""
    context, tls, sub_type = identity.context(), TLS(ca_file=authority.certificate), X509_NONE
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    if what == "anonymous":
        context.set_ciphers(ANONYMOUS)
        tls, sub_type = TLS(insecure=True), TLS_NONE
    else:
        context.set_ciphers("ECDHE-ECDSA-AES256-SHA384")
    async with (
        listening(honest(context, sub_type, no_login)) as port,
        opened.on(port, timeouts=PATIENT, tls=tls) as (session, changes),
    ):
        await changes.until(lambda: session.frames == 1)
        assert not is_in_core(session)
        now = time.monotonic()
        session.plan(now, [(now, [KeyEvent(1, True)])])
        played: list[float] = []
        await changes.until(lambda: bool(played.extend(session.played()) or played))
