"""The viewer's site below /viewer/ on the rewarder's port: noVNC's files and a bridge to the VNC server."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
import os
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from rewarder.errors import OVERLOADED
from rewarder.viewer.bridge import Screen, bridge
from rewarder.viewer.pages import Pages, inline_source
from vnc.events import Event

PREFIX = "/viewer/"
NOVNC_VARIABLE = "UNIVERSE_CLIENT_NOVNC"
NOVNC_PLACES = ("/usr/share/novnc", "/usr/local/share/novnc", "/opt/novnc")
MAX_VIEWERS = 16
"""Connected viewers of one remote."""

_HTML = "text/html; charset=utf-8"
_JAVASCRIPT = "text/javascript; charset=utf-8"
_PAGES = Path(__file__).with_name("page")
_STYLE, _SCRIPT = ((_PAGES / name).read_text("utf-8") for name in ("viewer.css", "viewer.js"))


def _page(name: str) -> bytes:
    """Return a page with its style and script inlined, so that one response contains all of it."""
    page = (_PAGES / name).read_text("utf-8")
    page = page.replace('<link rel="stylesheet" href="viewer.css">', f"<style>{_STYLE}</style>")
    return page.replace(' src="viewer.js">', f">{_SCRIPT}").encode()


_WATCH, _MISSING = _page("viewer.html"), _page("missing.html")


_pages = Pages(
    f"script-src 'self' {inline_source(_SCRIPT)}; style-src {inline_source(_STYLE)}; connect-src 'self'; "
    "img-src 'self' data: blob:"
)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ViewerTokens:
    """Random secrets in viewers' URLs, valid while the remote runs: one to watch, one to act."""

    watch: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    act: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    def allows(self, token: str) -> bool | None:
        """Return True if `token` allows to act, False if only to watch, None if neither; in constant time."""
        given = _digest(token)
        acts = hmac.compare_digest(given, _digest(self.act))
        watches = hmac.compare_digest(given, _digest(self.watch))
        return True if acts else False if watches else None


class Viewer:
    """The site below `prefix`, for a `RewarderServer`.

    | path | content | who may read it |
    |---|---|---|
    | `/viewer/` | the page; its URL ends with `#watch=TOKEN` or `#act=TOKEN` | everybody |
    | `/viewer/novnc/` | noVNC's modules, and nothing else of that directory | everybody |
    | `/viewer/websockify?token=` | RFB in binary WebSocket frames | clients with a token |
    | `/viewer/tokens` | both tokens, as JSON | clients with the rewarder's password |
    """

    prefix = PREFIX

    def __init__(self, novnc: Path | None = None) -> None:
        """Find noVNC.

        Args:
            novnc: the directory with noVNC's `core` and `vendor`, from an npm or Debian package or a checkout; by
                default `$UNIVERSE_CLIENT_NOVNC`, or where Debian's package installs it. Without noVNC, the page
                explains how to install it.

        Raises:
            ValueError: `novnc` or the variable names a directory without noVNC.
        """
        self.tokens = ViewerTokens()
        self._modules = _modules(find_novnc(novnc))
        self._screen: Screen | None = None
        self._viewers = 0
        self.on_input: Callable[[Sequence[Event]], object] | None = None
        """Called with the keys and pointer events of each page, as they are sent on; None calls nothing."""

    def show(self, screen: Screen) -> None:
        """Show `screen` to viewers from now on."""
        self._screen = screen

    async def respond(
        self, websocket: ServerConnection, request: Request, admit: Callable[[], Awaitable[HTTPStatus]]
    ) -> Response | None:
        """Answer a request; None makes it a WebSocket for `serve`.

        Args:
            websocket: its connection.
            request: with a path that begins with `prefix`.
            admit: checks the request's password like that of a rewarder connection.
        """
        name = urlsplit(request.path).path.removeprefix(self.prefix)
        if name == "websockify":
            status = self._check(request)
            return None if status == HTTPStatus.OK else _pages.plain(status)
        if name == "tokens":
            status = await admit()
            return self._tokens_page() if status == HTTPStatus.OK else _pages.plain(status)
        if name == "":
            return _pages.response(HTTPStatus.OK, _HTML, _WATCH if self._modules else _MISSING)
        module = self._modules.get(name)
        if module is None:
            return _pages.plain(HTTPStatus.NOT_FOUND)
        return _pages.response(HTTPStatus.OK, _JAVASCRIPT, await asyncio.to_thread(module.read_bytes))

    async def serve(self, websocket: ServerConnection) -> None:
        """Connect a viewer with a valid token to the screen."""
        assert websocket.request is not None
        acting = self.tokens.allows(_token(websocket.request))
        if self._screen is None or acting is None or self._viewers >= MAX_VIEWERS:
            await websocket.close(OVERLOADED, f"{self._viewers} viewers are connected, which is the limit")
            return
        self._viewers += 1
        log.info("viewer = %s", "acts" if acting else "watches")
        try:
            await bridge(websocket, self._screen, acting=acting, on_input=self.on_input)
        finally:
            self._viewers -= 1
            log.info("viewer = left")

    def _check(self, request: Request) -> HTTPStatus:
        if self.tokens.allows(_token(request)) is None:
            return HTTPStatus.UNAUTHORIZED
        return HTTPStatus.OK if self._screen is not None else HTTPStatus.SERVICE_UNAVAILABLE

    def _tokens_page(self) -> Response:
        body = json.dumps({"watch": self.tokens.watch, "act": self.tokens.act}) + "\n"
        return _pages.response(HTTPStatus.OK, "application/json", body.encode())


def find_novnc(named: Path | None = None) -> Path | None:
    """Return the directory of noVNC; None if it is not installed.

    Raises:
        ValueError: the directory in `named` or in the environment does not contain it.
    """
    variable = os.environ.get(NOVNC_VARIABLE)
    if named is None and variable:
        named = Path(variable)
    if named is not None and not _is_novnc(named):
        raise ValueError(f"{named} does not contain noVNC: it has no core/rfb.js")
    places = [named] if named is not None else map(Path, NOVNC_PLACES)
    return next(filter(_is_novnc, places), None)


def viewer_path(token: str, *, acting: bool) -> str:
    """Return the path and fragment of a viewer's URL. Browsers do not send the fragment to any server."""
    return f"{PREFIX}#{'act' if acting else 'watch'}={token}"


def _is_novnc(directory: Path) -> bool:
    return (directory / "core" / "rfb.js").is_file()


def _modules(novnc: Path | None) -> Mapping[str, Path]:
    """Return the files that are served, by URL path, so that no path of a request reaches the file system."""
    if novnc is None:
        return {}
    modules = [path for part in ("core", "vendor") for path in (novnc / part).rglob("*.js")]
    return {f"novnc/{path.relative_to(novnc).as_posix()}": path for path in modules}


def _token(request: Request) -> str:
    values = parse_qs(urlsplit(request.path).query).get("token", [])
    return values[0] if len(values) == 1 else ""


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
