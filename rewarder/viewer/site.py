"""The window on a remote: noVNC's files and a bridge to the VNC server, below /viewer/ on the rewarder's port."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import logging
import os
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from http import HTTPStatus
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from rewarder.errors import OVERLOADED
from rewarder.viewer.bridge import Screen, bridge

PREFIX = "/viewer/"
NOVNC_VARIABLE = "UNIVERSE_CLIENT_NOVNC"
NOVNC_PLACES = ("/usr/share/novnc", "/usr/local/share/novnc", "/opt/novnc")
MAX_VIEWERS = 16
"""Browsers that may look at one remote at a time."""

_HTML = "text/html; charset=utf-8"
_JAVASCRIPT = "text/javascript; charset=utf-8"
_PAGES = Path(__file__).with_name("page")
_STYLE, _SCRIPT = ((_PAGES / name).read_text("utf-8") for name in ("viewer.css", "viewer.js"))


def _page(name: str) -> bytes:
    """A page with its style and script in it: it comes whole or not at all, also while the network changes."""
    page = (_PAGES / name).read_text("utf-8")
    page = page.replace('<link rel="stylesheet" href="viewer.css">', f"<style>{_STYLE}</style>")
    return page.replace(' src="viewer.js">', f">{_SCRIPT}").encode()


_WATCH, _MISSING = _page("viewer.html"), _page("missing.html")


def _source(inline: str) -> str:
    """What a Content-Security-Policy (level 2, section 4.2.5) calls a script or style that may stand in a page."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()}'"


_SAFETY = {
    "Content-Security-Policy": f"default-src 'none'; script-src 'self' {_source(_SCRIPT)}; "
    f"style-src {_source(_STYLE)}; connect-src 'self'; "
    "img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ViewerTokens:
    """What a viewer's URL has instead of a password; random, and good for as long as the remote lives."""

    watch: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    act: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    def allows(self, token: str) -> bool | None:
        """Whether the bearer may act; None: not even watch. Takes the same time whatever the token is."""
        given = _digest(token)
        acts = hmac.compare_digest(given, _digest(self.act))
        watches = hmac.compare_digest(given, _digest(self.watch))
        return True if acts else False if watches else None


class Viewer:
    """The site below `prefix`, for a `RewarderServer`.

    | path | what | who |
    |---|---|---|
    | `/viewer/` | the page: `#watch=TOKEN` or `#act=TOKEN` comes after it | anybody |
    | `/viewer/novnc/` | noVNC's modules, nothing else of that directory | anybody |
    | `/viewer/websockify?token=` | RFB in binary WebSocket frames | a token's bearer |
    | `/viewer/tokens` | both tokens, as JSON | who has the rewarder's password |
    """

    prefix = PREFIX

    def __init__(self, novnc: Path | None = None) -> None:
        """Look for noVNC.

        Args:
            novnc: the directory with its `core` and `vendor`, of an npm or Debian package or a checkout; by default
                `$UNIVERSE_CLIENT_NOVNC`, or where Debian's package puts it. Without it the page says what to do.

        Raises:
            ValueError: it is not in the directory that was named.
        """
        self.tokens = ViewerTokens()
        self._modules = _modules(find_novnc(novnc))
        self._screen: Screen | None = None
        self._viewers = 0

    def show(self, screen: Screen) -> None:
        """From now on, let viewers see `screen`."""
        self._screen = screen

    async def respond(
        self, websocket: ServerConnection, request: Request, admit: Callable[[], Awaitable[HTTPStatus]]
    ) -> Response | None:
        """Answer a request; None lets it become a WebSocket for `serve`.

        Args:
            websocket: where it came from.
            request: its path begins with `prefix`.
            admit: checks the request's password as for a rewarder connection.
        """
        name = urlsplit(request.path).path.removeprefix(self.prefix)
        if name == "websockify":
            status = self._check(request)
            return None if status == HTTPStatus.OK else _plain(status)
        if name == "tokens":
            status = await admit()
            return self._tokens_page() if status == HTTPStatus.OK else _plain(status)
        if name == "":
            return _response(HTTPStatus.OK, _HTML, _WATCH if self._modules else _MISSING)
        module = self._modules.get(name)
        if module is None:
            return _plain(HTTPStatus.NOT_FOUND)
        return _response(HTTPStatus.OK, _JAVASCRIPT, await asyncio.to_thread(module.read_bytes))

    async def serve(self, websocket: ServerConnection) -> None:
        """Bridge a viewer whose token was right to the screen."""
        assert websocket.request is not None
        acting = self.tokens.allows(_token(websocket.request))
        if self._screen is None or acting is None or self._viewers >= MAX_VIEWERS:
            await websocket.close(OVERLOADED, f"there are {self._viewers} viewers, the limit")
            return
        self._viewers += 1
        log.info("viewer = %s", "acts" if acting else "watches")
        try:
            await bridge(websocket, self._screen, acting=acting)
        finally:
            self._viewers -= 1
            log.info("viewer = left")

    def _check(self, request: Request) -> HTTPStatus:
        if self.tokens.allows(_token(request)) is None:
            return HTTPStatus.UNAUTHORIZED
        return HTTPStatus.OK if self._screen is not None else HTTPStatus.SERVICE_UNAVAILABLE

    def _tokens_page(self) -> Response:
        body = json.dumps({"watch": self.tokens.watch, "act": self.tokens.act}) + "\n"
        return _response(HTTPStatus.OK, "application/json", body.encode())


def find_novnc(named: Path | None = None) -> Path | None:
    """Return the directory noVNC is in; None if there is none.

    Raises:
        ValueError: it is not in the one that was named, here or in the environment.
    """
    variable = os.environ.get(NOVNC_VARIABLE)
    if named is None and variable:
        named = Path(variable)
    if named is not None and not _is_novnc(named):
        raise ValueError(f"{named} is not noVNC, it has no core/rfb.js that is an ECMAScript module")
    places = [named] if named is not None else map(Path, NOVNC_PLACES)
    return next(filter(_is_novnc, places), None)


def viewer_path(token: str, *, acting: bool) -> str:
    """Return the path and fragment of a viewer's URL; browsers never send or pass on a fragment."""
    return f"{PREFIX}#{'act' if acting else 'watch'}={token}"


def _is_novnc(directory: Path) -> bool:
    return (directory / "core" / "rfb.js").is_file()


def _modules(novnc: Path | None) -> Mapping[str, Path]:
    """What is served is on this list, made beforehand: no path from the wire reaches the file system."""
    if novnc is None:
        return {}
    modules = [path for part in ("core", "vendor") for path in (novnc / part).rglob("*.js")]
    return {f"novnc/{path.relative_to(novnc).as_posix()}": path for path in modules}


def _token(request: Request) -> str:
    values = parse_qs(urlsplit(request.path).query).get("token", [])
    return values[0] if len(values) == 1 else ""


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def _plain(status: HTTPStatus) -> Response:
    return _response(status, "text/plain; charset=utf-8", f"{status.phrase.lower()}\n".encode())


def _response(status: HTTPStatus, kind: str, body: bytes) -> Response:
    headers = Headers(_SAFETY)
    headers["Date"] = formatdate(usegmt=True)
    headers["Connection"] = "close"
    headers["Content-Type"] = kind
    headers["Content-Length"] = str(len(body))
    return Response(status.value, status.phrase, headers, body)
