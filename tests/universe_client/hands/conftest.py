"""The fixtures of hands: computers over scripted remotes, on each driver."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.support.fixtures import each_way, far_side, open_env, scripted
from universe_client import VectorEnv
from universe_client.hands import Computer

__all__ = ["each_way", "far_side", "open_env", "scripted"]


@pytest.fixture
def computer(
    scripted: Callable[..., Any], open_env: Callable[..., VectorEnv]
) -> Iterator[Callable[..., tuple[Computer, Any]]]:
    """Make a computer and the scripted remote that it drives, and close it at the end."""
    made: list[Computer] = []

    def make(max_size: tuple[int, int] | None = None, **options: Any) -> tuple[Computer, Any]:
        remote = scripted(**options)
        made.append(Computer(open_env(remote.address), max_size=max_size, format="png"))
        return made[-1], remote

    yield make
    for each in made:
        each.close()
