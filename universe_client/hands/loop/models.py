"""Models by their names: `anthropic:MODEL` and `openai:MODEL`."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from universe_client.errors import ConfigError
from universe_client.hands.computer import Computer
from universe_client.hands.loop.turn import Chat

_KEYS = {"anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"), "openai": ("OPENAI_API_KEY",)}
VENDORS = tuple(_KEYS)
_TIMEOUT = 600.0  # seconds that the API may take to answer


class Permits(Protocol):
    """Permits acts and acknowledges safety checks: see `Approval`."""

    def confirm(self, name: str, arguments: Mapping[str, object]) -> bool:
        """Return whether an act may be played."""

    def approve(self, checks: Iterable[object]) -> bool:
        """Return whether a vendor's safety checks are acknowledged."""


def is_model(name: str) -> bool:
    """Return whether `name` is that of a model: `anthropic:MODEL` or `openai:MODEL`."""
    vendor, _, model = name.partition(":")
    return vendor in VENDORS and bool(model)


def check_model(name: str) -> None:
    """Check that there is what a model needs on this machine.

    Raises:
        ConfigError: `name` is not that of a model, or the vendor's package or the key is missing.
    """
    if not is_model(name):
        raise ConfigError(f"model {name!r} is not anthropic:MODEL or openai:MODEL")
    vendor = name.partition(":")[0]
    if importlib.util.find_spec(vendor) is None:
        raise ConfigError(f"{name} needs the package {vendor}: pip install '.[{vendor}]'")
    if not any(os.environ.get(key) for key in _KEYS[vendor]):
        raise ConfigError(f"{name} needs your key of the API in the environment variable {_KEYS[vendor][0]}")


def begin(name: str, computer: Computer, task: str, permits: Permits, timeout: float | None = None) -> Chat:
    """Return the conversation of a model about the episode that `computer` is in.

    Args:
        name: `anthropic:MODEL` or `openai:MODEL`; the vendor's package reads the key, and the URL of another endpoint
            (`ANTHROPIC_BASE_URL`, `OPENAI_BASE_URL`), from the environment.
        computer: its pictures become smaller if they are beyond the vendor's limits.
        task: what the model is told to do.
        permits: asked before each act, and about safety checks.
        timeout: seconds that the API may take to answer; None is ten minutes.

    Raises:
        ConfigError: see `check_model`.
        RemoteError: the remote cannot be reached.
    """
    check_model(name)
    vendor, _, model = name.partition(":")
    make: Callable[[str, Computer, str, Permits, float], Chat] = (
        _anthropic if vendor == "anthropic" else _openai
    )
    return make(model, computer, task, permits, timeout or _TIMEOUT)


def _anthropic(model: str, computer: Computer, task: str, permits: Permits, timeout: float) -> Chat:
    from anthropic import Anthropic

    from universe_client.hands.loop.anthropic import AnthropicChat

    return AnthropicChat(
        Anthropic(timeout=timeout), model, computer, task, confirm=permits.confirm, owns_client=True
    )


def _openai(model: str, computer: Computer, task: str, permits: Permits, timeout: float) -> Chat:
    from openai import OpenAI

    from universe_client.hands.loop.openai import OpenAIChat

    client = OpenAI(timeout=timeout)
    return OpenAIChat(
        client, model, computer, task, confirm=permits.confirm, approve=permits.approve, owns_client=True
    )
