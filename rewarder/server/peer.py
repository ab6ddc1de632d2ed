"""A client of the rewarder's server: its connection, its session and the features that it wants."""

from __future__ import annotations

import time
from dataclasses import dataclass

from websockets.asyncio.connection import broadcast
from websockets.asyncio.server import ServerConnection
from websockets.protocol import State

from rewarder.protocol.features import wanted
from rewarder.protocol.sessions import ServerSession
from rewarder.server.upgrade import Extras, is_observer, peer_label


@dataclass(frozen=True, slots=True, eq=False)
class Peer:
    """A client after its upgrade."""

    websocket: ServerConnection
    session: ServerSession
    wants: frozenset[str]

    @property
    def is_open(self) -> bool:
        """Whether the connection is open. A closing one is not."""
        return self.websocket.state is State.OPEN

    @property
    def unsent(self) -> int:
        """Number of bytes that the client has not read yet."""
        return self.websocket.transport.get_write_buffer_size()

    def flush(self) -> None:
        """Write the session's messages to the socket without waiting for the client."""
        for frame in self.session.data_to_send():
            broadcast([self.websocket], frame)

    async def turn_away(self, code: int, reason: str) -> None:
        """Send the client the reason and close its connection."""
        self.session.announce_close(reason, time.time())
        self.flush()
        await self.websocket.close(code, reason)


def make_peer(websocket: ServerConnection, number: int, extras: Extras | None) -> Peer:
    """Return the peer of a new connection. It may want those features that `extras` offers."""
    session = ServerSession(number, observer=is_observer(websocket), label=peer_label(websocket))
    if extras is None or websocket.request is None:
        return Peer(websocket, session, frozenset())
    return Peer(websocket, session, wanted(websocket.request.headers) & extras.offer.features)
