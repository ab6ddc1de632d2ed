"""Replays, with a client that exposes every byte."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from tests.support.vnc import captures
from tests.support.vnc.captures import (
    EMPTY_UPDATE,
    HEIGHT,
    ONE_PIXEL,
    WIDTH,
    plain,
    replaying,
    written,
)
from vnc.capture.capture import CaptureHeader, CaptureWriter, read_capture
from vnc.capture.replay import ReplayServer
from vnc.capture.scan import ServerMessage
from vnc.pixels.pixel_format import BGR233

path = captures.path  # fixtures


async def test_each_request_gets_one_update(path: Path) -> None:
    messages = [EMPTY_UPDATE, ONE_PIXEL, EMPTY_UPDATE]
    written(path, *messages)
    async with replaying(read_capture(path)) as replay, plain(replay.port) as client:
        client.request(False)
        assert await client.update() == []
        client.request(True)
        client.request(True)
        (rectangle,) = await client.update()
        assert (rectangle.x, rectangle.payload) == (1, b"abcd")
        assert await client.update() == []
        client.request(True)  # never answered: the screen stands still
        client.request(False, (0, 0, 1, 1))  # a probe, which shows that the server still answers
        assert await client.update() == []


async def test_updates_come_at_the_recorded_pace(path: Path) -> None:
    now = iter([0.0, 0.0, 0.0, 0.1, 0.2])
    with CaptureWriter(path, CaptureHeader(WIDTH, HEIGHT, ""), clock=lambda: next(now)) as file:
        for _ in range(3):
            file.message(
                ServerMessage(0, EMPTY_UPDATE, encodings=frozenset({0}) if not file.updates else frozenset())
            )
    capture = read_capture(path)
    assert [message.time for message in capture.messages] == [0.0, 0.1, 0.2]
    for speed, least in ((1.0, 0.19), (2.0, 0.09)):
        async with replaying(capture, speed) as replay, plain(replay.port) as client:
            times = []
            for _ in range(3):
                client.request(True)
                await client.update()
                times.append(asyncio.get_running_loop().time())
            assert least < times[-1] - times[0] < least + 1


async def test_a_capture_without_streams_can_start_over(path: Path) -> None:
    written(path, EMPTY_UPDATE, ONE_PIXEL)
    replay = ReplayServer(read_capture(path), speed=None, repeat=True)
    await replay.start()
    async with plain(replay.port) as client:
        for expected in (0, 1) * 3:
            client.request(True)
            assert len(await client.update()) == expected
    await replay.close()


def test_a_capture_with_streams_cannot_start_over(path: Path) -> None:
    with CaptureWriter(path, CaptureHeader(WIDTH, HEIGHT, "")) as file:
        file.message(ServerMessage(0, EMPTY_UPDATE, encodings=frozenset({7})))
    with pytest.raises(ValueError, match="cannot be repeated"):
        ReplayServer(read_capture(path), repeat=True)


@pytest.mark.parametrize("speed", [0.0, -1.0])
def test_a_speed_is_positive(path: Path, speed: float) -> None:
    written(path)
    with pytest.raises(ValueError, match="is not positive"):
        ReplayServer(read_capture(path), speed=speed)


async def test_a_client_of_another_pixel_format_is_refused(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    written(path, EMPTY_UPDATE)
    async with replaying(read_capture(path)) as replay, plain(replay.port) as client:
        client.set_format(BGR233.encode())
        with caplog.at_level(logging.WARNING):
            client.request(False)
            assert await client.ended()
    assert "the client requests pixels as PixelFormat(bits_per_pixel=8" in caplog.text


async def test_a_client_without_the_recorded_encodings_is_refused(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with CaptureWriter(path, CaptureHeader(WIDTH, HEIGHT, "")) as file:
        file.message(ServerMessage(0, EMPTY_UPDATE, encodings=frozenset({0, 7, -224})))
    async with replaying(read_capture(path)) as replay, plain(replay.port) as client:
        client.set_encodings(16, 7)
        with caplog.at_level(logging.WARNING):
            client.request(False)
            assert await client.ended()
    assert "does not request encodings -224 of the capture" in caplog.text
