"""Which code decodes the pixels: the choice of a driver."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from typing import Literal

from vnc.session import Connect

Driver = Literal["auto", "native", "portable"]


@dataclass(frozen=True, slots=True)
class Choice:
    """A driver, and why it is not the native one if that was wanted."""

    name: Literal["native", "portable"]
    reason: str | None = None


@cache
def choose(driver: Driver) -> Choice:
    """Return the driver that `driver` comes to here; for "auto" that is the native one if it is installed.

    Raises:
        ValueError: there is no such driver.
        ImportError: "native" is asked for and not installed.
    """
    if driver not in ("auto", "native", "portable"):
        raise ValueError(f"no driver is called {driver!r}")
    if driver == "portable":
        return Choice("portable")
    try:
        import vnc.client.native  # noqa: F401
    except ImportError as error:
        if driver == "native":
            raise
        return Choice("portable", str(error))
    return Choice("native")


def connect(driver: Driver) -> Connect:
    """Return the function with which `driver` opens sessions; warn once where "auto" falls back.

    Raises:
        ValueError, ImportError: as `choose`.
    """
    if choose(driver).name == "native":
        from vnc.client import native

        return native.connect
    if driver == "auto":
        _warn_of_fallback()
    from vnc.client import portable

    return portable.connect


@cache
def _warn_of_fallback() -> None:
    warnings.warn(
        f"the native VNC driver is not installed ({choose('auto').reason}); the portable one is a few times slower "
        "and stands still while Python computes. Install Rust and reinstall, or say driver='portable'",
        RuntimeWarning,
        stacklevel=3,
    )
