"""What a hostile server answers who asks it for shared memory, and what it says of the memory afterwards."""

from __future__ import annotations

import fcntl
import os
import socket

from tests.support.system.memory import Give, Layout, Memory, give, given, offer, shared
from tests.support.vnc.rfb import HEIGHT, WIDTH, header
from vnc.encodings import DESKTOP_SIZE


def answer_of(data: bytes, *descriptors: int) -> Give:
    def answer(client: socket.socket, memory: Memory) -> None:
        socket.send_fds(client, [data], descriptors)

    return answer


def two(client: socket.socket, memory: Memory) -> None:
    socket.send_fds(client, [memory.layout.encode()], [memory.descriptor] * 2)


def many(client: socket.socket, memory: Memory) -> None:
    socket.send_fds(client, [memory.layout.encode()], [memory.descriptor] * 100)


def one_in_each_half(client: socket.socket, memory: Memory) -> None:
    for half in (memory.layout.encode()[:16], memory.layout.encode()[16:]):
        socket.send_fds(client, [half], [memory.descriptor])


def a_file(client: socket.socket, memory: Memory) -> None:
    with open(__file__) as file:
        socket.send_fds(client, [memory.layout.encode()], [file.fileno()])


def a_file_in_memory(client: socket.socket, memory: Memory) -> None:
    with open("/dev/shm", opener=lambda name, flags: os.open(name, os.O_TMPFILE | os.O_RDWR)) as file:
        os.truncate(file.fileno(), 1 << 20)
        socket.send_fds(client, [memory.layout.encode()], [file.fileno()])


def sealed(seals: int) -> Give:
    def answer(client: socket.socket, memory: Memory) -> None:
        other = Memory(seals=seals)
        give(client, other)
        other.close()

    return answer


HEADER = Layout().encode()
UNUSABLE: dict[str, tuple[Give, str]] = {
    "no answer": (lambda client, memory: None, "closed the socket after 0 of 32 bytes"),
    "half a header": (answer_of(HEADER[:16]), "closed the socket after 16 of 32 bytes"),
    "half a header and a descriptor": (answer_of(HEADER[:31], 1), "closed the socket after 31 of 32 bytes"),
    "more than a header": (answer_of(HEADER + b"x", 1), "more than a header"),
    "no descriptor": (answer_of(HEADER), "0 descriptors"),
    "two descriptors": (two, "2 descriptors"),
    "a hundred descriptors": (many, "2 descriptors"),
    "two descriptors in two parts": (one_in_each_half, "2 descriptors"),
    "a file": (a_file, "not a memfd"),
    "a file of a memory file system": (a_file_in_memory, "seals 0x1"),
    "no seals": (sealed(0), "seals 0x0, needed are 0x7"),
    "seals that can be removed": (sealed(fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW), "seals 0x6"),
    "memory that can shrink": (sealed(fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL), "seals 0x5"),
    "another magic": (given(magic=b"UCSG"), "begins with b'UCSG'"),
    "another version": (given(version=2), "version 2"),
    "no buffers": (given(buffers=0), "0 buffers"),
    "too many buffers": (given(buffers=17), "17 buffers"),
    "buffers beyond the memory": (given(buffers=4), "buffers end at byte"),
    "an offset beyond the memory": (given(offset=0xFFFFFFFF), "buffers end at byte"),
    "a distance that overflows": (given(distance=0xFFFFFFFFFFFFFFFF), "bytes apart"),
    "a distance that overflows with the offset": (given(buffers=2, distance=2**64 - 1), "bytes apart"),
    "rows that overlap": (given(stride=WIDTH * 3 - 1), "rows of 23 bytes for 8 pixels"),
    "rows of 4 GiB": (given(stride=0xFFFFFFFF), "buffers end at byte"),
    "a wider screen": (given(width=WIDTH + 1), "frames of 9x6 pixels for a screen of 8x6"),
    "a screen that is larger by 2^16": (given(height=HEIGHT + 65536), "frames of 8x65542 pixels"),
}
"""By name: an answer that makes no usable memory, and words of the log."""

VIOLATIONS: dict[str, tuple[list[bytes], str]] = {
    "a buffer that does not exist": ([shared(3)], "offset 0: shared buffer 3, there are 3"),
    "a buffer beyond 31 bits": ([shared(0xFFFFFFFF)], "shared buffer 4294967295"),
    "two buffers in one update": ([shared(0), shared(1)], "rect 1 (0, 0, 8x6, encoding 1430454273), offset 0"),
    "beyond the screen": ([shared(0, 1)], "outside the 8x6 framebuffer"),
    "a second offer": ([offer(b"/tmp/x")], "encoding -1430454274), offset 0: encoding was not requested"),
    "a resize before": (
        [header(0, 0, 4, 4, DESKTOP_SIZE), shared(0, 0, 0, 4, 4)], "frames of 8x6 pixels on a screen of 4x4"
    ),
}  # fmt: skip
"""By name: rects of an update that break the rules, and words of the error."""
