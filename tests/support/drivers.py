"""The VNC drivers to test. The native driver may be missing only where Rust is not installed."""

from __future__ import annotations

import os

import pytest

from vnc.drivers import choose

_REQUIRED = (
    os.environ.get("UNIVERSE_CLIENT_NATIVE") == "required"
)  # as in setup.py: if the driver is missing, its tests fail
_HAS_NATIVE = _REQUIRED or choose("auto").name == "native"

DRIVERS = ("native", "portable") if _HAS_NATIVE else ("portable",)
WAYS = ("shared", *DRIVERS) if _HAS_NATIVE else DRIVERS
"""How pixels come: through shared memory or encoded, both to the native driver, or encoded to the portable one."""
needs_native = pytest.mark.skipif(not _HAS_NATIVE, reason="the native VNC driver is not built here")
