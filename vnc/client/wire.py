"""The asyncio connection of a native session over OpenSSL, for TLS that the Rust core does not support itself."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from vnc.client.dial import dial
from vnc.errors import ConnectError, unreachable
from vnc.session import VNCAddress
from vnc.tls import TLS

if TYPE_CHECKING:
    from vnc import _core

logger = logging.getLogger(__name__)

NOT_CHECKED = "! %s: the identity of the server is not checked (insecure)"

_BUFFERED = 64 * 1024
"""Bytes that the transport buffers; the core counts those beyond it towards `Limits.outgoing`."""


class Wire(asyncio.Protocol):
    """A TCP connection that starts TLS when the core requires it. It reads nothing before `attach`."""

    def __init__(self, address: VNCAddress) -> None:
        """Use `open`."""
        self._address = address
        self._agreed = asyncio.Event()
        self._writing = True
        self._early: list[bytes] | None = (
            None  # decrypted data that arrived before the certificate was checked
        )
        self._transport: asyncio.Transport
        self._core: _core.Session

    @classmethod
    async def open(cls, address: VNCAddress, seconds: float) -> Wire:
        """Connect within `seconds`.

        Raises:
            ConnectError: no server answers, or not in time.
        """
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(seconds):
                connected = await dial(address.host, address.port)
                _, wire = await loop.create_connection(lambda: cls(address), sock=connected)
        except TimeoutError:
            raise ConnectError(f"{address}: no connection within {seconds:g} s") from None
        except (OSError, UnicodeError) as error:
            raise unreachable(address, error) from error
        return wire

    def abort(self) -> None:
        """Close the connection at once."""
        self._transport.abort()

    def attach(self, core: _core.Session) -> None:
        """Start to move bytes."""
        self._core = core
        self._transport.resume_reading()

    async def start_tls(self, tls: TLS) -> None:
        """Wait until the core requires TLS and start it; end the session if the certificate is not trusted.

        Returns early when the session ends for another reason.
        """
        await self._agreed.wait()
        certificate = self._core.certificate
        if certificate is None or self._core.error is not None:
            return
        if tls.insecure:
            logger.warning(NOT_CHECKED, self._address)
        try:
            await self._upgrade(tls, certificate)
        except (OSError, ValueError) as error:
            if tls.is_cut_off(error):
                self._core.lost()
            else:
                self._core.refuse(tls.refusal(error))
        self.flush()

    async def _upgrade(self, tls: TLS, certificate: bool) -> None:
        transport = await asyncio.get_running_loop().start_tls(
            self._transport,
            self,
            tls.context(certificate=certificate),
            server_hostname=self._address.host if certificate else None,
        )
        if transport is None:
            raise ConnectionError
        self._use(transport)
        tls.check(transport.get_extra_info("ssl_object").getpeercert(binary_form=True))
        self._core.secured()
        early, self._early = self._early, None
        for data in early or ():
            self.data_received(data)

    def _use(self, transport: asyncio.Transport) -> None:
        transport.set_write_buffer_limits(_BUFFERED)
        self._transport = transport

    def flush(self) -> None:
        """Write the core's pending data; close the connection if the session has ended."""
        if self._writing and (data := self._core.data_to_send()):
            self._transport.write(data)
        if self._core.error is not None:
            self._agreed.set()
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`."""
        assert isinstance(transport, asyncio.Transport)
        transport.pause_reading()
        self._use(transport)

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`; decodes on the event loop's thread, without the GIL."""
        if self._early is not None:
            self._early.append(data)
            return
        self._core.receive(data)
        self.flush()
        if self._core.certificate is not None and not self._agreed.is_set():
            # Read no more plain text.
            self._transport.pause_reading()
            self._early = []
            self._agreed.set()

    def connection_lost(self, error: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        self._core.lost()

    def pause_writing(self) -> None:
        """See `asyncio.Protocol`."""
        self._writing = False

    def resume_writing(self) -> None:
        """See `asyncio.Protocol`."""
        self._writing = True
        self.flush()
