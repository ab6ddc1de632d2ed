"""What an agent may do and observe: events, action maps, and Gymnasium spaces for events, screens and text."""

from typing import TYPE_CHECKING, Any

from universe_client.renamed import missing, refuse_old_names
from universe_client.spaces.action_maps import ActionMap, Events, Keys, KeysAndPointer, KeySets, Pointer
from universe_client.spaces.click_grid import ClickGrid
from universe_client.spaces.events import EventSpace, ObservationSpace
from universe_client.spaces.pixel_box import PixelBox
from universe_client.spaces.text_space import TextSpace
from vnc.events import KeyEvent, PointerEvent

refuse_old_names(PointerEvent)  # here, because the package vnc does not know OpenAI Universe's names

__all__ = [
    "ActionMap",
    "ClickGrid",
    "EventSpace",
    "Events",
    "KeyEvent",
    "KeySets",
    "Keys",
    "KeysAndPointer",
    "ObservationSpace",
    "PixelBox",
    "Pointer",
    "PointerEvent",
    "TextSpace",
]


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # a type checker would take every name for an attribute of this package

    def __getattr__(name: str) -> Any:
        missing("universe_client.spaces", name)
