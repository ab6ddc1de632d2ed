"""vncdotool as a client of a replay; it supports Raw, CopyRect, RRE, Hextile and ZRLE."""

from __future__ import annotations

import time
from typing import Any

from twisted.internet import reactor as _reactor
from vncdotool import rfb
from vncdotool.client import VNCDoToolClient, VNCDoToolFactory

from benchmarks.clients.meter import Meter, Usage

reactor: Any = _reactor  # mypy treats zope interfaces as classes
_ENCODINGS = [
    rfb.Encoding.HEXTILE,
    rfb.Encoding.ZRLE,
    rfb.Encoding.RRE,
    rfb.Encoding.COPY_RECTANGLE,
    rfb.Encoding.RAW,
    rfb.Encoding.PSEUDO_LAST_RECT,
]


class _Client(VNCDoToolClient):  # type: ignore[misc]  # it has no types
    def vncConnectionMade(self) -> None:
        self.setImageMode()
        self.setEncodings(_ENCODINGS)
        self.updates = 0
        self.framebufferUpdateRequest()

    def commitUpdate(self, *arguments: object) -> None:
        super().commitUpdate(*arguments)
        self.updates += 1
        factory = self.factory
        if self.updates == 1:
            factory.meter.begin(1)
        if self.updates == factory.wanted:
            factory.usage = factory.meter.usage(self.updates, time.monotonic())
            reactor.stop()
            return
        self.framebufferUpdateRequest(incremental=True)


class _Factory(VNCDoToolFactory):  # type: ignore[misc]
    protocol = _Client
    usage: Usage | None = None

    def __init__(self, wanted: int) -> None:
        super().__init__()
        self.wanted = wanted
        self.meter = Meter()
        self.lost = ""

    def clientConnectionLost(self, connector: object, reason: object) -> None:
        if self.usage is None and not self.lost:
            self.lost = str(reason)
            reactor.stop()

    clientConnectionFailed = clientConnectionLost


def run(port: int, updates: int) -> Usage:
    factory = _Factory(updates)
    reactor.connectTCP("127.0.0.1", port, factory)
    reactor.run()
    if factory.usage is None:
        raise SystemExit(f"vncdotool lost its connection: {factory.lost}")
    return factory.usage
