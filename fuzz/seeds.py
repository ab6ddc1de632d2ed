"""The first inputs of the fuzzers: `python -m fuzz.seeds` writes them into fuzz/corpus/, beside those that runs found.

The bytes of servers come from tests/vectors. The other seeds are one message of each kind, and the hostile messages of
the fault table.
"""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from fuzz.parsers import HEIGHT, WIDTH
from vnc.capture.capture import Capture, read_capture
from vnc.capture.scan import FRAMEBUFFER_UPDATE, Scanner, ServerMessage
from vnc.encodings import HEXTILE, RAW, RRE, SHARED_FRAMES, SHARED_OFFER, TIGHT, ZLIB, ZRLE
from vnc.pixels.pixel_format import RGBX

CORPUS = Path(__file__).parent / "corpus"
VECTORS = Path(__file__).parents[1] / "tests" / "vectors"
LARGEST = 12 * 1024
"""The largest size of a seed, in bytes."""

_INIT = struct.pack(">HH", WIDTH, HEIGHT) + RGBX.encode() + struct.pack(">I", 4) + b"fuzz"
_DECODERS = (TIGHT, ZRLE, HEXTILE, ZLIB, RRE, RAW)
"""The first encodings of the decoder target, in its order."""
_RESIZE = struct.pack(">BxHHHHHi", 0, 1, 0, 0, 96, 72, -223)


def main() -> None:
    """Write the seeds of every target. The name of a file is the hash of its contents."""
    for name, seeds in SEEDS.items():
        directory = CORPUS / name
        directory.mkdir(parents=True, exist_ok=True)
        for seed in seeds():
            if len(seed) <= LARGEST:
                (directory / hashlib.sha1(seed).hexdigest()).write_bytes(seed)


def _captures() -> Iterator[Capture]:
    for path in sorted(VECTORS.glob("*.capture")):
        yield read_capture(path)


def _messages() -> Iterator[ServerMessage]:
    for capture in _captures():
        scanner = Scanner(capture.header.width, capture.header.height, capture.pixel_format)
        for message in capture.messages:
            yield from scanner.receive(message.data)


def server_messages() -> Iterator[bytes]:
    """Streams after the handshake. They first resize the screen to that of the vectors."""
    for capture in _captures():
        yield b"\x1f" + _RESIZE + b"".join(message.data for message in capture.messages)
    # a colour map, a bell, clipboards of a few bytes and of none, a fence, and the end of continuous updates
    yield b"\x07" + struct.pack(">BxHH", 1, 0, 2) + bytes(12) + b"\2" + struct.pack(">BxxxI", 3, 4) + b"text"
    yield b"\x07" + struct.pack(">Bxxxi", 3, -1) + struct.pack(">BxxxIB", 248, 1 << 31, 4) + b"fuzz\x96"
    yield b"\x07" + struct.pack(">BxH", 0, 0xFFFF) + struct.pack(">HHHHi", 0, 0, 0, 0, -224)
    yield b"\x07" + struct.pack(">BxH", 0, 1) + struct.pack(">HHHHi", 1, 1, 2, 1, -239) + bytes(9)
    yield b"\x07" + struct.pack(">BxH", 0, 1) + struct.pack(">HHHHi", 0, 0, 90, 40, -308) + b"\1" + bytes(19)
    yield b"\x07" + struct.pack(">BxH", 0, 1) + struct.pack(">HHHHi", 0, 0, 65535, 65535, 0)
    offered = struct.pack(">BxHHHHHi", 0, 1, 0, 0, 0, 0, SHARED_OFFER)
    offered += struct.pack(">B16sH", 1, b"0123456789abcdef", 2) + b"/x"
    for buffers in ((0, 0), (2, 1)):
        rects = [struct.pack(">HHHHiI", 0, 0, 64, 48, SHARED_FRAMES, buffer) for buffer in buffers]
        yield b"\x07" + offered + struct.pack(">BxH", 0, 2) + b"".join(rects)


def rects() -> Iterator[bytes]:
    """One rect of each encoding: its number, its position and its payload."""
    for message in _messages():
        if message.kind != FRAMEBUFFER_UPDATE or message.rects != 1 or not message.encodings & {*_DECODERS}:
            continue
        _, _, width, height, encoding = struct.unpack_from(">HHHHi", message.data, 4)
        if width <= WIDTH and height <= HEIGHT and len(message.data) < 4096:
            yield bytes([_DECODERS.index(encoding), 0, 0, width, height]) + message.data[16:]
    yield bytes([6, 8, 8, 16, 16]) + bytes(4)
    yield bytes([7, 0, 0, 8, 8]) + bytes(8 * 8 * 4 + 8)
    yield bytes([8, 0, 0, 64, 48, 1]) + bytes(19)


def greetings() -> Iterator[bytes]:
    """Handshakes of servers: every version, with and without password and TLS, and refusals."""
    result, refusal = bytes(4), struct.pack(">I", 1) + struct.pack(">I", 2) + b"no"
    for head in (0, 1, 0x80):
        yield bytes([head]) + b"RFB 003.003\n" + struct.pack(">I", 1) + _INIT
        yield bytes([head]) + b"RFB 003.003\n" + struct.pack(">I", 2) + bytes(16) + result + _INIT
        yield bytes([head]) + b"RFB 003.007\n\1\1" + _INIT
        yield bytes([head]) + b"RFB 003.008\n\2\1\2" + result + _INIT
        yield bytes([head]) + b"RFB 003.008\n\1\2" + bytes(16) + result + _INIT
        yield bytes([head]) + b"RFB 003.008\n\1\2" + bytes(16) + refusal
        yield bytes([head]) + b"RFB 003.008\n\0" + struct.pack(">I", 26) + b"Too many security failures"
        yield bytes([head]) + b"RFB 003.008\n\0" + struct.pack(">I", 0xFFFFFFFF)
    for sub_type in range(256, 263):
        agreed = b"RFB 003.008\n\1\x13\0\2\0\1" + struct.pack(">I", sub_type) + b"\1" + bytes(16) + result
        yield b"\x07" + agreed + _INIT
    yield b"\0HTTP/1.1 400 Bad Request\r\n"


def zlib_streams() -> Iterator[bytes]:
    """The compressed data of the vectors, from the start of their streams, and other bytes compressed with zlib."""
    for message in _messages():
        for payload in message.payloads:
            if payload.fresh and payload.stream >= 0 and payload.end - payload.start < 2048:
                yield b"\x11" + message.data[payload.start : payload.end]
    noise = np.random.default_rng(1).integers(0, 256, 600, np.uint8).tobytes()
    for data in (b"", b"a" * 5000, noise, noise[:20] * 40):
        for level in (0, 1, 9):
            yield b"\x07" + zlib.compress(data, level)


def images() -> Iterator[bytes]:
    """JPEG images of every kind that libjpeg writes, each after a byte for its width and one for its height."""
    y, x = np.mgrid[:29, :37]
    picture = Image.fromarray(np.stack([6 * x, 8 * y, (x * y) % 256], 2).astype(np.uint8))
    for kind in (picture, picture.convert("L"), picture.convert("CMYK")):
        for options in (
            {"quality": 100, "subsampling": 0},
            {"quality": 30, "subsampling": 2},
            {"quality": 60, "subsampling": 1, "optimize": True},
            {"quality": 60, "progressive": True},
            {"quality": 60, "restart_marker_blocks": 2},
        ):
            file = io.BytesIO()
            kind.save(file, "jpeg", **options)
            yield bytes([37, 29]) + file.getvalue()


def capture_files() -> Iterator[bytes]:
    """The vectors, and small captures with every kind of record."""
    for path in sorted(VECTORS.glob("*.capture")):
        yield path.read_bytes()
    header = {"width": 64, "height": 48, "name": "fuzz", "format": "universe-client capture", "version": 1}
    line = json.dumps(header).encode() + b"\n"
    records = [
        (1, b"\2"),
        (2, RGBX.encode()),
        (3, bytes(8)),
        (4, bytes(9)),
        (5, bytes(4)),
        (1, bytes(4)),
        (9, b""),
    ]
    for end in range(len(records) + 1):
        yield line + b"".join(struct.pack(">BQI", kind, 7, len(data)) + data for kind, data in records[:end])
    yield line + struct.pack(">BQI", 1, 1 << 63, 1 << 31)
    yield line + struct.pack(">BQI", 1, 0, 0)
    yield line + struct.pack(">BQI", 2, 0, 16) + bytes(16)
    yield line.replace(b"fuzz", b"\x9b")


_BODIES: dict[str, object] = {
    "v0.env.describe": {"env_id": "fuzz", "env_state": "running", "fps": 60},
    "v0.env.reward": {"reward": 1.5, "done": False, "info": {"a": [1, None]}},
    "v0.env.text": {"text": {"words": ["\x1b]52;c;x\x07", "\u202e"]}},
    "v0.env.observation": {"observation": [1.5, "2"]},
    "v0.env.reset": {"env_id": "fuzz", "seed": 7, "fps": 60},
    "v0.agent.action": {"env_id": "fuzz", "action": [["KeyEvent", 97, True]]},
    "v0.control.ping": {},
    "v0.reply.control.ping": {},
    "v0.reply.env.reset": {},
    "v0.reply.error": {"message": "no"},
    "v0.connection.close": {"message": "bye"},
    "v1.env.step": {"events": [["PointerEvent", 1, 2, 1]]},
    "v1.env.call": {"name": "get_attr", "arguments": [], "keywords": {}},
    "v1.reply.env.step": {"checksum": 1},
    "v1.reply.env.call": {"value": 1},
    "v9.unknown": {"method": None},
}


def _wire(method: str, body: object, **headers: object) -> bytes:
    return json.dumps({"method": method, "headers": headers, "body": body}).encode()


def rewarder_messages() -> Iterator[bytes]:
    """One message of each method, and malformed messages."""
    for number, (method, body) in enumerate(_BODIES.items()):
        yield _wire(method, body, message_id=number, sent_at=1.5, episode_id="1.2", parent_message_id=1)
        yield _wire(method, None, message_id=str(number), episode_id=3, parent_runtime="0.5")
    yield b"{"
    yield b'{"method":"v0.env.text","body":{"text":' + b"[" * 200 + b"]" * 200 + b"}}"
    yield b'{"method":"v0.env.reward","headers":{"episode_id":1e300},"body":{"reward":1e308}}'
    yield b'{"method":"v0.env.reward","headers":{"message_id":1e400,"sent_at":"nan"},"body":{"reward":-0.0}}'
    yield b'{"method":"\\u001b[2J","headers":{"message_id":' + b"9" * 400 + b"}}"
    yield b'{"method":"v0.env.text","body":{"text":"\\ud800"}}'


def rewarder_conversations() -> Iterator[bytes]:
    """Sequences of messages: an episode from start to end, and one message of each method."""
    headers = {"episode_id": "1"}
    episode = [
        _wire("v0.reply.env.reset", {}, message_id=1, parent_message_id=1, episode_id="1"),
        _wire("v0.env.describe", _BODIES["v0.env.describe"], message_id=2, **headers),
        _wire("v0.env.reward", {"reward": 1e300}, message_id=3, **headers),
        b"",
        _wire("v0.env.reward", {"reward": 1, "done": True}, message_id=4, **headers),
        _wire("v0.env.describe", {"env_state": "running"}, message_id=5, episode_id="2"),
        _wire("v0.env.reward", {"reward": 2}, message_id=5, episode_id="2"),
        _wire("v0.reply.control.ping", {}, message_id=6, sent_at=1.0, parent_message_id=2),
    ]
    yield b"\n".join(episode)
    yield b"\n".join(_wire(method, body, episode_id=3) for method, body in _BODIES.items())


def requests() -> Iterator[bytes]:
    """The requests of a client to a rewarder, one by one and all together."""
    lines = [_wire(method, body, message_id=number) for number, (method, body) in enumerate(_BODIES.items())]
    for who in (b"o", b"c"):
        yield who + b"\n".join(lines)
        for line in lines:
            yield who + line


def urls() -> Iterator[bytes]:
    """Valid and invalid addresses."""
    yield b"vnc://localhost:5900+15900,[::1]:5901+15901?password=secret"
    yield b"vnc://127.0.0.1,[fe80::1%eth0]:+,example.com:5900"
    yield b"vncs://host?username=me&password=a%2Cb&insecure=1"
    yield b"vncs://host?fingerprint=" + b"ab:" * 31 + b"ab,b?ca_file=missing"
    yield b"vnc://a?password_file=missing,b,c?password=d"
    yield b"vnc://user@host:0+65536"
    yield b"vnc://a:" + b"9" * 5000
    yield b"vnc://a?password_file=%00"
    yield b"http://a"


def clients() -> Iterator[bytes]:
    """The bytes of clients of a VNC server: the handshakes, then one message of each type."""
    said = struct.pack(">Bxxx", 0) + RGBX.encode()
    said += struct.pack(">BxHiii", 2, 3, 7, 16, -224)
    said += struct.pack(">BBHHHH", 3, 1, 0, 0, WIDTH, HEIGHT)
    said += struct.pack(">BBxxI", 4, 1, 0x61) + struct.pack(">BBHH", 5, 1, 9999, 2)
    said += struct.pack(">BxxxI", 6, 3) + b"cut"
    for head in (0xF8, 8):
        yield bytes([head]) + b"RFB 003.008\n\1\1" + said
        yield bytes([head]) + b"RFB 003.003\n\1" + said
        yield bytes([head | 1]) + b"RFB 003.007\n\2" + bytes(16) + said
        yield bytes([head | 2]) + b"RFB 003.008\n\x13\0\2" + struct.pack(">I", 260) + b"\1" + said
        yield bytes([head | 4]) + b"RFB 003.008\n"
    yield b"\xf8RFB 003.008\n\1\1" + struct.pack(">BxxxI", 6, 1 << 31) + b"\xff"


def viewers() -> Iterator[bytes]:
    """The bytes of viewers at the gate: those of clients, and the extensions that the gate supports."""
    for client in clients():
        yield b"a" + client[1:]
    extensions = struct.pack(">BBHHHH", 150, 1, 0, 0, 64, 48) + struct.pack(">BxxxIB", 248, 1, 4) + b"fuzz"
    extensions += struct.pack(">BxHHBx", 251, 64, 48, 1) + bytes(16) + b"\xfa\0\1\2" + b"\xff\0" + bytes(10)
    yield b"aRFB 003.008\n\1\1" + extensions
    yield b"wRFB 003.008\n\1\1" + extensions


SEEDS: dict[str, Callable[[], Iterator[bytes]]] = {
    "addresses": urls,
    "captures": capture_files,
    "connection": server_messages,
    "decoder": rects,
    "handshake": greetings,
    "inflate": zlib_streams,
    "jpeg": images,
    "messages": rewarder_messages,
    "portable-handshake": greetings,
    "recorder": server_messages,
    "rewarder-client": rewarder_conversations,
    "rewarder-server": requests,
    "viewer-gate": viewers,
    "vnc-server": clients,
}

if __name__ == "__main__":
    main()
