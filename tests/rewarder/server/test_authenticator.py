"""Passwords at the upgrade."""

from __future__ import annotations

import asyncio
import base64
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode

from rewarder.credentials import authorization, password_of, wire_logger
from rewarder.protocol.codec import encode
from rewarder.protocol.messages import Headers, Input, Ping
from rewarder.protocol.timed_input import KeyInput
from rewarder.server.authenticator import (
    FREE_FAILURES,
    MAX_ADDRESSES,
    MAX_WAITING,
    Authenticator,
    same_origin,
)


@given(st.text())
def test_the_password_travels_in_the_user_field(password):
    header = authorization(password)
    assert password_of(header) == password
    assert "\n" not in header
    assert base64.b64decode(header.removeprefix("Basic ")).decode() == password + ":"


@pytest.mark.parametrize(
    ("header", "password"),
    [
        (None, None), ("", None), ("Bearer s3cret", "s3cret"), ("bearer  s3cret", "s3cret"), ("Bearer ", None),
        ("Basic !!!", None), ("Basic czNjcmV0", None), ("Basic /w==", None), ("Digest czNjcmV0Og==", None),
        ("Basic czNjcmV0Og==", "s3cret"),
    ],
)  # fmt: skip
def test_headers_of_all_sorts(header, password):
    assert password_of(header) == password


@pytest.mark.parametrize(
    "header", [None, "", "Basic Og==", "Bearer wrong", authorization("s3cre"), authorization("s3cret2")]
)
async def test_a_wrong_or_missing_password_is_401(header):
    assert await Authenticator("s3cret").check(header, "::1") == 401


@pytest.mark.parametrize("header", [authorization("s3cret"), "Bearer s3cret"])
async def test_the_right_password_is_200(header):
    assert await Authenticator("s3cret").check(header, "::1") == 200


async def test_a_missing_password_is_not_the_empty_one():
    assert await Authenticator("").check(None, "::1") == 401
    assert await Authenticator("").check(authorization(""), "::1") == 200


async def test_without_a_password_everybody_may_come():
    assert await Authenticator(None).check(None, "::1") == 200


async def guess(auth: Authenticator, times: int, address: str = "::1") -> list[int]:
    return [await auth.check("Bearer wrong", address) for _ in range(times)]


async def test_after_five_failures_the_answers_to_an_address_are_late():
    auth = Authenticator("s3cret", delay=0.5)
    loop = asyncio.get_running_loop()
    await guess(auth, FREE_FAILURES)
    started = loop.time()
    assert await guess(auth, 1) == [401]
    assert loop.time() - started >= 0.49


async def test_the_right_password_clears_the_record():
    auth = Authenticator("s3cret", delay=3600)
    await guess(auth, FREE_FAILURES - 1)
    assert await auth.check("Bearer s3cret", "::1") == 200
    assert await guess(auth, FREE_FAILURES) == [401] * FREE_FAILURES


async def test_a_guesser_does_not_keep_out_the_right_password_from_its_own_address():
    auth = Authenticator("s3cret", delay=3600)
    await guess(auth, FREE_FAILURES)
    waiting = [asyncio.create_task(auth.check("Bearer wrong", "::1")) for _ in range(MAX_WAITING)]
    await asyncio.wait(waiting, timeout=0)
    assert await auth.check("Bearer wrong", "::1") == 429, "late answers are bounded"
    assert await auth.check("Bearer s3cret", "::1") == 200, "neither refused nor late"
    for task in waiting:
        task.cancel()
    await asyncio.wait(waiting)


async def test_remembered_addresses_are_bounded():
    auth = Authenticator("s3cret")
    for number in range(MAX_ADDRESSES + 10):
        await auth.check("Bearer wrong", f"10.0.0.{number}")
    assert len(auth._records) == MAX_ADDRESSES


@pytest.mark.parametrize(
    ("origin", "host", "same"),
    [
        (None, "127.0.0.1:15900", True), ("http://127.0.0.1:15900", "127.0.0.1:15900", True),
        ("http://EXAMPLE:1", "example:1", True), ("http://evil.example", "127.0.0.1:15900", False),
        ("http://127.0.0.1:80", "127.0.0.1:15900", False), ("null", "127.0.0.1:15900", False),
        ("http://[", "127.0.0.1:15900", False), ("", "", False), ("http://a", None, False),
    ],
)  # fmt: skip
def test_pages_of_other_hosts_are_told_apart(origin, host, same):
    assert same_origin(origin, host) is same


def test_the_wire_logger_hides_credentials(caplog):
    logger = wire_logger("rewarder.wire.test")
    assert wire_logger("rewarder.wire.test") is logger
    assert len(logger.filters) == 1
    caplog.set_level(logging.DEBUG, logger=logger.name)
    logger.debug("> %s: %s", "Authorization", "Basic czNjcmV0Og==")
    logger.debug("> %s: %s", "Host", "example")
    assert [record.getMessage() for record in caplog.records] == [
        "> Authorization: [hidden]",
        "> Host: example",
    ]


def test_the_wire_logger_hides_what_people_type(caplog):
    logger = wire_logger("rewarder.wire.test")
    caplog.set_level(logging.DEBUG, logger=logger.name)
    report = encode(Headers(1, 2.0), Input([KeyInput(0x61, True, 2.0)])).encode()
    logger.debug("> %s", Frame(Opcode.TEXT, report))
    logger.debug("< %s", Frame(Opcode.BINARY, b"\x04\x01\x00\x00\x00\x00\x00\x61"))
    logger.debug("< %s", Frame(Opcode.TEXT, encode(Headers(1, 2.0), Ping()).encode()))
    hidden, pointer, ping = (record.getMessage() for record in caplog.records)
    assert (hidden, pointer) == ("> [hidden]", "< [hidden]")
    assert "v0.control.ping" in ping


def test_a_failed_handshake_is_no_error_and_has_no_traceback(caplog):
    logger = wire_logger("rewarder.wire.test")
    caplog.set_level(logging.DEBUG, logger=logger.name)
    logger.error("opening handshake failed", exc_info=ValueError("x"))
    [record] = caplog.records
    assert (record.levelno, record.exc_info) == (logging.DEBUG, None)


def test_neither_repr_nor_attributes_hold_the_password():
    auth = Authenticator("canary-password")
    assert "canary" not in repr(auth)
    assert "canary" not in repr(vars(auth))
