"""What holds for all tests: those that need Docker are left out unless they are chosen (`-m docker`)."""

from __future__ import annotations

import signal

import pytest
from hypothesis import HealthCheck, settings

# On a loaded machine any example can take long.
settings.register_profile("loaded", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("loaded")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "docker: needs a Docker daemon and our images")
    _stop_ignoring_signals()


def _stop_ignoring_signals() -> None:
    """Undo what shells without job control do to background jobs: they start them with SIGINT and SIGQUIT ignored.

    Tests interrupt this process and its children, which inherit it.
    """
    for number, handler in (
        (signal.SIGINT, signal.default_int_handler),
        (signal.SIGQUIT, signal.SIG_DFL),
        (signal.SIGTERM, signal.SIG_DFL),
        (signal.SIGHUP, signal.SIG_DFL),
    ):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "docker" in str(config.option.markexpr):
        return
    chosen = [item for item in items if item.get_closest_marker("docker") is None]
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen
