"""Requests and input of clients that wait for the environment's next tick."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from rewarder.protocol.messages import MAX_TICKS
from rewarder.protocol.sessions import Request, ResetRequest, StepRequest
from vnc.events import MOST_BUTTONS, Event, KeyEvent, PointerEvent

PENDING_RESETS = 16
"""Resets that may wait for an earlier one; the next one is answered with an error."""
PENDING_EVENTS = 4096
"""Input events, and likewise actions, of one tick; further ones are dropped."""
MAX_SEED = 2**63 - 1


class Interruptible(Protocol):
    """What runs steps without the inbox: `rewarder.sdk.loop.lane.Lane`."""

    def interrupt(self) -> None:
        """Let the player do something else."""
        ...

    def hang_up(self) -> None:
        """End."""
        ...


@dataclass(frozen=True, slots=True)
class LockStep:
    """A step whose reply a lock-step client awaits, and its input."""

    request: StepRequest
    events: list[Event]


class Inbox:
    """A queue of resets, steps and input. Use it on the event loop's thread.

    A waiting step arrived before any waiting reset, because a client sends no step while it awaits a reset.

    Attributes:
        resets: the waiting resets, oldest first.
        lockstep: whether the controlling client steps the environment; input over VNC is then dropped.
        refuse: answers a request with an error; set by the owner before the first request.
    """

    def __init__(self, env_ids: Sequence[str]) -> None:
        self.resets: deque[ResetRequest] = deque()
        self.lockstep = False
        self.refuse: Callable[[Request, str], None] = _nobody
        self._env_ids = env_ids
        self._step: LockStep | None = None
        self._events: list[Event] = []
        self._actions: deque[Sequence[object]] = deque()
        self._lane: Interruptible | None = None
        self._has_news = False
        self._waiter: asyncio.Future[None] | None = None

    def reset(self, request: ResetRequest) -> None:
        """Queue a reset, or answer it with an error."""
        refusal = self._refusal(request)
        if refusal is None:
            self.resets.append(request)
            self.interrupt()
        else:
            self.refuse(request, refusal)

    def take_reset(self) -> ResetRequest | None:
        """Return the oldest waiting reset."""
        return self.resets.popleft() if self.resets else None

    def step(self, request: StepRequest) -> None:
        """Keep a step for the next tick, or answer it with an error."""
        if not self.lockstep or self._step is not None:
            self.refuse(request, "a step is already waiting" if self.lockstep else "not in lock-step")
            return
        if self._lane is not None:
            self.refuse(request, "the steps of this remote come over its step channel")
            return
        try:
            self._step = LockStep(request, step_input(request.events, request.ticks))
        except ValueError as error:
            self.refuse(request, str(error))
        self.notify()

    @property
    def has_news(self) -> bool:
        """Whether something has ended the wait, or will end it as soon as the waiting task runs."""
        return self._has_news

    @property
    def has_step(self) -> bool:
        """Whether a step is waiting."""
        return self._step is not None

    def take_step(self) -> LockStep | None:
        """Return the waiting step, and forget it."""
        step, self._step = self._step, None
        return step

    def set_lockstep(self, lockstep: bool) -> None:
        """Switch between lock-step and real time, as the controlling client wants; forget a waiting step."""
        self.lockstep = lockstep
        self._step = None
        if self._lane is not None:
            self._lane.hang_up()
        self.interrupt()

    def attach(self, lane: Interruptible | None) -> None:
        """Note what runs the steps of the controlling client instead of this inbox."""
        self._lane = lane
        self.notify()

    def interrupt(self) -> None:
        """End a wait, also that of a `Lane`: there is something else to do."""
        self.notify()
        if self._lane is not None:
            self._lane.interrupt()

    def events(self, events: Sequence[Event]) -> None:
        """Keep input over VNC for the next tick; in lock-step, drop it."""
        if not self.lockstep:
            self._events += events[: PENDING_EVENTS - len(self._events)]

    def action(self, action: Sequence[object], env_id: str | None = None) -> None:
        """Keep a `v0.agent.action` for the next tick."""
        if len(self._actions) < PENDING_EVENTS:
            self._actions.append(action)

    def take_input(self) -> tuple[list[Event], list[Sequence[object]]]:
        """Return the events and actions since the last call; see `take_actions`."""
        events, self._events = self._events, []
        return events, self.take_actions()

    def take_actions(self) -> list[Sequence[object]]:
        """Return the actions since the last call; it may be called on any thread."""
        return [self._actions.popleft() for _ in range(len(self._actions))]

    def drop_input(self) -> None:
        """Forget input that arrived before an episode began, and refuse a step that did."""
        self.take_input()
        self.drop_step(self.take_step())

    def drop_step(self, step: LockStep | None) -> None:
        """Answer a step that will not run with an error."""
        if step is not None:
            self.refuse(step.request, "overtaken by a reset")

    async def wait(self, seconds: float | None = None) -> bool:
        """Wait for a reset, a step or a change of `lockstep`; return False if none arrives within `seconds`.

        The event loop handles what has arrived on sockets, also if `seconds` is 0.
        """
        self._has_news = False
        if seconds == 0:
            await asyncio.sleep(0)
            return self._has_news
        loop = asyncio.get_running_loop()
        self._waiter = loop.create_future()
        timer = None if seconds is None else loop.call_later(seconds, self._wake)
        try:
            await self._waiter
        finally:
            if timer is not None:
                timer.cancel()
        return self._has_news

    def notify(self) -> None:
        """End a wait."""
        self._has_news = True
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _refusal(self, request: ResetRequest) -> str | None:
        if request.env_id is not None and request.env_id not in self._env_ids:
            return f"unknown env_id {request.env_id[:200]!r}, this remote serves {', '.join(self._env_ids)}"
        if request.seed is not None and not 0 <= request.seed <= MAX_SEED:
            return f"seed {request.seed} is out of range, a seed is 0 to {MAX_SEED}"
        if len(self.resets) >= PENDING_RESETS:
            return f"{PENDING_RESETS} resets are already waiting"
        return None


def step_input(events: Sequence[Sequence[Any]], ticks: int) -> list[Event]:
    """Return the input of a step.

    Raises:
        ValueError: an event or the number of ticks is invalid.
    """
    if not 1 <= ticks <= MAX_TICKS:
        raise ValueError(f"a step of {ticks} ticks, it must have 1 to {MAX_TICKS}")
    return [_event(event) for event in events[:PENDING_EVENTS]]


def _event(event: Sequence[Any]) -> Event:
    match event:
        case ["KeyEvent", int() as keysym, bool() as down] if 0 <= keysym < 1 << 32:
            return KeyEvent(keysym, down)
        case ["PointerEvent", int() as x, int() as y, int() as mask] if _fits(x, y, mask):
            return PointerEvent(x, y, mask)
    raise ValueError(
        f"{str(event)[:64]} is not an event: ['KeyEvent', keysym, down] or ['PointerEvent', x, y, button_mask]"
    )


def _fits(x: int, y: int, mask: int) -> bool:
    return 0 <= x < 1 << 16 and 0 <= y < 1 << 16 and 0 <= mask <= MOST_BUTTONS


def _nobody(request: Request, message: str) -> None:
    raise RuntimeError("a request arrived before the server was set")
