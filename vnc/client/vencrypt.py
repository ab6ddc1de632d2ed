"""The client side of VeNCrypt 0.2 (rfbproto, "VeNCrypt") over asyncio streams: it negotiates and starts TLS."""

from __future__ import annotations

import logging
import struct
from asyncio import IncompleteReadError, StreamReader, StreamWriter

from vnc.errors import AuthError, ConnectError, ProtocolError
from vnc.security_types import SUB_TYPE_NAMES, TLS_NONE, VENCRYPT_VERSION, X509_NONE, X509_PLAIN, X509_VNC
from vnc.session import VNCAddress
from vnc.tls import TLS

_TO_ANONYMOUS = X509_NONE - TLS_NONE

logger = logging.getLogger(__name__)


async def secure(reader: StreamReader, writer: StreamWriter, address: VNCAddress, tls: TLS) -> None:
    """Negotiate the sub-type that `address` needs and start TLS, after the client has chosen VeNCrypt.

    Raises:
        AuthError: the server offers no such sub-type, or the client does not trust its certificate.
        ConnectError: the server closed the connection.
        ProtocolError: the server sent plain text where TLS begins.
    """
    await _agree_on_version(reader, writer)
    certificate = await _agree_on_sub_type(reader, writer, address, tls)
    if tls.insecure:
        logger.warning("! %s: the identity of the server is not checked (insecure)", address)
    try:
        await writer.start_tls(
            tls.context(certificate=certificate), server_hostname=address.host if certificate else None
        )
        tls.check(writer.get_extra_info("ssl_object").getpeercert(binary_form=True))
    except (OSError, ValueError) as error:
        raise (ConnectError if tls.is_cut_off(error) else AuthError)(tls.refusal(error)) from error


def log_in(writer: StreamWriter, username: str, password: str) -> None:
    """Send the credentials of Plain: 4 length + 4 length + user name + password."""
    texts = [text.encode() for text in (username, password)]
    writer.write(struct.pack(">II", *map(len, texts)) + b"".join(texts))


async def _agree_on_version(reader: StreamReader, writer: StreamWriter) -> None:
    version = await reader.readexactly(2)
    if version < VENCRYPT_VERSION:
        raise AuthError(f"VeNCrypt {version[0]}.{version[1]} is older than 0.2")
    writer.write(VENCRYPT_VERSION)
    _check_answer((await reader.readexactly(1))[0], 0)


async def _agree_on_sub_type(
    reader: StreamReader, writer: StreamWriter, address: VNCAddress, tls: TLS
) -> bool:
    """Choose a sub-type; return whether the server presents a certificate in it."""
    (count,) = await reader.readexactly(1)
    offered = struct.unpack(f">{count}I", await reader.readexactly(4 * count))
    wanted = _wanted(address, tls)
    chosen = next((number for number in wanted if number in offered), None)
    if chosen is None:
        names = ", ".join(SUB_TYPE_NAMES.get(number, f"VeNCrypt sub-type {number}") for number in offered)
        required = " or ".join(SUB_TYPE_NAMES[number] for number in wanted)
        raise AuthError(f"{required} is required, the server offers {names or 'nothing'}")
    writer.write(struct.pack(">I", chosen))
    answer = await reader.read(2)
    if not answer:
        raise IncompleteReadError(answer, 1)
    _check_answer(answer[0], 1)
    # In TLS the client sends first. An attacker may have inserted these bytes, to pass them off as protected ones.
    if len(answer) > 1:
        raise ProtocolError("bytes of plain text where TLS begins")
    return chosen >= X509_NONE


def _wanted(address: VNCAddress, tls: TLS) -> list[int]:
    """Return the acceptable sub-types, best first."""
    by_password = X509_NONE if address.password is None else X509_VNC
    identified = by_password if address.username is None else X509_PLAIN
    return [identified, identified - _TO_ANONYMOUS] if tls.insecure else [identified]


def _check_answer(code: int, success: int) -> None:
    if code != success:
        raise AuthError(f"the server aborted VeNCrypt with code {code}")
