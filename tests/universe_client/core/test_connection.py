"""Opening the connections of a remote; tests/faults tests how that fails."""

from __future__ import annotations

import pytest

from rewarder.version import VERSION
from universe_client.core import connection


@pytest.fixture
def no_version_warned_of():
    connection._warn_of_version.cache_clear()
    yield
    connection._warn_of_version.cache_clear()


def version_lines(caplog):
    return [record.getMessage() for record in caplog.records if "has version" in record.getMessage()]


def test_u14_versions_are_exchanged_and_logged(scripted, playing, caplog, no_version_warned_of):
    caplog.set_level("INFO")
    env = playing(scripted())
    assert env.remotes[0].link.rewarder.remote_version == VERSION
    assert any(line.endswith(f"has version {VERSION}") for line in version_lines(caplog))
    assert any(f"joined as controller, version {VERSION}" in record.getMessage() for record in caplog.records)
    assert not [record for record in caplog.records if record.levelname == "WARNING"]


def test_u14_a_version_that_differs_is_warned_of_once(
    scripted, playing, caplog, monkeypatch, no_version_warned_of
):
    monkeypatch.setattr(connection, "VERSION", "0.0.1")
    playing(scripted(), scripted())
    (warning,) = version_lines(caplog)
    assert VERSION in warning
    assert "this client has 0.0.1" in warning
