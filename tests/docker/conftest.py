"""Tests on a real daemon: `make test-docker` runs and never skips them; a plain `pytest` leaves them out."""

from __future__ import annotations

from tests.support.system.containers import (
    agent,
    containers,
    daemon,
    engine,
    open_env,
    running_env,
    stranger,
    tidy,
)

__all__ = ["agent", "containers", "daemon", "engine", "open_env", "running_env", "stranger", "tidy"]
