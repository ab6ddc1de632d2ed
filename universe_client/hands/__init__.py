"""One remote as people think of a computer: look at it, click, type, and wait until it has reacted.

`Computer` is for agents that think for seconds between two acts, such as language models. Each act returns an
`Outcome`: the settled picture, what has changed, and the reward.
"""

from universe_client.hands.actions import (
    Action,
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
from universe_client.hands.aio import AsyncComputer
from universe_client.hands.computer import Computer
from universe_client.hands.errors import InvalidAction, LostWhileActing
from universe_client.hands.keys import parse_keys
from universe_client.hands.outcome import Outcome, Region, Stillness
from universe_client.hands.pictures import Picture

__all__ = [
    "Action",
    "AsyncComputer",
    "ButtonDown",
    "ButtonUp",
    "Click",
    "Computer",
    "Drag",
    "Hold",
    "InvalidAction",
    "LostWhileActing",
    "Move",
    "Outcome",
    "Picture",
    "Press",
    "Region",
    "Scroll",
    "Stillness",
    "Type",
    "Wait",
    "parse_keys",
]
