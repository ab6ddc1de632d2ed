"""Which code decodes the pixels: the choice of a driver."""

from __future__ import annotations

from vnc import portable
from vnc.session import Connect


def connect(driver: str) -> Connect:
    """Return the function with which `driver` ("auto" or "portable") opens sessions.

    Raises:
        ValueError: there is no such driver.
    """
    if driver not in ("auto", "portable"):
        raise ValueError(f"no driver is called {driver!r}")
    return portable.connect
