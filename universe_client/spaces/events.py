"""The spaces of `VectorEnv`: actions are lists of input events, observations are dicts of a screen and text."""

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

    A list is contained if its pointer events lie on the screen (`0 <= x < width`, `0 <= y < height`) with one of the
    `button_masks`, and its key events name one of `keys`. Events may be objects or tuples, see `VectorEnv.send`.

    Attributes:
        width, height: the size of the screen in pixels.
        keysyms: the keysyms that may be pressed.
        button_masks: the combinations of buttons that may be down.
    """

    def __init__(
        self,
        width: int,
        height: int,
        keys: Sequence[str | int] = PRINTABLE + EVERYDAY,
        button_masks: Sequence[int] = tuple(range(256)),
        seed: int | np.random.Generator | None = None,
    ) -> None:
        """Make the space for a screen of this size.

        Args:
            width, height: the size of the screen in pixels.
            keys: the keys that may be pressed, see `vnc.keysyms.keysym`; none if empty. By default the printable ASCII
                characters and common named keys.
            button_masks: the combinations of buttons that may be down; without any there are no pointer events.
            seed: the seed of `sample`.

        Raises:
            ConfigError: there are neither keys nor button masks.
        """
        super().__init__(seed=seed)
        self.width, self.height = width, height
        self.keysyms = tuple(keysym(key) for key in keys)
        self.button_masks = tuple(button_masks)
        if not self.keysyms and not self.button_masks:
            raise ConfigError("an event space with neither keys nor button_masks has no events")

    def sample(self, mask: Any | None = None, probability: Any | None = None) -> list[Event]:
        """Return a list of one random event: a key goes down or up, or the pointer moves with random buttons."""
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
        """Return whether `x` is a list of events of this space."""
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
        """False, because a list of events has no fixed size."""
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
    """The observations of one remote, as dicts.

    - `"vision"`: uint8 array (height, width, 3), RGB.
    - `"text"`: a list of texts of the remote.
    - `"instruction"`: the first text of the episode, or None.
    - `"env_observation"`: the environment observation; only if the remote sends it.
    """

    def __init__(self, width: int, height: int, seed: int | np.random.Generator | None = None) -> None:
        """Make the space for a screen of this size in pixels; `seed` is the seed of `sample`."""
        super().__init__(seed=seed)
        self.width, self.height = width, height

    def sample(self, mask: Any | None = None, probability: Any | None = None) -> dict[str, Any]:
        """Return an observation of random pixels without text."""
        vision: NDArray[np.uint8] = self.np_random.integers(
            0, 256, (self.height, self.width, 3), dtype=np.uint8
        )
        return {"vision": vision, "text": [], "instruction": None}

    def contains(self, x: Any) -> bool:
        """Return whether `x` is an observation of a screen of this size."""
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
        """False, because text has no fixed size."""
        return False

    def __repr__(self) -> str:
        return f"ObservationSpace({self.width}, {self.height})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObservationSpace) and (self.width, self.height) == (
            other.width,
            other.height,
        )

    __hash__ = None  # type: ignore[assignment]
