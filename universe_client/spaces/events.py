"""The spaces of an environment whose actions are input events and whose observations are screens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from universe_client.errors import ConfigError
from universe_client.spaces import actions
from vnc.events import Event, KeyEvent, PointerEvent
from vnc.keysyms import keysym

PRINTABLE = tuple(chr(point) for point in range(0x20, 0x7F))
EVERYDAY = ("Return", "Tab", "BackSpace", "Escape", "Left", "Right", "Up", "Down")


class EventSpace(gymnasium.Space[list[Event]]):
    """Lists of input events for one screen.

    Contained are lists whose pointer events lie on the screen: `0 <= x < width`, `0 <= y < height`, and whose key
    events name one of `keys`; tuples count as the events that they stand for.
    """

    def __init__(
        self,
        width: int,
        height: int,
        keys: Sequence[str | int] = PRINTABLE + EVERYDAY,
        button_masks: Sequence[int] = tuple(range(256)),
        seed: int | np.random.Generator | None = None,
    ) -> None:
        """Describe the events for a screen of this size.

        Args:
            width, height: of the screen, in pixels.
            keys: those that may be pressed, as `vnc.keysyms.keysym` takes them; empty for none.
            button_masks: the combinations of buttons that may be held; empty for no pointer.
            seed: of `sample`.
        """
        super().__init__(seed=seed)
        self.width, self.height = width, height
        self.keysyms = tuple(keysym(key) for key in keys)
        self.button_masks = tuple(button_masks)
        if not self.keysyms and not self.button_masks:
            raise ConfigError("an event space with neither keys nor button_masks has no events")

    def sample(self, mask: Any | None = None, probability: Any | None = None) -> list[Event]:
        """Return one random event: a key that goes down or up, or the pointer somewhere."""
        kinds = [self._key] * bool(self.keysyms) + [self._pointer] * bool(self.button_masks)
        return [kinds[self.np_random.integers(len(kinds))]()]

    def _key(self) -> Event:
        chosen = self.keysyms[self.np_random.integers(len(self.keysyms))]
        return KeyEvent(chosen, bool(self.np_random.integers(2)))

    def _pointer(self) -> Event:
        x, y = self.np_random.integers(self.width), self.np_random.integers(self.height)
        mask = self.button_masks[self.np_random.integers(len(self.button_masks))]
        return PointerEvent(int(x), int(y), mask)

    def contains(self, x: Any) -> bool:
        """Whether `x` is a list of events of this space."""
        try:
            events = actions.parse(x, slot=0)
        except ConfigError:
            return False
        return all(self._has(event) for event in events)

    def _has(self, event: Event) -> bool:
        if isinstance(event, KeyEvent):
            return event.keysym in self.keysyms
        on_screen = event.x < self.width and event.y < self.height
        return on_screen and event.button_mask in self.button_masks

    @property
    def is_np_flattenable(self) -> bool:
        """False: a list of events has no fixed size."""
        return False

    def __repr__(self) -> str:
        return f"EventSpace({self.width}, {self.height}, {len(self.keysyms)} keys)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EventSpace) and (
            (self.width, self.height, self.keysyms, self.button_masks)
            == (other.width, other.height, other.keysyms, other.button_masks)
        )

    __hash__ = None  # type: ignore[assignment]


class ObservationSpace(gymnasium.Space[dict[str, Any]]):
    """`{"vision": uint8 (height, width, 3), "text": list, "instruction": any}`, and `"env_observation"` if sent."""

    def __init__(self, width: int, height: int, seed: int | np.random.Generator | None = None) -> None:
        """Describe the observations of a screen of this size in pixels."""
        super().__init__(seed=seed)
        self.width, self.height = width, height

    def sample(self, mask: Any | None = None, probability: Any | None = None) -> dict[str, Any]:
        """Return noise of the screen's size, and no text."""
        vision: NDArray[np.uint8] = self.np_random.integers(
            0, 256, (self.height, self.width, 3), dtype=np.uint8
        )
        return {"vision": vision, "text": [], "instruction": None}

    def contains(self, x: Any) -> bool:
        """Whether `x` is an observation of a screen of this size."""
        if not isinstance(x, dict) or not {"vision", "text"} <= x.keys() <= {
            "vision",
            "text",
            "instruction",
            "env_observation",
        }:
            return False
        vision = x["vision"]
        return (
            isinstance(vision, np.ndarray)
            and vision.dtype == np.uint8
            and vision.shape == (self.height, self.width, 3)
            and isinstance(x["text"], list)
        )

    @property
    def is_np_flattenable(self) -> bool:
        """False: text has no fixed size."""
        return False

    def __repr__(self) -> str:
        return f"ObservationSpace({self.width}, {self.height})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObservationSpace) and (self.width, self.height) == (
            other.width,
            other.height,
        )

    __hash__ = None  # type: ignore[assignment]
