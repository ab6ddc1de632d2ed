"""The fault table: each row F1-F47 of docs/reliability.md has tests here, which have its number and report figures.

`make faults` runs them, and fails when a row fails or has no test.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest

from tests.faults.rows import ANY, Measure, Results
from tests.support.faults import evil, proxied
from tests.support.fixtures import driver, far_side, no_thread_is_left, open_env, playing, scripted
from tests.support.network.certificates import authority, identity
from tests.support.remotes.served import serve_runtime
from tests.support.vnc.sessions import opened, server

__all__ = [
    "authority",
    "driver",
    "evil",
    "far_side",
    "identity",
    "no_thread_is_left",
    "open_env",
    "opened",
    "playing",
    "proxied",
    "scripted",
    "serve_runtime",
    "server",
]

_RESULTS = pytest.StashKey[Results]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--every-row", action="store_true", help="print the fault table, and fail when a row has no test"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "fault(row, title): tests a row of the fault table in docs/reliability.md"
    )
    config.stash[_RESULTS] = results = Results()
    config.pluginmanager.register(results)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        for marker in item.iter_markers("fault"):
            row, _title = marker.args
            item.user_properties.append(("fault", (row, str(parameters.get("driver", ANY)))))


@pytest.fixture
def measure(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Record a figure under the row of the test, and assert its bounds."""

    def measure(
        what: str,
        value: Any,
        *,
        at_most: float | None = None,
        at_least: float | None = None,
        equals: Any = None,
        unit: str = "",
    ) -> None:
        assert (at_most, at_least, equals) != (None, None, None), f"{what} has no bound"
        value = (
            value.item() if hasattr(value, "item") else value
        )  # worker processes can send plain numbers only
        figure = Measure(what, value, at_most, at_least, equals, unit)
        request.node.user_properties.append(("measure", asdict(figure)))
        assert figure.held, str(figure)

    return measure


def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    if config.getoption("--every-row", False) and not hasattr(config, "workerinput"):
        unheld = config.stash[_RESULTS].unheld(_with_docker(config))
        if unheld and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if not config.getoption("--every-row", False):
        return
    results, with_docker = config.stash[_RESULTS], _with_docker(config)
    terminalreporter.section("fault table")
    terminalreporter.write(results.table(with_docker, max(120, terminalreporter._tw.fullwidth)))
    unheld = results.unheld(with_docker)
    terminalreporter.write_line(
        f"not held: {', '.join(unheld)}" if unheld else "every row that was run is held"
    )


def _with_docker(config: pytest.Config) -> bool:
    return "docker" in str(config.option.markexpr)
