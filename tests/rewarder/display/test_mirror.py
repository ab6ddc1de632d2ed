"""The mirror of a display shows what Xvnc shows, and passes input on to it."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest
import xcffib
import xcffib.randr

from rewarder.display.mirror import Mirror
from rewarder.display.x11_windows import WindowClient
from rewarder.display.xdisplay import XDisplay
from tests.support.fixtures import driver
from tests.support.vnc.sessions import Changes, Opener, opened, taken
from vnc.errors import AuthError, ConnectError
from vnc.events import KeyEvent, PointerEvent
from vnc.session import Frame, Session

__all__ = ["driver", "opened"]

WIDTH, HEIGHT = 320, 240
CONVERGES = 30.0


@contextmanager
def program(display: XDisplay, *command: str) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(command, env=os.environ | display.environment) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def drawing(display: XDisplay) -> Iterator[WindowClient]:
    client = WindowClient(display.socket, display.cookie)
    try:
        yield client
    finally:
        client.close()


@asynccontextmanager
async def mirrored(
    display: XDisplay, password: str | None = None
) -> AsyncIterator[tuple[int, asyncio.Task[None]]]:
    mirror = Mirror(display, password)
    port = await mirror.start()
    running = asyncio.create_task(mirror.run())
    try:
        yield port, running
    finally:
        if running.done() and (error := running.exception()):
            print(f"the mirror ended: {error!r}")
        running.cancel()
        await asyncio.wait([running])
        await mirror.close()


def resize(screen: WindowClient, width: int, height: int) -> None:
    """Do what `xrandr -s` does."""
    randr = screen._connection(xcffib.randr.key)
    millimetres = width // 4, height // 4
    randr.QueryVersion(1, 3).reply()
    randr.SetScreenSize(screen.root, width, height, *millimetres, is_checked=True).check()


@pytest.fixture
def display() -> Iterator[XDisplay]:
    with XDisplay(WIDTH, HEIGHT) as started:
        yield started


async def whole(session: Session, changes: Changes) -> Frame:
    """Return a frame that was requested whole."""
    wanted = session.refresh()
    await changes.until(lambda: session.generation >= wanted)
    return taken(session)


async def test_it_shows_what_xvnc_shows_with_the_pointer(display: XDisplay, opened: Opener) -> None:
    async with mirrored(display, None) as (port, _), AsyncExitStack() as stack:
        assert port
        mine, mine_changes = await stack.enter_async_context(opened.on(port))
        xvnc, xvnc_changes = await stack.enter_async_context(opened.on(display.port))

        async def agree() -> Frame:
            async with asyncio.timeout(CONVERGES):
                while True:
                    frame = await whole(mine, mine_changes)
                    if (frame == await whole(xvnc, xvnc_changes)).all():
                        return frame

        assert not (await agree()).any(), "Xvnc begins without a pointer"
        stack.enter_context(program(display, "xlogo", "-geometry", "80x80+230+150"))
        stack.enter_context(program(display, "xterm", "-geometry", "30x8+10+10"))
        await mine_changes.until(
            lambda: bool(taken(mine)[160:, 240:].any() and taken(mine)[20:60, 20:60].any())
        )
        screen = stack.enter_context(drawing(display))
        seen = set()
        places = [(30, 40), (50, 50), (51, 50), (0, 0), (WIDTH - 1, HEIGHT - 1), (160, 10)]
        for who in (mine, xvnc):
            for x, y in places:
                who.send([PointerEvent(x, y, 0)])
                await mine_changes.until(lambda here=(x, y): (screen.pointer().x, screen.pointer().y) == here)
                seen.add((await agree()).tobytes())
        assert len(seen) >= len(places), "the pointer was not seen to move"


async def test_the_whole_screen_is_what_the_display_shows_at_the_request(
    display: XDisplay, opened: Opener
) -> None:
    async with mirrored(display) as (port, _), opened.on(port) as (session, changes):
        with drawing(display) as screen:
            for colour in range(1, 200, 7):
                screen.background(colour)
                screen.pointer()  # the answer comes after the screen was painted
                frame = await whole(session, changes)
                assert (frame == (0, 0, colour)).all()


async def test_changes_arrive_by_themselves(display: XDisplay, opened: Opener) -> None:
    async with mirrored(display) as (port, _), opened.on(port) as (session, changes):
        await whole(session, changes)
        with drawing(display) as screen:
            screen.background(0x102030)
            await changes.until(lambda: (taken(session) == (16, 32, 48)).all())
            square = screen.add_square(100, 50, 30, 20, 0xFF8000)
            expected = np.full((HEIGHT, WIDTH, 3), (16, 32, 48), np.uint8)
            expected[50:70, 100:130] = (255, 128, 0)
            await changes.until(lambda: (taken(session) == expected).all())
            screen.remove_square(square)
            await changes.until(lambda: (taken(session) == (16, 32, 48)).all())


async def test_rows_that_change_again_and_again_and_then_other_rows(
    display: XDisplay, opened: Opener
) -> None:
    expected = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    async with mirrored(display) as (port, _), opened.on(port) as (session, changes):
        await whole(session, changes)
        with drawing(display) as screen:
            for colour in range(1, 5):  # the mirror comes to expect the whole screen
                screen.background(colour)
                expected[...] = 0, 0, colour
                await changes.until(lambda: (taken(session) == expected).all())
            for x, y in ((10, 20), (50, 20), (90, 20), (130, 21), (10, 200), (300, 230), (170, 20)):
                screen.add_square(x, y, 10, 10, 0xFF8000)
                expected[y : y + 10, x : x + 10] = 255, 128, 0
                await changes.until(lambda: (taken(session) == expected).all())
            screen.background(9)
            expected[(expected == (0, 0, 4)).all(axis=2)] = 0, 0, 9
            await changes.until(lambda: (taken(session) == expected).all())


async def test_keys_and_buttons_reach_programs(display: XDisplay, opened: Opener, tmp_path: Path) -> None:
    text, file = (
        "aA1!~ \N{LATIN SMALL LETTER E WITH ACUTE}\N{EURO SIGN}",
        tmp_path / "it",
    )
    script = ("sh", "-c", f"head -n 1 > {file}; read x")
    shell = ("env", "LC_ALL=C.UTF-8", "xterm", "-geometry", "30x10+0+0", "-e", *script)
    async with mirrored(display) as (port, _), opened.on(port) as (session, changes):
        with program(display, *shell), drawing(display) as screen:
            await changes.until(lambda: taken(session).any())
            square = screen.add_square(250, 180, 40, 40, 0xFF0000)
            screen.pointer()  # the answer comes after the square was mapped
            session.send([PointerEvent(260, 190, 0), PointerEvent(260, 190, 1), PointerEvent(260, 190, 0)])
            await changes.until(lambda: screen.pressed() == [square])
            session.send([PointerEvent(20, 20, 0)])
            for character in [*text, "Return"]:
                session.send([KeyEvent.by_name(character, True), KeyEvent.by_name(character, False)])
            await changes.until(lambda: file.exists() and file.read_text().endswith("\n"))
    assert file.read_text() == text + "\n"


async def test_a_killed_display_ends_the_mirror_and_its_sessions(display: XDisplay, opened: Opener) -> None:
    async with mirrored(display) as (port, running), opened.on(port) as (session, changes):
        await whole(session, changes)
        os.kill(display.pid, signal.SIGKILL)
        with pytest.raises(OSError, match="Xvnc"):
            await asyncio.wait_for(running, 60)


async def test_a_stopped_display_answers_nothing_and_then_everything(
    display: XDisplay, opened: Opener
) -> None:
    async with mirrored(display) as (port, _), opened.on(port) as (session, changes):
        await whole(session, changes)
        os.kill(display.pid, signal.SIGSTOP)
        try:
            wanted = session.refresh()
            session.send([PointerEvent(5, 5, 0)])
            async with opened.on(port):  # the mirror has read what was sent before, and goes on
                pass
            assert session.generation < wanted and session.error is None
        finally:
            os.kill(display.pid, signal.SIGCONT)
        await changes.until(lambda: session.generation >= wanted)


@pytest.mark.parametrize("missing", ["MIT-SHM", "DAMAGE"])
async def test_without_an_extension_agents_use_xvnc(
    missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    xvnc = tmp_path / "Xvnc"
    xvnc.write_text(f'#!/bin/sh\nexec {shutil.which("Xvnc")} "$@" -extension {missing}\n')
    xvnc.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    caplog.set_level(logging.INFO, "rewarder.display.mirror")
    with XDisplay(80, 60) as display:
        async with mirrored(display) as (port, running):
            assert port == 0 and not running.done()
    (line,) = caplog.messages
    assert missing in line and "Xvnc" in line


async def test_after_a_change_of_size_clients_connect_again(display: XDisplay, opened: Opener) -> None:
    async with mirrored(display) as (port, _):
        async with opened.on(port) as (session, changes):
            await whole(session, changes)
            with drawing(display) as screen:
                resize(screen, 800, 600)
            await changes.until(lambda: session.error is not None)
        async with asyncio.timeout(60):
            while True:
                with suppress(ConnectError):
                    async with opened.on(port) as (session, changes):
                        assert (await whole(session, changes)).shape == (600, 800, 3)
                        return


async def test_the_password_of_the_display_is_that_of_the_mirror(opened: Opener) -> None:
    with XDisplay(80, 60, password="open sesame") as display:
        async with mirrored(display, "open sesame") as (port, _):
            async with opened.on(port, "open ses") as (session, changes):
                await whole(session, changes)
            with pytest.raises(AuthError):
                async with opened.on(port, "wrong"):
                    pass


async def test_the_buttons_back_and_forward_which_old_xvncs_do_not_know(
    display: XDisplay, opened: Opener
) -> None:
    async with mirrored(display) as (port, _), AsyncExitStack() as stack:
        session, changes = await stack.enter_async_context(opened.on(port))
        await changes.until(lambda: session.more_buttons)
        screen = stack.enter_context(drawing(display))
        square = screen.add_square(10, 10, 50, 50, 0xFF0000)
        screen.pointer()  # a round trip: the square is there
        session.send([PointerEvent(20, 30, mask) for mask in (0, 256, 0, 128, 0)])
        pressed: list[int] = []

        def both_pressed() -> bool:
            pressed.extend(screen.pressed())
            return len(pressed) >= 2

        await eventually(both_pressed)
        assert pressed == [square, square]


async def eventually(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(CONVERGES):
        while not condition():  # noqa: ASYNC110 - the X server tells nobody
            await asyncio.sleep(0.01)
