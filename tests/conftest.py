"""What holds for all tests: those that need Docker are left out unless they are chosen (`-m docker`)."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "docker: needs a Docker daemon and our images")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "docker" in str(config.option.markexpr):
        return
    chosen = [item for item in items if item.get_closest_marker("docker") is None]
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen
