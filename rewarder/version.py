"""The version both ends tell each other in the HTTP headers of the upgrade."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from rewarder.sanitize import clean

PRODUCT = "universe-client"

try:
    VERSION = version(PRODUCT)
except PackageNotFoundError:
    VERSION = "0+source"

PRODUCT_TOKEN = f"{PRODUCT}/{VERSION}"
"""What stands in `User-Agent` and `Server`."""


def peer_version(token: str | None) -> str | None:
    """Return the version in a peer's product token; None if the peer is something else."""
    product, _, number = (token or "").partition("/")
    return clean(number[:64]) if product == PRODUCT and number else None
