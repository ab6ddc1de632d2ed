"""A pytest plugin, `-p tests.support.without_core`, that hides the Rust driver.

"auto" then means the portable driver. Tests that run with each driver are skipped, because they run with this one
anyway.
"""

from __future__ import annotations

import os
import sys

import pytest

os.environ.pop("UNIVERSE_CLIENT_NATIVE", None)  # it would make a missing driver an error
sys.modules["vnc._core"] = None  # type: ignore[assignment]  # which makes its import an ImportError


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("filterwarnings", "ignore:the native VNC driver is not installed:RuntimeWarning")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    again = [item for item in items if "driver" in getattr(item, "fixturenames", ())]
    config.hook.pytest_deselected(items=again)
    items[:] = [item for item in items if item not in set(again)]
