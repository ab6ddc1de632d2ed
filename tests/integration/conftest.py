"""The fixtures of the agent's side, and the faults between it and its remotes."""

import pytest

from tests.support.faults import evil, proxied
from tests.support.fixtures import driver, far_side, no_thread_is_left, open_env, playing, scripted
from tests.support.network.certificates import authority, identity
from tests.support.remotes.served import serve_runtime

__all__ = [
    "authority",
    "driver",
    "evil",
    "far_side",
    "identity",
    "no_thread_is_left",
    "open_env",
    "playing",
    "proxied",
    "scripted",
    "serve_runtime",
]


@pytest.fixture(autouse=True)
def clean(no_thread_is_left: None) -> None:
    """Whatever the test did, its environments are gone with their threads."""
