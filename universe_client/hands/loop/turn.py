"""One turn of a model, and the budget for all of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture as it was sent to the model."""

    data: bytes = field(repr=False)
    media_type: str
    """image/jpeg or image/png."""


@dataclass(frozen=True, slots=True)
class Act:
    """One action of the model."""

    name: str
    arguments: Mapping[str, object]
    problem: str | None = None
    """What the model was told if it could not be played."""

    def __str__(self) -> str:
        """Return it in one line of ASCII: what a model writes may contain what a person does not see."""
        name = json.dumps(self.name)[1:-1]
        return f"{name} {json.dumps(dict(self.arguments))}" if self.arguments else name


@dataclass(frozen=True, slots=True)
class Turn:
    """What a model answered to one request, and what came of it."""

    text: str
    acts: tuple[Act, ...]
    shown: Shown | None
    """The picture after the acts, which the next request contains; None after the last turn."""
    tokens: int
    """Tokens of the request and of the answer, cached ones too."""
    thought: float
    """Seconds until the answer."""
    acted: float
    """Seconds from the answer to the settled picture."""
    stop: str
    """Why the model stopped, as the vendor words it."""


class Chat(Protocol):
    """The conversation with a model about one episode."""

    @property
    def shown(self) -> Shown:
        """The picture of the first request."""

    def turns(self) -> Iterator[Turn]:
        """Yield turns until the model has nothing more to do.

        Raises:
            ModelError: the API refused or failed.
            RemoteError: the remote is lost.
        """


@dataclass(frozen=True, slots=True)
class Budget:
    """What a run may take. It ends after the turn that reaches a limit; None is no limit."""

    steps: int | None = 100
    """Turns: calls of the API."""
    tokens: int | None = None
    seconds: float | None = None


@dataclass(slots=True)
class Spent:
    """What a run has taken so far."""

    steps: int = 0
    tokens: int = 0
    seconds: float = 0.0

    def exhausts(self, budget: Budget) -> str | None:
        """Return which part of the budget is used up, in words; None if there is some left of each."""
        if budget.steps is not None and self.steps >= budget.steps:
            return f"the budget of {budget.steps} steps is used up"
        if budget.tokens is not None and self.tokens >= budget.tokens:
            return f"the budget of {budget.tokens} tokens is used up"
        if budget.seconds is not None and self.seconds >= budget.seconds:
            return f"the budget of {budget.seconds:g} seconds is used up"
        return None


def visible(text: str) -> str:
    """Return a text without control characters: a terminal would obey them, and a person would not see them."""
    return "".join(
        character if character.isprintable() or character == "\n" else json.dumps(character)[1:-1]
        for character in text
    )
