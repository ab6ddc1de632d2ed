"""The client side of the RFB handshake (RFC 6143 sections 7.1 to 7.3) over asyncio streams.

Its error messages are those of the Rust core.
"""

from __future__ import annotations

import asyncio
import re
from asyncio import IncompleteReadError, StreamReader, StreamWriter
from dataclasses import dataclass

from vnc.client.dial import dial
from vnc.client.vencrypt import log_in, secure
from vnc.errors import (
    AuthError,
    ConnectError,
    LimitExceeded,
    ProtocolError,
    TooManyFailures,
    VNCError,
    unreachable,
)
from vnc.security_types import NONE, VENCRYPT, VNC_AUTH, described
from vnc.session import Limits, Timeouts, VNCAddress
from vnc.vncauth import challenge_response

TOO_MANY = 2
"""The security result of a server that rejects this address for a while."""

_REASON_SECONDS = 2.0
"""Time that a server has to send its reason after a refusal."""

_BANNER = re.compile(rb"RFB (\d{3})\.(\d{3})\n")
_BANNER_LENGTH = 12
_STREAM_LIMIT = 1 << 20  # bytes that asyncio reads ahead


@dataclass(frozen=True, slots=True)
class ServerInit:
    """The screen's size and name (RFC 6143 section 7.3.2), without the pixel format, which the client replaces."""

    width: int
    height: int
    name: str


async def joined(
    address: VNCAddress, limits: Limits, timeouts: Timeouts
) -> tuple[StreamReader, StreamWriter, ServerInit]:
    """Connect to a server and join as a shared client.

    Raises:
        ConnectError: no server answers, it refused the connection, or a deadline of `timeouts` has passed.
        ProtocolError, AuthError: as `join`.
    """
    reader, writer = await _open(address, timeouts)
    try:
        async with asyncio.timeout(timeouts.handshake):
            return reader, writer, await handshake(reader, writer, address, limits)
    except TimeoutError:
        writer.transport.abort()
        raise ConnectError(f"{address}: no end of the handshake within {timeouts.handshake:g} s") from None
    except (OSError, EOFError) as error:
        writer.transport.abort()
        raise ConnectError(f"{address}: connection closed during the handshake") from error
    except VNCError as error:
        writer.transport.abort()
        raise type(error)(f"{address}: {error}") from error
    except BaseException:
        writer.transport.abort()
        raise


async def _open(address: VNCAddress, timeouts: Timeouts) -> tuple[StreamReader, StreamWriter]:
    try:
        async with asyncio.timeout(timeouts.connect):
            connected = await dial(address.host, address.port)
            return await asyncio.open_connection(sock=connected, limit=_STREAM_LIMIT)
    except TimeoutError:
        raise ConnectError(f"{address}: no connection within {timeouts.connect:g} s") from None
    except (OSError, UnicodeError) as error:
        raise unreachable(address, error) from error


async def handshake(
    reader: StreamReader, writer: StreamWriter, address: VNCAddress, limits: Limits
) -> ServerInit:
    """Do the whole handshake, as a shared client.

    Raises:
        ProtocolError, ConnectError, AuthError: as `join`.
    """
    await join(reader, writer, address, limits)
    return await _read_server_init(reader, limits)


async def join(reader: StreamReader, writer: StreamWriter, address: VNCAddress, limits: Limits) -> None:
    """Do the handshake up to ClientInit, which the server answers with its ServerInit.

    It negotiates version and security, starts TLS if `address` has it, and authenticates.

    Raises:
        ProtocolError: the server sent data that is not valid RFB.
        ConnectError: the server refused the connection.
        AuthError: the server refused the credentials, offers less security than configured, or presents a certificate
            that `address` does not trust.
    """
    minor = await _agree_on_version(reader, writer)
    await _agree_on_security(reader, writer, minor, address, limits)
    if address.tls is not None:
        await secure(reader, writer, address, address.tls)
    if address.username is not None:
        log_in(writer, address.username, address.password or "")
    elif address.password is not None:
        challenge = await reader.readexactly(16)
        writer.write(challenge_response(challenge, address.password))
    if minor == 8 or not address.anonymous:
        await _read_security_result(reader, minor, limits)
    writer.write(b"\x01")  # ClientInit: shared; otherwise the server disconnects all other clients


async def _agree_on_version(reader: StreamReader, writer: StreamWriter) -> int:
    """Return the minor version to use: 3, 7 or 8 (RFC 6143 section 7.1.1)."""
    banner = await reader.readexactly(_BANNER_LENGTH)
    match = _BANNER.fullmatch(banner)
    if match is None:
        raise ProtocolError(f'not an RFB server, it sent "{printable(banner)}"')
    version = int(match[1]), int(match[2])
    if version < (3, 3):
        raise ProtocolError(f"RFB {version[0]}.{version[1]} is older than 3.3")
    minor = 8 if version >= (3, 8) else 7 if version == (3, 7) else 3
    writer.write(b"RFB 003.%03d\n" % minor)
    return minor


async def _agree_on_security(
    reader: StreamReader, writer: StreamWriter, minor: int, address: VNCAddress, limits: Limits
) -> None:
    if minor == 3:
        offered = [number for number in [await _read_int(reader, 4)] if number]
    else:
        offered = list(await reader.readexactly(await _read_int(reader, 1)))
    if not offered:
        raise _refusal(ConnectError, "the server refused the connection", await _read_reason(reader, limits))
    clear = NONE if address.anonymous else VNC_AUTH
    wanted = clear if address.tls is None else VENCRYPT
    if wanted not in offered:
        raise AuthError(_mismatch(offered, wanted))
    if minor > 3:
        writer.write(bytes([wanted]))


def _mismatch(offered: list[int], wanted: int) -> str:
    if wanted == VENCRYPT:
        what = "TLS is configured, but the server does not offer it"
    elif wanted == VNC_AUTH and NONE in offered:
        what = "a password is configured, but the server asks for none"
    elif VNC_AUTH in offered:
        what = "the server asks for a password, and none is configured"
    elif VENCRYPT in offered:
        what = "the server asks for TLS, and none is configured"
    else:
        what = "the server asks for a security type that is not supported"
    return f"{what}; it offers {described(offered)}"


async def _read_security_result(reader: StreamReader, minor: int, limits: Limits) -> None:
    """Raise the error of a failed authentication; only version 3.8 has a reason (RFC 6143 section 7.1.3)."""
    result = await _read_int(reader, 4)
    if result == 0:
        return
    if minor < 8 and result == TOO_MANY:
        raise _refusal(AuthError, "authentication failed", "too many attempts")
    reason = await _read_reason(reader, limits) if minor == 8 else ""
    raise _refusal(AuthError, "authentication failed", reason)


def _refusal(kind: type[VNCError], what: str, reason: str) -> VNCError:
    """Return the error for a refusal. A lock-out has no code of its own: its reason contains "too many"."""
    if "too many" in reason.lower():
        return TooManyFailures(f"locked out for a while: {reason}")
    return kind(f"{what}: {reason or 'no reason given'}")


async def _read_server_init(reader: StreamReader, limits: Limits) -> ServerInit:
    # 2 width + 2 height + 16 pixel format + 4 name length
    width = await _read_int(reader, 2)
    height = await _read_int(reader, 2)
    check_size(width, height, limits)
    await reader.readexactly(16)
    return ServerInit(width, height, await _read_text(reader, "desktop name", limits.text))


def check_size(width: int, height: int, limits: Limits) -> None:
    """Raise an error if the screen is empty or larger than `limits`, before memory is allocated for it."""
    for side, size, limit in (
        ("width", width, limits.framebuffer_width),
        ("height", height, limits.framebuffer_height),
    ):
        if size > limit:
            raise LimitExceeded(f"framebuffer {side} of {size}, the limit is {limit}")
    if width == 0 or height == 0:
        raise ProtocolError(f"framebuffer of {width}x{height} pixels")


async def _read_reason(reader: StreamReader, limits: Limits) -> str:
    """Return the server's reason for a refusal; "" if it sends none."""
    try:
        async with asyncio.timeout(_REASON_SECONDS):
            return await _read_text(reader, "reason text", limits.text)
    except (IncompleteReadError, TimeoutError):
        return ""


async def _read_text(reader: StreamReader, what: str, limit: int) -> str:
    length = await _read_int(reader, 4)
    if length > limit:
        raise LimitExceeded(f"{what} of {length}, the limit is {limit}")
    return printable(await reader.readexactly(length))


def printable(text: bytes) -> str:
    """Decode text from a peer as UTF-8, or else Latin-1, and replace control characters."""
    try:
        decoded = text.decode()
    except UnicodeDecodeError:
        decoded = text.decode("latin-1")
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in decoded)


async def _read_int(reader: StreamReader, length: int) -> int:
    return int.from_bytes(await reader.readexactly(length), "big")
