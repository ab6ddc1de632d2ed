"""One method for each action, on top of `do`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from universe_client.hands.actions import (
    Action,
    Button,
    ButtonDown,
    ButtonUp,
    Click,
    Drag,
    Hold,
    Move,
    Press,
    Scroll,
    Type,
    Wait,
)
from universe_client.hands.outcome import Outcome

QUIET = 0.1
"""Seconds without a change after which the screen counts as settled, unless the caller chooses."""
TIMEOUT = 5.0
"""Seconds to wait for that, unless the caller chooses."""


class Acts(ABC):
    """What can be done with a computer, one action at a time."""

    @abstractmethod
    def do(
        self,
        actions: Sequence[Action] | Action,
        *,
        settle: bool = True,
        picture: bool = True,
        quiet: float = QUIET,
        timeout: float = TIMEOUT,
    ) -> Outcome:
        """Play actions one after the other; see `Computer.do`."""

    def click(
        self,
        x: int | None = None,
        y: int | None = None,
        button: Button = "left",
        count: int = 1,
        modifiers: Sequence[str] = (),
        **how: Any,
    ) -> Outcome:
        """Play `Click`. As for all of these methods, `how` has the keyword arguments of `do`, which has the errors."""
        return self.do([Click(x, y, button, count, modifiers)], **how)

    def double_click(
        self, x: int | None = None, y: int | None = None, button: Button = "left", **how: Any
    ) -> Outcome:
        """Play a `Click` with two clicks."""
        return self.do([Click(x, y, button, 2)], **how)

    def move(self, x: int, y: int, **how: Any) -> Outcome:
        """Play `Move`."""
        return self.do([Move(x, y)], **how)

    def drag(
        self,
        path: Sequence[tuple[int, int]],
        button: Button = "left",
        modifiers: Sequence[str] = (),
        **how: Any,
    ) -> Outcome:
        """Play `Drag`."""
        return self.do([Drag(path, button, modifiers)], **how)

    def scroll(
        self,
        x: int | None = None,
        y: int | None = None,
        dx: int = 0,
        dy: int = 0,
        modifiers: Sequence[str] = (),
        **how: Any,
    ) -> Outcome:
        """Play `Scroll`."""
        return self.do([Scroll(x, y, dx, dy, modifiers)], **how)

    def button_down(self, button: Button = "left", **how: Any) -> Outcome:
        """Play `ButtonDown`."""
        return self.do([ButtonDown(button)], **how)

    def button_up(self, button: Button = "left", **how: Any) -> Outcome:
        """Play `ButtonUp`."""
        return self.do([ButtonUp(button)], **how)

    def type(self, text: str, **how: Any) -> Outcome:
        """Play `Type`."""
        return self.do([Type(text)], **how)

    def press(self, keys: str, repeat: int = 1, **how: Any) -> Outcome:
        """Play `Press`."""
        return self.do([Press(keys, repeat)], **how)

    def hold(self, keys: str, seconds: float, **how: Any) -> Outcome:
        """Play `Hold`."""
        return self.do([Hold(keys, seconds)], **how)

    def wait(self, seconds: float, **how: Any) -> Outcome:
        """Play `Wait`."""
        return self.do([Wait(seconds)], **how)
