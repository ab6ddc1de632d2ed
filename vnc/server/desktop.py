"""What all connections of a server have in common."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vnc.events import Event
from vnc.server.framebuffer.screen import Screen
from vnc.server.framebuffer.source import Source
from vnc.server.handover import Handover
from vnc.server.limits import ServerLimits
from vnc.server.penalties import Penalties
from vnc.vncauth import Passwords

if TYPE_CHECKING:
    from vnc.server.client import ClientConnection


@dataclass(slots=True)
class Desktop:
    """The state that all connections of a server share."""

    screen: Screen
    name: str
    passwords: Passwords
    view_only: bool
    on_events: Callable[[Sequence[Event]], object] | None
    on_input: Callable[[Sequence[Event], int | None], object] | None
    limits: ServerLimits
    penalties: Penalties
    source: Source | None = None
    tls: ssl.SSLContext | None = None
    handover: Handover | None = None
    connections: set[ClientConnection] = field(default_factory=set)
    closed: bool = False

    def deliver(self, events: Sequence[Event], mark: int | None) -> None:
        """Report the input of a client, which has set `mark` among its encodings."""
        if events and self.on_input is not None:
            self.on_input(events, mark)
        if events and self.on_events is not None:
            self.on_events(events)
