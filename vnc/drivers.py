"""The choice between the native and the portable driver."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from typing import Literal

from vnc.session import Connect

Driver = Literal["auto", "native", "portable"]
"""The Rust driver, the asyncvnc driver, or the Rust driver where it is installed."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The driver that is used."""

    name: Literal["native", "portable"]
    reason: str | None = None
    """Why the native driver cannot be used; None if it is used, or if the portable one was requested."""


@cache
def choose(driver: Driver) -> Choice:
    """Return the driver to use; for "auto" that is the native one if it is installed.

    Raises:
        ValueError: `driver` is unknown.
        ImportError: `driver` is "native", which is not installed.
    """
    if driver not in ("auto", "native", "portable"):
        raise ValueError(f"driver {driver!r} is none of auto, native, portable")
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
    """Return the function that opens sessions; warn once if "auto" falls back to the portable driver.

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
        "and stops while Python computes. `universe-client doctor` says how to install the native one; "
        "driver='portable' avoids this warning",
        RuntimeWarning,
        stacklevel=3,
    )
