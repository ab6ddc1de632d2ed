"""HTTP responses for pages that may load nothing but what is served with them."""

from __future__ import annotations

import base64
import hashlib
from email.utils import formatdate
from http import HTTPStatus

from websockets.datastructures import Headers
from websockets.http11 import Response

_SAFETY = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


def inline_source(inline: str) -> str:
    """Return the hash of an inline script or style for a Content-Security-Policy (level 2, section 4.2.5)."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()}'"


class Pages:
    """Makes responses with one policy.

    Args:
        allowed: directives of the Content-Security-Policy for what the pages need; all else is forbidden.
    """

    def __init__(self, allowed: str) -> None:
        self._headers = {**_SAFETY, "Content-Security-Policy": f"{_NOTHING}; {allowed}"}

    def response(self, status: HTTPStatus, kind: str, body: bytes) -> Response:
        """Return a response whose body has the media type `kind`; it ends the connection."""
        headers = Headers(self._headers)
        headers["Date"] = formatdate(usegmt=True)
        headers["Connection"] = "close"
        headers["Content-Type"] = kind
        headers["Content-Length"] = str(len(body))
        return Response(status.value, status.phrase, headers, body)

    def plain(self, status: HTTPStatus) -> Response:
        """Return a response that says the status in words."""
        return self.response(status, "text/plain; charset=utf-8", f"{status.phrase.lower()}\n".encode())
