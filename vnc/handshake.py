"""The client's half of the RFB handshake (RFC 6143 section 7.1 to 7.3) over asyncio streams."""

from __future__ import annotations

import re
from asyncio import StreamReader, StreamWriter
from dataclasses import dataclass

from vnc.errors import AuthError, LimitExceeded, ProtocolError, TooManyFailures
from vnc.session import Limits
from vnc.vncauth import challenge_response

NONE = 1
VNC_AUTH = 2

_BANNER = re.compile(rb"RFB (\d{3})\.(\d{3})\n")
_BANNER_LENGTH = 12


@dataclass(frozen=True, slots=True)
class ServerInit:
    """What the server says of its screen (RFC 6143 section 7.3.2); its pixel format is of no interest to us."""

    width: int
    height: int
    name: str


async def handshake(
    reader: StreamReader, writer: StreamWriter, password: str | None, limits: Limits
) -> ServerInit:
    """Agree on version and security, authenticate, and join as a shared client.

    Raises:
        ProtocolError: the peer does not speak RFB, or breaks it.
        AuthError: it refused the password, or asks for none although one is configured.
    """
    await join(reader, writer, password, limits)
    return await _read_server_init(reader, limits)


async def join(reader: StreamReader, writer: StreamWriter, password: str | None, limits: Limits) -> None:
    """As `handshake`, up to where the server answers with its ServerInit.

    Raises:
        ProtocolError: the peer does not speak RFB, or breaks it.
        AuthError: it refused the password, or asks for none although one is configured.
    """
    minor = await _agree_on_version(reader, writer)
    security = await _agree_on_security(reader, writer, minor, password is not None, limits)
    if security == VNC_AUTH:
        challenge = await reader.readexactly(16)
        writer.write(challenge_response(challenge, password or ""))
    if security == VNC_AUTH or minor == 8:
        await _read_security_result(reader, minor, limits)
    writer.write(b"\x01")  # ClientInit: shared, or everybody else would be thrown out


async def _agree_on_version(reader: StreamReader, writer: StreamWriter) -> int:
    """Return the minor version to speak: 3, 7 or 8 (RFC 6143 section 7.1.1)."""
    banner = await reader.readexactly(_BANNER_LENGTH)
    match = _BANNER.fullmatch(banner)
    if match is None:
        raise ProtocolError(f"not an RFB server: it greets with {banner!r}")
    version = int(match[1]), int(match[2])
    if version < (3, 3):
        raise ProtocolError(f"RFB version {version[0]}.{version[1]} is older than 3.3")
    minor = 8 if version >= (3, 8) else 7 if version == (3, 7) else 3
    writer.write(b"RFB 003.%03d\n" % minor)
    return minor


async def _agree_on_security(
    reader: StreamReader, writer: StreamWriter, minor: int, has_password: bool, limits: Limits
) -> int:
    if minor == 3:
        offered = {await _read_int(reader, 4)} - {0}
    else:
        offered = set(await reader.readexactly(await _read_int(reader, 1)))
    if not offered:
        raise _refusal(await _read_reason(reader, limits))
    wanted = VNC_AUTH if has_password else NONE
    if wanted not in offered:
        raise AuthError(_mismatch(offered, has_password))
    if minor > 3:
        writer.write(bytes([wanted]))
    return wanted


def _mismatch(offered: set[int], has_password: bool) -> str:
    types = ", ".join(str(number) for number in sorted(offered))
    if has_password and NONE in offered:
        return f"a password is configured, but the server asks for none (it offers security types {types})"
    if not has_password and VNC_AUTH in offered:
        return "the server asks for a password and none is configured"
    return f"the server offers security types {types}, of which none is supported (1 None, 2 VncAuth)"


async def _read_security_result(reader: StreamReader, minor: int, limits: Limits) -> None:
    """RFC 6143 section 7.1.3: zero is success; only 3.8 gives a reason otherwise."""
    result = await _read_int(reader, 4)
    if result == 0:
        return
    raise _refusal(await _read_reason(reader, limits) if minor == 8 else f"security result {result}")


def _refusal(reason: str) -> AuthError:
    kind = TooManyFailures if "too many" in reason.lower() else AuthError
    return kind(f"the server refused the connection: {reason}")


async def _read_server_init(reader: StreamReader, limits: Limits) -> ServerInit:
    # 2 width + 2 height + 16 pixel format + 4 name length
    width = await _read_int(reader, 2)
    height = await _read_int(reader, 2)
    check_size(width, height, limits)
    await reader.readexactly(16)
    return ServerInit(width, height, await _read_text(reader, "desktop name", limits.text))


def check_size(width: int, height: int, limits: Limits) -> None:
    """Refuse an empty screen and one larger than `limits`, before anything is allocated for it."""
    if width == 0 or height == 0:
        raise ProtocolError(f"framebuffer of {width}x{height}")
    if width > limits.framebuffer_width or height > limits.framebuffer_height:
        raise LimitExceeded(
            f"framebuffer of {width}x{height}, the limit is {limits.framebuffer_width}x{limits.framebuffer_height}"
        )


async def _read_reason(reader: StreamReader, limits: Limits) -> str:
    return await _read_text(reader, "failure reason", limits.text)


async def _read_text(reader: StreamReader, what: str, limit: int) -> str:
    length = await _read_int(reader, 4)
    if length > limit:
        raise LimitExceeded(f"{what} of {length} bytes, the limit is {limit}")
    return printable(await reader.readexactly(length))


def printable(text: bytes) -> str:
    """Decode UTF-8 from a stranger; what a terminal might act on becomes U+FFFD."""
    decoded = text.decode("utf-8", "replace")
    return "".join(character if character.isprintable() else "\ufffd" for character in decoded)


async def _read_int(reader: StreamReader, length: int) -> int:
    return int.from_bytes(await reader.readexactly(length), "big")
