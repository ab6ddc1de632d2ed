"""The portable driver: asyncvnc's decoder in a session with deadlines, bounds and complete frames.

asyncvnc (GPL-3, imported only when this driver is used) decodes Raw and Zlib rectangles into an RGBA buffer. It
confuses Bell with ServerCutText, has no timeouts and trusts every length. Therefore only its rectangle decoder is used;
this module has the handshake, the message loop, requests, liveness, and a front buffer with complete frames only.
"""

from __future__ import annotations

import asyncio
import threading
import time
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from vnc import fences
from vnc.client import portable_messages as messages
from vnc.client.handshake import ServerInit, joined
from vnc.client.home import Home
from vnc.client.looks import Looks
from vnc.client.portable_reader import Stream
from vnc.client.portable_rects import RECT, RectReader, decoder
from vnc.client.taps import FrameQueue, Taps
from vnc.client.timed import LoopPlan
from vnc.encodings import EXTENDED_MOUSE_BUTTONS, RAW, ZLIB
from vnc.errors import PeerLost, ProtocolError, VNCError
from vnc.events import Event, TimedEvents, encode
from vnc.pixels.reduction import Reduction
from vnc.server.framebuffer.damage import Part, around
from vnc.session import Frame, Limits, PixelsBy, SessionStats, Timeouts, VNCAddress

_MANY = 64  # rectangles of one update above which they are copied as one
_PATIENCE = 0.02  # seconds without an update after which requests count as answered, see `_ask_again`


async def connect(
    address: VNCAddress,
    *,
    on_change: Callable[[], Any],
    limits: Limits = Limits(),  # noqa: B008  (frozen)
    timeouts: Timeouts = Timeouts(),  # noqa: B008
    encodings: Sequence[int] | None = None,
) -> PortableSession:
    """Open a session; see `vnc.session.Connect`. Only a mark of `encodings` counts: asyncvnc knows Zlib and Raw."""
    reader, writer, init = await joined(address, limits, timeouts)
    writer.write(messages.SET_PIXEL_FORMAT + messages.set_encodings(encodings or ()))
    return PortableSession(address, reader, writer, init, on_change, limits, timeouts)


class PortableSession:
    """A `vnc.session.Session` with asyncvnc's decoder, which runs on the event loop that opened it."""

    def __init__(
        self,
        address: VNCAddress,
        reader: StreamReader,
        writer: StreamWriter,
        init: ServerInit,
        on_change: Callable[[], Any],
        limits: Limits,
        timeouts: Timeouts,
    ) -> None:
        self.address = address
        self.name = init.name
        self.shape = (init.height, init.width, 3)
        self.frames, self.frame_time, self.generation = 0, 0.0, 0
        self.error: VNCError | None = None
        self.pixels_by: PixelsBy = "vnc"
        self.more_buttons = False
        self.stats = SessionStats()
        self._reader, self._writer = Stream(reader), writer
        self._on_change, self._limits, self._timeouts = on_change, limits, timeouts
        self._loop = asyncio.get_running_loop()
        self._home = Home().enter()
        self._plan = LoopPlan(lambda events: self._write(encode(events, self.more_buttons)))
        self._lock = threading.Lock()  # of the front buffer: the loop writes it, the agent's thread reads it
        self._front = np.zeros(self.shape, np.uint8)
        self._taps = Taps()
        self._rects = RectReader(self._reader)
        self._video = decoder(self._rects, writer, init)
        self._outstanding = 0  # requests without an answer yet; an update answers one or more of them
        self._patience = _PATIENCE
        self._again: asyncio.TimerHandle | None = None
        self._looks = Looks(self._ask)
        self._wanted = 0  # the newest refresh that a caller requested
        self._started = 0  # the newest refresh whose request was sent
        self._start_time = 0.0
        self._probes = 0  # probes whose one pixel has not arrived on its own
        self._held: list[Part] = []  # a probe's pixel that waits for the remaining pixels of its frame
        self._untrusted = 0  # expected updates that the server may have drawn before that refresh
        self._fences = False  # whether the server has sent one; before that a client must not
        self._fenced = 0  # the newest refresh whose fence was answered: later updates were drawn after it
        self._request_screen(incremental=False)
        self._task = asyncio.create_task(self._run(), name=f"vnc {address}")
        self._task.add_done_callback(self._ended)

    # -- any thread ---------------------------------------------------------------------------------------------

    def listen(self, listens: bool) -> bool:
        """See `vnc.session.Session.listen`; frames always wake the event loop, which decodes them."""
        self._looks.listen(listens)
        return False

    def next_look(self, look: float) -> None:
        """See `vnc.session.Session.next_look`."""
        self._home.enter()
        self._looks.announce(look)

    def take(self, out: Frame, reduction: Reduction | None = None) -> int:
        """See `vnc.session.Session.take`; this driver always copies or draws the whole frame."""
        self._home.enter()
        shape = out.shape if reduction is None else reduction.source
        if shape != self.shape:
            raise ValueError(f"array of shape {shape}, the screen is {self.shape}")
        with self._lock:
            if reduction is None:
                np.copyto(out, self._front)
            else:
                reduction.draw(self._front, out)
            return self.frames

    def tap(self, limit: int) -> FrameQueue:
        """See `vnc.session.Session.tap`."""
        with self._lock:
            tap = self._taps.open(limit)
            if self.frames:
                tap.add(self._front, self.frames, self.frame_time, self.generation)
            if self.error is not None:
                tap.end()
        self._looks.record()
        return tap

    def send(self, events: Sequence[Event]) -> None:
        """See `vnc.session.Session.send`."""
        self._home.enter()
        if events and self.error is None:
            self._on_loop(self._write, encode(events, self.more_buttons))

    def plan(self, since: float, timed: Sequence[TimedEvents]) -> int:
        """See `vnc.session.Session.plan`."""
        self._home.enter()
        return self._plan.replace(since, timed)

    def played(self) -> list[float]:
        """See `vnc.session.Session.played`."""
        return self._plan.played()

    def refresh(self) -> int:
        """See `vnc.session.Session.refresh`."""
        self._home.enter()
        with self._lock:
            self._wanted += 1
            wanted = self._wanted
        self._on_loop(self._start_refresh, wanted)
        return wanted

    def _on_loop(self, function: Callable[..., None], argument: object) -> None:
        with suppress(RuntimeError):  # the loop is closed, and with it the session
            self._loop.call_soon_threadsafe(function, argument)

    async def close(self) -> None:
        """See `vnc.session.Session.close`."""
        if self._home.is_elsewhere:
            return
        self._fail(PeerLost(f"{self.address}: closed by us"))
        self._task.cancel()
        await asyncio.wait([self._task], timeout=self._timeouts.close)

    # -- on the loop: requests ----------------------------------------------------------------------------------

    def _write(self, data: bytes) -> None:
        if self.error is not None:
            return
        self._writer.write(data)
        waiting = self._writer.transport.get_write_buffer_size()
        if waiting > self._limits.outgoing:
            self._fail(
                PeerLost(f"{self.address}: the server does not read; {waiting} bytes are waiting for it")
            )

    def _request(self, incremental: bool, width: int, height: int) -> None:
        self._outstanding += 1
        self._write(messages.request(incremental, width, height))

    def _request_screen(self, incremental: bool) -> None:
        height, width, _ = self.shape
        self._request(incremental, width, height)

    def _start_refresh(self, wanted: int) -> None:
        self._started = max(wanted, self._started)
        self._start_time = time.monotonic()
        self._untrusted = self._outstanding
        self._uncover()
        if self._fences:
            self._fence()
        self._request_screen(incremental=False)

    def _uncover(self) -> None:
        """Mark all pixels as missing: asyncvnc sets the alpha of every pixel that it decodes."""
        self._video.data[:, :, 3] = 0

    def _settle_refresh(self) -> None:
        """Check whether a finished update completes the current refresh.

        With fences, the server has drawn all updates after its answer to the refresh's fence. Without fences, an
        update answers at least one request: if N requests were outstanding at the refresh, the next N updates may
        still show the earlier screen.
        """
        if self._fences:
            if self._fenced == self._started and self._video.is_complete():
                self.generation = self._started
        elif self._untrusted:
            self._untrusted -= 1
            self._uncover()
        elif self._video.is_complete():
            self.generation = self._started
            self._patience = max(_PATIENCE, 2 * (time.monotonic() - self._start_time))

    def _ask_again(self) -> None:
        """Request the next change if no request is outstanding, or if a refresh needs another update.

        Otherwise an update may be on its way: a server may answer requests one by one or together. A request at once
        would leave one more outstanding after each refresh, so wait for longer than a round trip first.
        """
        refreshing = self.generation != self._started
        if self._outstanding == 0 or (refreshing and self._untrusted == 0):
            if refreshing or not self._looks.held:
                self._request_screen(incremental=not refreshing)
        else:
            self._again = self._loop.call_later(self._patience, self._answered_together)

    def _answered_together(self) -> None:
        self._outstanding = self._untrusted = 0
        self._ask_again()

    def _ask(self) -> bool:
        """Request the next change, unless a request is open."""
        asks = self._outstanding == 0
        if asks:
            self._request_screen(incremental=True)
        return asks

    def _stop_waiting(self) -> None:
        if self._again is not None:
            self._again.cancel()
            self._again = None

    # -- on the loop: reading -----------------------------------------------------------------------------------

    async def _run(self) -> None:
        try:
            while self.error is None:
                await self._read_message(await self._next_type())
        except VNCError as error:
            self._fail(error)
        except (OSError, EOFError):
            self._fail(PeerLost(f"{self.address}: the server closed the connection"))
        finally:
            self._writer.transport.abort()

    def _ended(self, task: asyncio.Task[None]) -> None:
        """End the session if this driver failed; otherwise it would look like a silent server."""
        if not task.cancelled() and (error := task.exception()) is not None:
            self._fail(PeerLost(f"{self.address}: the driver failed: {error!r}"))
            raise error

    def _fail(self, error: VNCError) -> None:
        if self.error is None:
            self.error = error
            self._stop_waiting()
            self._looks.stop()
            self._writer.transport.abort()
            with self._lock:
                self._taps.end()
            self._on_change()

    async def _next_type(self) -> int:
        """Read the next message type; send a probe to a silent server, which a running one answers at once."""
        if not self._reader.has_more:
            await self._wait()
        return (await self._reader.readexactly(1))[0]

    async def _wait(self) -> None:
        timeouts = self._timeouts
        try:
            async with asyncio.timeout(timeouts.probe_interval):
                return await self._reader.wait()
        except TimeoutError:
            if self._fences:  # Xvnc answers a fence even while it considers the connection congested
                self._write(fences.encode(fences.REQUEST, b""))
            self._request(incremental=False, width=1, height=1)
            self._probes += 1
        try:
            async with asyncio.timeout(timeouts.probe_deadline):
                await self._reader.wait()
        except TimeoutError:
            late = f"no answer to a probe within {timeouts.probe_deadline:g} s"
            raise PeerLost(f"{self.address}: {late}") from None

    async def _read_message(self, kind: int) -> None:
        try:
            async with asyncio.timeout(self._timeouts.update):
                await self._messages(kind)
        except TimeoutError:
            raise PeerLost(
                f"{self.address}: message {kind} unfinished after {self._timeouts.update:g} s"
            ) from None

    async def _messages(self, kind: int) -> None:
        match kind:
            case 0:
                await self._read_update()
            case 1:
                await messages.skip_colour_map(self._reader)
            case 2:
                self._reader.skip(messages.BELL)  # no body; consecutive ones are read together
            case 3:
                length = await messages.skip_cut_text(self._reader, self.address)
                self.stats.long_cut_texts += length > self._limits.cut_text
            case 248:
                await self._read_fence()
            case _:
                raise ProtocolError(f"{self.address}: message type {kind} does not exist")

    async def _read_fence(self) -> None:
        flags, payload = await messages.read_fence(self._reader, self.address)
        if flags & fences.REQUEST:
            self._write(fences.encode(flags & fences.FLAGS, payload))
            if not self._fences and self.generation != self._started:
                self._fence()  # for the current refresh
            self._fences = True
        elif payload == self._started.to_bytes(8, "big"):
            self._fenced = self._started
            self._uncover()

    def _fence(self) -> None:
        self._write(fences.encode(fences.REQUEST | fences.BLOCK_BEFORE, self._started.to_bytes(8, "big")))

    async def _read_update(self) -> None:
        self._stop_waiting()
        # 1 padding + 2 number of rects (RFC 6143 section 7.6.1)
        count = int.from_bytes((await self._reader.readexactly(3))[1:], "big")
        rects: list[Part] = []
        for number in range(count):
            if (rect := await self._read_rect(number)) is not None:
                rects.append(rect)
            if len(rects) > _MANY:
                rects = [around(rects)]  # its unchanged pixels are in the front buffer already
        self._outstanding = max(self._outstanding - 1, 0)
        if self._is_torn(rects):
            self._held = rects
            self._request_screen(incremental=False)
        elif rects:
            held, self._held = self._held, []
            self._show(held + rects)
        if self.generation != self._started:
            self._settle_refresh()
        if rects and not self._held:
            with self._lock:
                self._taps.add(self._front, self.frames, self.frame_time, self.generation)
        self._ask_again()
        self._on_change()

    def _is_torn(self, rects: list[Part]) -> bool:
        """Whether this is only the answer to a probe, whose pixel belongs to a newer frame that has yet to arrive."""
        alone = self._probes > 0 and rects == [(slice(0, 1), slice(0, 1))]
        self._probes -= alone
        return alone and bool((self._video.data[0, 0, :3] != self._front[0, 0]).any())

    async def _read_rect(self, number: int) -> Part | None:
        header = await self._reader.readexactly(RECT.size)
        x, y, width, height, encoding = RECT.unpack(header)
        what = f"{self.address}: rect {number} ({x}, {y}, {width}x{height}, encoding {encoding})"
        rows, columns, _ = self.shape
        if x + width > columns or y + height > rows:
            raise ProtocolError(f"{what}, offset 0: rect outside the {columns}x{rows} framebuffer")
        if encoding == EXTENDED_MOUSE_BUTTONS:
            self.more_buttons = True
            return None
        if encoding not in (RAW, ZLIB):
            raise ProtocolError(f"{what}, offset 0: encoding was not requested")
        length = await self._rects.draw_named(self._video, header, what)
        self.stats.rectangles += 1
        self.stats.pixels += width * height
        self.stats.bytes += RECT.size + length
        return slice(y, y + height), slice(x, x + width)

    def _show(self, rects: list[Part]) -> None:
        with self._lock:
            for rows, columns in rects:
                self._front[rows, columns] = self._video.data[rows, columns, :3]
            self.frames += 1
            self.frame_time = time.monotonic()
        self.stats.updates += 1
        self._looks.frame()
