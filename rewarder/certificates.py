"""What an agent asks of a rewarder over TLS, before the rewarder hears anything of the agent."""

from __future__ import annotations

import ssl
from typing import Any, Protocol

from websockets.asyncio.client import ClientConnection

from rewarder.errors import AuthError

HANDSHAKE_ERRORS = (ssl.SSLError, ConnectionResetError)
"""What a TLS handshake fails with, and the TCP connection before it does not."""


class Trust(Protocol):
    """Decides whether a server is the one that was meant; `vnc.tls.TLS` does."""

    @property
    def insecure(self) -> bool:
        """Whether any server will do."""
        ...

    def context(self) -> ssl.SSLContext:
        """Return what Python's ssl has to check.

        Raises:
            ValueError: there is nothing to check it with.
        """
        ...

    def check(self, certificate: bytes | None) -> None:
        """Hold the certificate (DER) of a finished TLS handshake against what else is known.

        Raises:
            ValueError: it is another's.
        """
        ...

    def is_cut_off(self, error: OSError | ValueError) -> bool:
        """Whether a TLS handshake came to nothing because the connection ended."""
        ...

    def refusal(self, error: OSError | ValueError) -> str:
        """Say why a TLS handshake came to nothing."""
        ...


def checked(trust: Trust, label: str) -> type[ClientConnection]:
    """Return a class of connections that say nothing, the password least of all, to a server `trust` refuses."""

    class Checked(ClientConnection):
        async def handshake(self, *args: Any, **kwargs: Any) -> None:
            try:
                trust.check(self.transport.get_extra_info("ssl_object").getpeercert(binary_form=True))
            except ValueError as error:
                raise AuthError(f"{label}: {trust.refusal(error)}") from error
            await super().handshake(*args, **kwargs)

    return Checked
