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
    limits: ServerLimits
    penalties: Penalties
    source: Source | None = None
    tls: ssl.SSLContext | None = None
    handover: Handover | None = None
    connections: set[ClientConnection] = field(default_factory=set)
    closed: bool = False
