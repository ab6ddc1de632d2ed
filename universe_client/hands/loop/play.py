"""One episode of a model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Protocol

import msgspec

from universe_client.hands.actions import Wait
from universe_client.hands.computer import Computer
from universe_client.hands.loop.turn import Budget, Chat, Shown, Spent, Turn
from universe_client.hands.loop.words import NO_TASK

EPISODE_ENDED = "the episode has ended"


class Result(msgspec.Struct, frozen=True):
    """What came of an episode."""

    reason: str
    """Why it is over, in words."""
    done: bool
    """Whether the episode has ended; a model may stop before."""
    reward: float
    """Of the episode."""
    steps: int
    """Calls of the API."""
    acts: int
    """Actions of the model."""
    tokens: int
    seconds: float
    thought: float
    """Seconds of them in which the model thought."""
    text: str
    """The last words of the model."""


class Watcher(Protocol):
    """Something that is told of a run as it goes."""

    def begin(self, task: str, shown: Shown) -> None:
        """Before the first request."""

    def turn(self, number: int, turn: Turn, spent: Spent, reward: float) -> None:
        """After turn `number`, counted from 1."""

    def end(self, result: Result) -> None:
        """At the end."""


def play(
    chat: Chat, computer: Computer, task: str, budget: Budget, watchers: Sequence[Watcher] = ()
) -> Result:
    """Let a model work until the episode has ended, it has nothing more to do, or the budget is used up.

    Raises:
        ModelError: the API refused or failed.
        RemoteError: the remote is lost.
    """
    began, spent = time.monotonic(), Spent()
    acts, thought, text, reason = 0, 0.0, "", "the model has stopped"
    for watcher in watchers:
        watcher.begin(task, chat.shown)
    for turn in chat.turns():
        spent.steps, spent.tokens, spent.seconds = (
            spent.steps + 1,
            spent.tokens + turn.tokens,
            time.monotonic() - began,
        )
        acts, thought, text = acts + len(turn.acts), thought + turn.thought, turn.text or text
        for watcher in watchers:
            watcher.turn(spent.steps, turn, spent, computer.reward)
        if computer.done:
            reason = EPISODE_ENDED
            break
        if not turn.acts:
            reason = f"the model has stopped ({turn.stop})"
        elif (exhausted := spent.exhausts(budget)) is not None:
            reason = exhausted
            break
    result = Result(
        reason=reason,
        done=computer.done,
        reward=computer.reward,
        steps=spent.steps,
        acts=acts,
        tokens=spent.tokens,
        seconds=round(time.monotonic() - began, 3),
        thought=round(thought, 3),
        text=text,
    )
    for watcher in watchers:
        watcher.end(result)
    return result


def task_of(computer: Computer, seconds: float = 1.0) -> str:
    """Return the task of the episode in words. It may arrive after the first picture, and some remotes have none.

    Args:
        computer: in the episode.
        seconds: how long to wait for it.
    """
    deadline = time.monotonic() + seconds
    while computer.text is None and not computer.done and time.monotonic() < deadline:
        computer.do([Wait(0.02)], settle=False, picture=False)
    return computer.text or NO_TASK
