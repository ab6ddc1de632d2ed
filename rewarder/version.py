"""This package's version, which both ends send in HTTP headers."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from rewarder.sanitize import clean

PRODUCT = "universe-client"

try:
    VERSION = version(PRODUCT)
except PackageNotFoundError:
    VERSION = "0+source"

PRODUCT_TOKEN = f"{PRODUCT}/{VERSION}"
"""The value of the headers `User-Agent` and `Server`."""


def peer_version(token: str | None) -> str | None:
    """Return the version in a peer's product token; None if the peer is another product."""
    product, _, number = (token or "").partition("/")
    return clean(number[:64]) if product == PRODUCT and number else None
