"""Hostile TLS after the handshake: records that drip, break off, or are not TLS (F35)."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable

import pytest

from tests.support.vnc.rfb import Peer, listening
from tests.support.vnc.sessions import taken
from tests.support.vnc.tls_records import ALERT, APPLICATION, FRAME, HANDSHAKE, Records, record
from vnc.errors import PeerLost
from vnc.session import Timeouts
from vnc.tls import TLS

PATIENT = Timeouts(probe_interval=120.0, update=120.0, handshake=120.0)
GOODBYE = "the server closed the connection"

Misbehave = Callable[[Records], Awaitable[None]]


@pytest.fixture(params=[ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3], ids=["1.2", "1.3"])
def context(request, identity):
    context = identity.context()
    context.minimum_version = context.maximum_version = request.param
    return context


def showing(context: ssl.SSLContext, misbehave: Misbehave):
    """Return a `talk` that shows one frame over TLS, and then does as the test says."""

    async def talk(peer: Peer) -> None:
        records = Records(peer, context)
        await records.start()
        peer.write(records.sealed(FRAME))
        await misbehave(records)

    return talk


async def idle(records: Records) -> None:
    await records.peer.idle()


def sending(make: Callable[[Records], bytes], then: Misbehave = idle) -> Misbehave:
    async def misbehave(records: Records) -> None:
        records.peer.write(make(records))
        await then(records)

    return misbehave


async def hang_up(records: Records) -> None:
    await records.peer.writer.drain()
    records.peer.writer.write_eof()
    await idle(records)


def flipped(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 1])


@pytest.mark.fault("F35", "VeNCrypt: bad cert, wrong host; TLS closed mid-handshake")
@pytest.mark.parametrize(
    ("misbehave", "words"),
    [
        (sending(lambda records: records.sealed(FRAME)[:-9], hang_up), GOODBYE),
        (sending(lambda records: b"", hang_up), GOODBYE),
        (sending(Records.end), GOODBYE),
        (sending(lambda records: flipped(records.sealed(FRAME))), ""),
        (sending(lambda records: record(APPLICATION, bytes(40), 0xFFFF)), ""),
        (sending(lambda records: record(APPLICATION, FRAME)), ""),
        (sending(lambda records: record(HANDSHAKE, bytes(4))), ""),
        (sending(lambda records: record(ALERT, b"\x02\x28")), ""),
        (sending(lambda records: FRAME), ""),
    ],
    ids=[
        "a record broken off",
        "an end without close_notify",
        "close_notify and nothing else",
        "a flipped bit",
        "an oversized record",
        "a record that is not encrypted",
        "a new handshake that is not encrypted",
        "an alert that is not encrypted",
        "no TLS",
    ],
)
async def test_f35_tls_that_breaks_is_a_lost_server(opened, authority, context, misbehave, words):
    tls = TLS(ca_file=authority.certificate)
    async with (
        listening(showing(context, misbehave)) as port,
        opened.on(port, timeouts=PATIENT, tls=tls) as (session, changes),
    ):
        await changes.until(lambda: session.error is not None)
        assert type(session.error) is PeerLost
        assert words in str(session.error)


@pytest.mark.fault("F35", "VeNCrypt: bad cert, wrong host; TLS closed mid-handshake")
async def test_f35_records_may_come_a_byte_at_a_time(opened, authority, context):
    async def dripping(records: Records) -> None:
        for byte in records.sealed(FRAME) + records.sealed(FRAME):
            records.peer.write(bytes([byte]))
            await records.peer.writer.drain()
        await idle(records)

    tls = TLS(ca_file=authority.certificate)
    async with (
        listening(showing(context, dripping)) as port,
        opened.on(port, timeouts=PATIENT, tls=tls) as (session, changes),
    ):
        await changes.until(lambda: session.frames == 3)
        assert session.error is None
        assert (taken(session) == 7).all()


@pytest.mark.fault("F35", "VeNCrypt: bad cert, wrong host; TLS closed mid-handshake")
async def test_f35_a_record_that_never_ends_is_no_sign_of_life(opened, authority, context):
    """Its bytes arrive more often than the client probes."""

    async def dripping(records: Records) -> None:
        endless = record(APPLICATION, bytes(16000))
        for byte in endless:
            records.peer.write(bytes([byte]))
            await asyncio.sleep(0.02)

    timeouts = Timeouts(probe_interval=1.0, probe_deadline=1.0, handshake=120.0, update=120.0)
    tls = TLS(ca_file=authority.certificate)
    async with (
        listening(showing(context, dripping)) as port,
        opened.on(port, timeouts=timeouts, tls=tls) as (session, changes),
    ):
        await changes.until(lambda: session.error is not None)
        assert type(session.error) is PeerLost
        assert "no answer to a probe within 1 s" in str(session.error)
