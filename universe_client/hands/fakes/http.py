"""An HTTP server for one path that takes and returns JSON."""

from __future__ import annotations

import base64
import binascii
import json
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from universe_client.hands.vendors.limits import PictureLimits

Json = dict[str, Any]


class Refused(Exception):
    """The API refuses a request."""

    def __init__(self, message: str, status: int = 400) -> None:
        """Describe what is wrong in `message`."""
        super().__init__(message)
        self.status = status


class Api:
    """An API on a free port of 127.0.0.1, until `close`. Subclasses answer the requests.

    Attributes:
        url: what the vendor's package takes as `base_url`.
        requests: the bodies of the requests, in order; refused ones too.
    """

    path = ""
    """Of the only endpoint."""
    prefix = ""
    """What `url` ends with."""

    def __init__(self) -> None:
        self.requests: list[Json] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}{self.prefix}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def handle(self, path: str, headers: Mapping[str, str], body: bytes) -> tuple[int, Json]:
        """Return the status and the body of the answer to a POST."""
        try:
            if path.partition("?")[0] != self.path:
                raise Refused(f"no such endpoint: {path}", 404)
            with self._lock:
                return 200, self.answer(headers, self._request(body))
        except Refused as error:
            return error.status, self.error(str(error), error.status)
        except Exception as error:  # noqa: BLE001 - a defect of the script; the client gets its message
            return 500, self.error(f"the script raised {error!r}", 500)

    def _request(self, body: bytes) -> Json:
        try:
            request = json.loads(body)
        except ValueError as error:
            raise Refused(f"the body is not JSON: {error}") from None
        if not isinstance(request, dict):
            raise Refused("the body is not an object")
        self.requests.append(request)
        return request

    def answer(self, headers: Mapping[str, str], request: Json) -> Json:
        """Return the answer to a request.

        Raises:
            Refused: the real API would refuse it.
        """
        raise NotImplementedError

    def error(self, message: str, status: int) -> Json:
        """Return the body of an error."""
        raise NotImplementedError


def _handler(api: Api) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers.get("content-length", 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, answer = api.handle(self.path, headers, self.rfile.read(length))
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    return Handler


def field(value: object, name: str, kind: type) -> Any:
    """Return a required field of a JSON object.

    Raises:
        Refused: it is missing, or not of this kind.
    """
    if not isinstance(value, dict) or not isinstance(value.get(name), kind):
        raise Refused(f"{name}: a {kind.__name__} is required")
    return value[name]


def decoded(data: str) -> bytes:
    """Return the bytes of a picture.

    Raises:
        Refused: `data` is not base64.
    """
    try:
        return base64.b64decode(data, validate=True)
    except binascii.Error:
        raise Refused("a picture is not base64") from None


def check_picture(data: bytes, media_type: str, limits: PictureLimits) -> None:
    """Check that a picture is what it says, and is not too large.

    Raises:
        Refused: it is neither JPEG nor PNG, not `media_type`, or beyond `limits`.
    """
    kind = (
        "image/png" if data.startswith(b"\x89PNG") else "image/jpeg" if data.startswith(b"\xff\xd8") else None
    )
    if kind != media_type:
        raise Refused(f"a picture is said to be {media_type} and is {kind}")
    width, height = size_of(data)
    if not limits.holds(width, height):
        raise Refused(f"a picture of {width}x{height} is too large; {limits.fit(width, height)} would fit")


def size_of(data: bytes) -> tuple[int, int]:
    """Return (width, height) of a JPEG or PNG.

    Raises:
        Refused: its header is incomplete.
    """
    if data.startswith(b"\x89PNG"):
        return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
    at = 2
    while at + 9 <= len(data):
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        if 0xC0 <= marker <= 0xC3:  # a frame header (ITU-T T.81, B.2.2)
            return int.from_bytes(data[at + 7 : at + 9], "big"), int.from_bytes(data[at + 5 : at + 7], "big")
        at += 2 + length
    raise Refused("a picture has no size")


def texts_and_pictures(content: object, kind: str) -> tuple[list[str], list[Json]]:
    """Return the texts, and the blocks of type `kind`, of a message's content: a string, or a list of blocks."""
    if isinstance(content, str):
        return [content], []
    blocks: Sequence[object] = content if isinstance(content, list) else []
    objects = [block for block in blocks if isinstance(block, dict)]
    texts = [block["text"] for block in objects if isinstance(block.get("text"), str)]
    return texts, [block for block in objects if block.get("type") == kind]
