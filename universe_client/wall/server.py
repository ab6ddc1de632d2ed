"""The page's server: HTTP and a WebSocket on loopback, on a thread of its own."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import os
import secrets
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from rewarder.viewer.pages import Pages, inline_source
from universe_client.core.background import lower_priority
from universe_client.core.event_loop.loop import LoopThread
from universe_client.errors import ConfigError
from universe_client.hands.outcome import Region
from universe_client.hands.pictures import Picture, drawn
from universe_client.wall.page_state import Page
from universe_client.wall.tiles import Tile
from vnc.session import Frame

PICTURES_PER_SECOND = 15
_STATES_PER_SECOND = 4
_MAX_PAGES = 8
_ENCODERS = min(max((os.cpu_count() or 1) // 4, 1), 4)
"""Threads."""
_QUALITY = 70
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

_PAGE = Path(__file__).with_name("page")
_STYLE, _SCRIPT = ((_PAGE / name).read_text("utf-8") for name in ("wall.css", "wall.js"))
_HTML = (
    (_PAGE / "wall.html")
    .read_text("utf-8")
    .replace('<link rel="stylesheet" href="wall.css">', f"<style>{_STYLE}</style>")
    .replace(' src="wall.js">', f">{_SCRIPT}")
)

log = logging.getLogger(__name__)


_pages = Pages(
    f"script-src {inline_source(_SCRIPT)}; style-src {inline_source(_STYLE)}; connect-src 'self'; img-src blob:"
)


class WallServer:
    """Serves the page for a list of tiles. Pictures are made only while somebody looks.

    Attributes:
        port: where it listens, on 127.0.0.1.
    """

    def __init__(self, tiles: Sequence[Tile], port: int = 0, *, act: bool = False) -> None:
        """Begin to serve.

        Args:
            tiles: one for each remote.
            port: to listen on; 0 is any free port.
            act: whether a page may act on the remotes.

        Raises:
            ConfigError: the port is not free.
        """
        self._tiles, self._act = tiles, act
        self._token = secrets.token_urlsafe(24)
        self._pages = 0
        self._closed = False
        # Encoders release the GIL; few threads leave the processors to the agent and its remotes.
        self._encoder = ThreadPoolExecutor(_ENCODERS, "universe-wall-jpeg", lower_priority)
        self._encoded: dict[tuple[int, int], tuple[int, bytes]] = {}
        self._loop = LoopThread("universe-wall")
        try:
            self._server: Server = self._loop.run(self._listen(port))
        except OSError as error:
            self._loop.stop(asyncio.sleep(0))
            raise ConfigError(f"port {port}: {error.strerror}") from error
        self.port: int = next(iter(self._server.sockets)).getsockname()[1]

    @property
    def url(self) -> str:
        """The page's address, with a token that is valid as long as the page is served."""
        return f"http://127.0.0.1:{self.port}/#{self._token}" + ("&act" if self._act else "")

    @property
    def is_watched(self) -> bool:
        """Whether a page is open."""
        return self._pages > 0

    def close(self) -> None:
        """End all connections and the thread; idempotent."""
        if self._closed:
            return
        self._closed = True
        self._loop.stop(self._stop())
        self._encoder.shutdown()

    async def _listen(self, port: int) -> Server:
        return await serve(
            self._watch, "127.0.0.1", port, process_request=self._respond, compression=None, max_size=4096
        )

    async def _stop(self) -> None:
        self._server.close()
        await self._server.wait_closed()

    def _respond(self, websocket: ServerConnection, request: Request) -> Response | None:
        """Answer a request; None makes it a WebSocket."""
        target = urlsplit(request.path)
        host = request.headers.get("Host", "").rsplit(":", 1)[0]
        if host not in _LOOPBACK:  # another name may belong to a page that was rebound to this machine
            return _pages.plain(HTTPStatus.FORBIDDEN)
        if target.path == "/":
            return _pages.response(HTTPStatus.OK, "text/html; charset=utf-8", _HTML.encode())
        if target.path != "/tiles":
            return _pages.plain(HTTPStatus.NOT_FOUND)
        given = parse_qs(target.query).get("token", [""])[0]
        if not hmac.compare_digest(given.encode(), self._token.encode()):
            return _pages.plain(HTTPStatus.UNAUTHORIZED)
        return None if self._pages < _MAX_PAGES else _pages.plain(HTTPStatus.SERVICE_UNAVAILABLE)

    async def _watch(self, websocket: ServerConnection) -> None:
        """Send states and pictures to one page until it is closed."""
        self._pages += 1
        page = Page(self._tiles, self._act)
        reader = asyncio.create_task(page.read(websocket))
        due = time.monotonic()
        try:
            while not reader.done():
                await self._send(websocket, page)
                due = max(
                    due + 1 / PICTURES_PER_SECOND, time.monotonic()
                )  # the time of the encoders included
                await asyncio.wait([reader], timeout=due - time.monotonic())
            await reader
        except ConnectionClosed:
            log.debug("a page was closed")
        finally:
            reader.cancel()
            page.leave()
            self._pages -= 1

    async def _send(self, websocket: ServerConnection, page: Page) -> None:
        now = time.monotonic()
        if now >= page.state_due:
            page.state_due = now + 1 / _STATES_PER_SECOND
            await websocket.send(json.dumps({"time": now, "tiles": [tile.summary() for tile in self._tiles]}))
        pictures = []
        for index, tile in enumerate(self._tiles):
            vision, number = tile.vision, tile.number
            longest = page.longest(index)
            if vision is None or not longest or page.shown[index] == (number, longest):
                continue
            page.shown[index] = number, longest
            pictures.append(self._picture(index, vision, number, longest))
        for picture in await asyncio.gather(*pictures):
            await websocket.send(picture)

    async def _picture(self, index: int, vision: Frame, number: int, longest: int) -> bytes:
        known = self._encoded.get((index, longest))
        if known is None or known[0] != number:
            loop = asyncio.get_running_loop()
            known = number, await loop.run_in_executor(self._encoder, _encode, vision, longest)
            self._encoded[index, longest] = known
        return index.to_bytes(2, "big") + known[1]


def _encode(vision: Frame, longest: int) -> bytes:
    height, width = vision.shape[:2]
    scale = min(longest / max(height, width), 1.0)
    size = max(round(width * scale), 1), max(round(height * scale), 1)
    whole = Region(0, 0, width, height)
    return Picture(drawn(vision, whole, size), "jpeg", whole, scale, _QUALITY).data
