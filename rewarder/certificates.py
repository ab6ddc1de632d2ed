"""Which TLS certificates of a rewarder the client trusts."""

from __future__ import annotations

import ssl
from typing import Any, Protocol

from websockets.asyncio.client import ClientConnection

from rewarder.errors import AuthError

HANDSHAKE_ERRORS = (ssl.SSLError, ConnectionResetError)
"""Exceptions of a TLS handshake, which the TCP connection before it does not raise."""


class Trust(Protocol):
    """Checks the certificate of a server; `vnc.tls.TLS` implements this."""

    @property
    def insecure(self) -> bool:
        """Whether every certificate is accepted."""
        ...

    def context(self) -> ssl.SSLContext:
        """Return the context of the TLS handshake.

        Raises:
            ValueError: the authorities cannot be loaded.
        """
        ...

    def check(self, certificate: bytes | None) -> None:
        """Check a certificate (DER) after the handshake, for example against a fingerprint.

        Raises:
            ValueError: it is not the expected one.
        """
        ...

    def is_cut_off(self, error: OSError | ValueError) -> bool:
        """Return whether a TLS handshake failed because the connection ended."""
        ...

    def refusal(self, error: OSError | ValueError) -> str:
        """Return why a TLS handshake failed, in words."""
        ...


def checked(trust: Trust, label: str) -> type[ClientConnection]:
    """Return a class of connections that send no request, and no password, to a server that `trust` refuses."""

    class Checked(ClientConnection):
        async def handshake(self, *args: Any, **kwargs: Any) -> None:
            try:
                trust.check(self.transport.get_extra_info("ssl_object").getpeercert(binary_form=True))
            except ValueError as error:
                raise AuthError(f"{label}: {trust.refusal(error)}") from error
            await super().handshake(*args, **kwargs)

    return Checked
