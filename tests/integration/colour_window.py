"""An X program for the tests: a window whose colour a key press changes, in pure Python over the X11 socket.

The screen is filled with one colour: blue counts up all the time (the window animates), red and green depend on how
many keys have been pressed. Every key press is worth a reward; Escape ends the episode, `q` ends the program.
"""

import json
import os
import select
import socket
import struct
import sys
import time

KEY_PRESS = 2
ESCAPE, Q = 9, 24  # keycodes of TigerVNC's evdev keyboard


def cookie():
    with open(os.environ["XAUTHORITY"], "rb") as file:
        return file.read()[-16:]


def read_exactly(connection, length):
    data = b""
    while len(data) < length:
        piece = connection.recv(length - len(data))
        if not piece:
            sys.exit("the display is gone")
        data += piece
    return data


def connect():
    """Return the connection, and what is needed of the setup reply: first id, root window, width, height."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect("/tmp/.X11-unix/X" + os.environ["DISPLAY"].removeprefix(":"))
    name = b"MIT-MAGIC-COOKIE-1"
    hello = struct.pack("<BxHHHHxx", ord("l"), 11, 0, len(name), 16)
    connection.sendall(hello + name + bytes(2) + cookie())
    status, length = struct.unpack("<B5xH", read_exactly(connection, 8))
    body = read_exactly(connection, 4 * length)
    if status != 1:
        sys.exit(f"refused: {body!r}")
    base = struct.unpack_from("<I", body, 4)[0]
    vendor, formats = struct.unpack_from("<16xHxxxB", body)
    screen = 32 + vendor + (-vendor % 4) + 8 * formats
    root = struct.unpack_from("<I", body, screen)[0]
    width, height = struct.unpack_from("<HH", body, screen + 20)
    return connection, base, root, width, height


def open_window(connection, window, root, width, height):
    # CreateWindow, override-redirect (there is no window manager), events: KeyPress; then MapWindow, SetInputFocus
    values = struct.pack("<II", 1, 1)  # override-redirect, event mask
    geometry = struct.pack("<hhHHH", 0, 0, width, height, 0)
    create = (
        struct.pack("<BBHII", 1, 0, 10, window, root) + geometry + struct.pack("<HII", 1, 0, 1 << 9 | 1 << 11)
    )
    connection.sendall(create + values)
    connection.sendall(struct.pack("<BxHI", 8, 2, window))
    connection.sendall(struct.pack("<BBHII", 42, 1, 3, window, 0))


def fill(connection, window, context, colour, width, height):
    change = struct.pack("<BxHIII", 56, 4, context, 1 << 2, colour)  # ChangeGC foreground
    rectangle = struct.pack("<BxHIIhhHH", 70, 5, window, context, 0, 0, width, height)  # PolyFillRectangle
    connection.sendall(change + rectangle)


def report(**fields):
    print(json.dumps(fields), flush=True)


def main():
    connection, base, root, width, height = connect()
    window, context = base, base + 1
    connection.sendall(struct.pack("<BxHIII", 55, 4, context, root, 0))  # CreateGC
    open_window(connection, window, root, width, height)
    print("hello from the colour window", flush=True)
    presses = frame = 0
    due = time.monotonic()
    while True:
        colour = presses % 8 * 32 << 16 | presses % 4 * 64 << 8 | frame % 256
        fill(connection, window, context, colour, width, height)
        frame += 1
        due += 1 / 30
        while select.select([connection], [], [], max(due - time.monotonic(), 0))[0]:
            event = read_exactly(connection, 32)
            if event[0] & 0x7F != KEY_PRESS:
                continue
            if event[1] == Q:
                sys.exit(3)
            presses += 1
            report(reward=1.0, done=event[1] == ESCAPE, info={"presses": presses, "keycode": event[1]})


main()
