"""A script in the place of a language model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from universe_client.hands.actions import Action


@dataclass(frozen=True, slots=True)
class Seen:
    """What the request contains for a model."""

    task: str
    """The text of the first message."""
    picture: bytes | None
    """The newest picture, as it was sent: JPEG or PNG."""
    notes: tuple[str, ...]
    """The texts since the last turn: what the acts have returned, and what went wrong."""
    turn: int
    """The number of turns of this conversation before."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What a model answers."""

    acts: Sequence[Action | Mapping[str, object]] = ()
    """What it does; a mapping is sent as it is. Without acts, the conversation ends."""
    text: str = ""
    """What it says."""
    safety_checks: Sequence[str] = ()
    """Messages of safety checks that must be acknowledged (OpenAI only)."""


Model = Callable[[Seen], Turn]
"""Called once a request. It may raise: the request is then answered with status 500 and the message."""
