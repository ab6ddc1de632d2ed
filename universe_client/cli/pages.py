"""The web pages of a remote: their addresses, with the tokens that open the viewer."""

from __future__ import annotations

import ssl
from contextlib import closing
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection

import msgspec

from rewarder.certificates import HANDSHAKE_ERRORS
from rewarder.client import RewarderAddress
from rewarder.credentials import authorization
from rewarder.viewer.site import viewer_path
from universe_client.errors import ConfigError
from universe_client.providers.provider import RemoteAddress

TIMEOUT = 10.0
"""Seconds that the rewarder may take to reply."""
MAX_REPLY = 4096
"""Bytes of its reply."""


class _Tokens(msgspec.Struct, frozen=True):
    watch: str
    act: str

    def __repr__(self) -> str:
        return "_Tokens(...)"


def base_url(rewarder: RewarderAddress) -> str:
    """Return the URL that all pages of a rewarder begin with."""
    return f"http{'' if rewarder.tls is None else 's'}://{rewarder}"


def viewer_url(remote: RemoteAddress, *, acting: bool) -> str:
    """Return the URL of a remote's viewer page. It contains a token: whoever has the URL needs no password.

    Args:
        remote: the remote, whose rewarder is asked for the token.
        acting: whether the page has keyboard and mouse.

    Raises:
        ConfigError: the remote has no rewarder, the rewarder rejects the password, or it has no viewer.
    """
    if remote.rewarder is None:
        raise ConfigError(
            "the address has no rewarder port, which serves the viewer page: add one (host:vnc_port+rewarder_port), or "
            "use --native"
        )
    tokens = _tokens(remote.rewarder)
    return base_url(remote.rewarder) + viewer_path(tokens.act if acting else tokens.watch, acting=acting)


def _tokens(rewarder: RewarderAddress) -> _Tokens:
    try:
        status, body = _get(rewarder, "/viewer/tokens")
        if status == HTTPStatus.OK:
            return msgspec.json.decode(body, type=_Tokens)
    except (OSError, ValueError, HTTPException, msgspec.DecodeError) as error:
        raise ConfigError(f"{rewarder}: {_reason(rewarder, error)}") from error
    known = {
        HTTPStatus.UNAUTHORIZED: "rejects the password",
        HTTPStatus.FORBIDDEN: "does not accept this host name: serve it with --allow-host, or use its IP address",
    }
    raise ConfigError(f"{rewarder} {known.get(HTTPStatus(status), f'has no viewer page (HTTP {status})')}")


def _get(rewarder: RewarderAddress, path: str) -> tuple[int, bytes]:
    """Request a page directly: proxies and redirects could pass the password on."""
    headers = {} if rewarder.password is None else {"Authorization": authorization(rewarder.password)}
    with closing(_connection(rewarder)) as connection:
        connection.request("GET", path, headers=headers)
        reply = connection.getresponse()
        return reply.status, reply.read(MAX_REPLY)


def _connection(rewarder: RewarderAddress) -> HTTPConnection:
    """Return a connection, over TLS to a server whose certificate has been checked."""
    tls = rewarder.tls
    if tls is None:
        return HTTPConnection(rewarder.host, rewarder.port, timeout=TIMEOUT)
    connection = HTTPSConnection(rewarder.host, rewarder.port, timeout=TIMEOUT, context=tls.context())
    connection.connect()
    assert isinstance(connection.sock, ssl.SSLSocket)
    try:
        tls.check(connection.sock.getpeercert(binary_form=True))
    except ValueError:
        connection.close()
        raise
    return connection


def _reason(rewarder: RewarderAddress, error: Exception) -> str:
    if rewarder.tls is not None and isinstance(error, HANDSHAKE_ERRORS):
        return rewarder.tls.refusal(error)
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
