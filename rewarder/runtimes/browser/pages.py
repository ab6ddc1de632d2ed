"""The catalogue of browser pages by env id, and the local HTTP server for them."""

from __future__ import annotations

import importlib.util
import logging
import threading
from collections.abc import Mapping
from difflib import get_close_matches
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path, PurePosixPath
from typing import Self
from urllib.parse import unquote, urlsplit

GAMES = Path(__file__).parent / "games"
MISSING = "the MiniWoB++ pages are not installed: pip install '.[browser]' in a checkout of universe-client"
PREFIX = "browser."

log = logging.getLogger(__name__)


def catalogue() -> dict[str, str]:
    """Return the path of each env id's page on a `PageServer`; without the `miniwob` package, our games only."""
    games = {f"{PREFIX}{page.stem}": f"/games/{page.name}" for page in sorted(GAMES.glob("*.html"))}
    return games | (_miniwob(root) if (root := miniwob_root()) is not None else {})


def miniwob_root() -> Path | None:
    """Return the directory of pages in the `miniwob` package, without importing it, which would import Selenium."""
    found = importlib.util.find_spec("miniwob")
    for location in (found.submodule_search_locations or ()) if found else ():
        root = Path(location) / "html"
        if root.is_dir():
            return root
    return None


def page_of(env_id: str) -> str:
    """Return the path of the page of `env_id`.

    Raises:
        ImportError: it is not one of our games, and MiniWoB++ is not installed.
        ValueError: no page has this env id.
    """
    pages = catalogue()
    if env_id in pages:
        return pages[env_id]
    if miniwob_root() is None:
        raise ImportError(f"{env_id}: {MISSING}")
    nearest = get_close_matches(env_id, pages, cutoff=0.0)
    raise ValueError(f"unknown env_id {env_id!r}; the nearest of {len(pages)}: {', '.join(nearest)}")


def _miniwob(root: Path) -> dict[str, str]:
    tasks = {f"{PREFIX}{page.stem}": page for page in sorted((root / "miniwob").glob("*.html"))}
    flights = {
        f"{PREFIX}flight.{page.parent.name}": page for page in sorted(root.glob("flight/*/wrapper.html"))
    }
    return {env_id: f"/miniwob/{page.relative_to(root)}" for env_id, page in (tasks | flights).items()}


class PageServer:
    """An HTTP server of the pages on a free port of 127.0.0.1, as a context manager."""

    def __init__(self) -> None:
        roots = {"games": GAMES}
        if (root := miniwob_root()) is not None:
            roots["miniwob"] = root
        self._server = _Server(roots)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="pages", daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def url(self, path: str) -> str:
        """Return the address of the page at `path`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}{path}"


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, roots: Mapping[str, Path]) -> None:
        self.roots = roots
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(SimpleHTTPRequestHandler):
    """Serves files below the roots, without directory listings."""

    protocol_version = "HTTP/1.1"
    server: _Server

    def translate_path(self, path: str) -> str:
        """Return the file of a URL path, or a path that does not exist."""
        match PurePosixPath(unquote(urlsplit(path).path)).parts:
            case ("/", name, *rest) if name in self.server.roots and ".." not in rest:
                file = self.server.roots[name].joinpath(*rest)
                return str(file) if file.is_file() else "/nonexistent"
        return "/nonexistent"

    def log_message(self, format: str, *args: object) -> None:
        """Log requests to this module's logger."""
        log.debug("pages: " + format, *args)
