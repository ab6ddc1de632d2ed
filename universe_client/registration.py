"""Wiring: the one function that builds an environment."""

from __future__ import annotations

from typing import Any

from universe_client.remotes.provider import Provider
from universe_client.vector_env import VectorEnv


def make(env_id: str | None = None, remotes: int | str | Provider = 1, **options: Any) -> VectorEnv:
    """Return a `VectorEnv` over `remotes` that play `env_id`; see there for the arguments."""
    return VectorEnv(env_id, remotes, **options)
