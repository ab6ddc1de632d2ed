"""Streamable HTTP on loopback: who may use the server."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any

from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecuritySettings

PATH = "/mcp"
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def http_app(server: MCPServer[Any], token: str, allowed_hosts: Collection[str] = ()) -> App:
    """Return an ASGI application that serves `server` at `/mcp`.

    Args:
        server: what to serve.
        token: what a request must have as `Authorization: Bearer TOKEN`.
        allowed_hosts: names that the header Host may have besides those of loopback, with any port: those of a proxy
            that forwards its own.
    """
    hosts = [*_LOOPBACK, *allowed_hosts]
    security = TransportSecuritySettings(
        allowed_hosts=[*hosts, *(f"{host}:*" for host in hosts)],
        allowed_origins=[f"http://{host}:*" for host in _LOOPBACK]
        + [f"https://{host}" for host in allowed_hosts],
    )
    return _RequireToken(server.streamable_http_app(transport_security=security), token)


class _RequireToken:
    """Answers requests without the token itself, before anything of them is parsed."""

    def __init__(self, app: App, token: str) -> None:
        self._app, self._expected = app, f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan" and not self._is_allowed(scope):
            await _refuse(scope, send)
        else:
            await self._app(scope, receive, send)

    def _is_allowed(self, scope: Scope) -> bool:
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        return (
            scope["type"] == "http" and len(given) == 1 and secrets.compare_digest(given[0], self._expected)
        )


async def _refuse(scope: Scope, send: Send) -> None:
    if scope["type"] != "http":
        await send({"type": "websocket.close", "code": 1008})
        return
    body = b"the header 'Authorization: Bearer TOKEN' is missing or has another token\n"
    headers = [(b"content-type", b"text/plain"), (b"www-authenticate", b"Bearer")]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": body})
