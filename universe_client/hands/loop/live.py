"""A run on a terminal: a line for each act, and below them what is going on."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.status import Status
from rich.text import Text

from universe_client.hands.loop.play import Result
from universe_client.hands.loop.turn import Budget, Shown, Spent, Turn, visible


class Live:
    """Prints turns as they come. What a model says is printed as it is, without control characters."""

    def __init__(self, console: Console, budget: Budget) -> None:
        """Print to `console`."""
        self._console, self._budget = console, budget
        self._status = Status("", console=console)

    def __enter__(self) -> Self:
        self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._status.stop()

    def begin(self, task: str, shown: Shown) -> None:
        """See `Watcher`."""
        self._print(Text(visible(task), "bold"))
        self._wait(Spent())

    def turn(self, number: int, turn: Turn, spent: Spent, reward: float) -> None:
        """See `Watcher`."""
        if turn.text:
            self._print(Text(visible(turn.text), "italic"))
        for act in turn.acts:
            self._print(Text.assemble((f"{number:3} ", "dim"), str(act)))
            if act.problem is not None:
                self._print(Text(f"    {visible(act.problem)}", "red"))
        took = f"    thought {turn.thought:.1f} s, acted {turn.acted:.1f} s, {turn.tokens} tokens, reward {reward:+g}"
        self._print(Text(took, "dim"))
        self._wait(spent)

    def end(self, result: Result) -> None:
        """See `Watcher`."""
        self._status.stop()
        self._print(
            Text(
                f"{visible(result.reason)}: reward {result.reward:+g}, {result.steps} steps, {result.acts} acts, "
                f"{result.tokens} tokens, {result.seconds:.1f} s ({result.thought:.1f} s of thought)",
                "bold",
            )
        )

    def ask(self, question: str) -> str:
        """Ask the person at the terminal."""
        self._status.stop()
        try:
            return self._console.input(Text(question, "bold yellow"))
        finally:
            self._status.start()

    def _wait(self, spent: Spent) -> None:
        budget = self._budget
        parts = [
            _share(spent.steps, budget.steps, "steps"),
            _share(spent.tokens, budget.tokens, "tokens"),
            _share(round(spent.seconds), budget.seconds, "s"),
        ]
        self._status.update(Text(f"the model thinks ({', '.join(parts)})"))

    def _print(self, text: Text) -> None:
        self._console.print(text, soft_wrap=True)


def _share(spent: int, limit: float | None, unit: str) -> str:
    return f"{spent} {unit}" if limit is None else f"{spent} of {limit:g} {unit}"
