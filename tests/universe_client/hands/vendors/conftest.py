"""One driver is enough here: what the vendors add does not depend on how pixels come."""

from __future__ import annotations

import pytest


@pytest.fixture
def driver() -> str:
    return "native"
