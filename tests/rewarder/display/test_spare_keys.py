"""Any text can be typed on a display, however many characters its layout lacks."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
import subprocess
import time
from pathlib import Path

import pytest

from rewarder.display.spare_keys import RESERVE, REST, SpareKeys
from rewarder.display.x11_stream import GENERIC_EVENT
from rewarder.display.xdisplay import XDisplay
from universe_client.hands import Computer

CHINESE = "".join(chr(0x4E00 + 3 * number) for number in range(250))
TEXTS = {
    "english": "Hello, World! ~`@#$%^&*()_+|{}[]\\:;\"'<>?/",
    "german": "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich.",
    "greek": "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία.",
    "russian": "Съешь же ещё этих мягких французских булок, да выпей чаю.",
    "emoji": "😀🎉👍🏽",
    "korean": "키스의 고유조건은 입술끼리 만나야 하고",
    "chinese": CHINESE,
    "composed": "e\N{COMBINING ACUTE ACCENT}",
    "polish": "Zażółć gęślą jaźń",
}

PIECE = 50
"""Characters: more than Xvnc alone can type, and so few that each is read before it is freed."""


@pytest.fixture
def reader(tmp_path: Path):
    """A display with a program that writes what is typed into a file; return the computer and the file."""
    typed = tmp_path / "typed"
    typed.touch()
    with XDisplay(640, 480) as display:
        locale = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
        program = subprocess.Popen(
            ["xterm", "-u8", "-e", "sh", "-c", f"stty -icanon -echo; echo ready; cat > {typed}"],
            env={**os.environ, **display.environment, **locale},
            stderr=subprocess.DEVNULL,
        )
        try:
            with Computer.open(None, f"vnc://127.0.0.1:{display.port}") as computer:
                before = computer.screenshot().array
                deadline = time.monotonic() + 60
                while (computer.screenshot().array == before).all() and time.monotonic() < deadline:
                    computer.wait(0.1)
                computer.move(50, 50, quiet=1.0)
                yield computer, typed
        finally:
            program.kill()
            program.wait()


def typed_until(path: Path, text: str) -> str:
    deadline = time.monotonic() + 60
    while (typed := path.read_text(errors="replace")) != text and time.monotonic() < deadline:
        time.sleep(0.05)
    return typed


def test_any_text(reader):
    computer, file = reader
    typed = ""
    for text in TEXTS.values():
        for start in range(0, len(text), PIECE):
            piece = text[start : start + PIECE]
            assert computer.type(piece).played == 1
            typed += piece.replace("e\N{COMBINING ACUTE ACCENT}", "é")
            assert typed_until(file, typed) == typed


def test_keys_with_modifiers_and_dead_keys(reader):
    computer, file = reader
    for keys in ("shift+a", "A", "shift+1", "shift+slash", "ctrl+shift+B", "shift+Tab", "dead_acute", "e"):
        computer.press(keys)
    assert typed_until(file, "AA!?\x02\x1b[Zé") == "AA!?\x02\x1b[Zé"


class _X:
    """What `SpareKeys` needs of a connection: it notes the keycodes that are freed."""

    def __init__(self) -> None:
        self.freed: list[int] = []

    def send(self, opcode: int, detail: int, body: bytes) -> None:
        self.freed.append(body[0])


def test_the_keycodes_that_were_pressed_longest_ago_are_freed_after_a_rest(monkeypatch):
    now = 100.0
    keys = SpareKeys("/nonexistent", b"")
    keys.close()
    loop = keys._loop = asyncio.new_event_loop()
    monkeypatch.setattr(loop, "time", lambda: now)
    keys._x, keys._spare = _X(), frozenset(range(RESERVE + 3))

    def press(keycode: int) -> None:
        keys._on_event(struct.pack("<BBHIHHII", GENERIC_EVENT, 0, 0, 0, 13, 0, 0, keycode))

    for keycode in (0, 1, 2, 0):
        press(keycode)
    now += REST + 1
    press(0)
    assert keys._x.freed == []
    press(3)
    assert keys._x.freed == [1]  # 0 was pressed again
    press(200)  # a key of the layout
    press(4)
    press(5)
    assert keys._x.freed == [1, 2]  # 0 must rest
    loop.close()


def test_it_ends_while_the_x_server_hangs(tmp_path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "x"))
        server.listen()
        keys = SpareKeys(str(tmp_path / "x"), bytes(16))
        accepted, _ = server.accept()
        accepted.sendall(struct.pack("<BxHHH", 1, 11, 0, 32) + bytes(128))
        deadline = time.monotonic() + 60
        while not hasattr(keys, "_x") and time.monotonic() < deadline:
            time.sleep(0.01)
        keys.close()
        accepted.close()
