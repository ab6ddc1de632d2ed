"""What clients sent and an environment has not seen yet."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rewarder.protocol.sessions import Request, ResetRequest, StepRequest
from vnc.events import Event, KeyEvent, PointerEvent

PENDING_RESETS = 16
"""Resets that may wait for an earlier one; a client that asks for more is told so."""
PENDING_EVENTS = 4096
"""Input events (and likewise actions) of one tick; more than that in a 60th of a second is a flood, and dropped."""
MAX_SEED = 2**63 - 1


@dataclass(frozen=True, slots=True)
class LockStep:
    """A step that a lock-step client waits for, and its input."""

    request: StepRequest
    events: list[Event]


class Inbox:
    """Resets, steps and input in waiting. Lives on the event loop's thread.

    A step that waits came before any reset that does: a client has no use for one while it awaits a reset.

    Attributes:
        resets: the resets, oldest first.
        lockstep: whether the controlling client steps the environment; input over VNC then does not count.
        refuse: how a request is refused; the server that reads the requests, once there is one.
    """

    def __init__(self, env_ids: Sequence[str]) -> None:
        self.resets: deque[ResetRequest] = deque()
        self.lockstep = False
        self.refuse: Callable[[Request, str], None] = _nobody
        self._env_ids = env_ids
        self._step: LockStep | None = None
        self._events: list[Event] = []
        self._actions: list[Sequence[object]] = []
        self._news = asyncio.Event()

    def reset(self, request: ResetRequest) -> None:
        """Queue a reset, or refuse it."""
        refusal = self._refusal(request)
        if refusal is None:
            self.resets.append(request)
            self._news.set()
        else:
            self.refuse(request, refusal)

    def take_reset(self) -> ResetRequest | None:
        """Return the oldest waiting reset."""
        return self.resets.popleft() if self.resets else None

    def step(self, request: StepRequest) -> None:
        """Keep a step until its turn, or refuse it."""
        if not self.lockstep or self._step is not None:
            self.refuse(request, "a step is waiting already" if self.lockstep else "not in lock-step")
            return
        try:
            self._step = LockStep(request, [_event(event) for event in request.events[:PENDING_EVENTS]])
        except ValueError as error:
            self.refuse(request, str(error))
        self._news.set()

    @property
    def has_step(self) -> bool:
        """Whether a step waits."""
        return self._step is not None

    def take_step(self) -> LockStep | None:
        """Return the step that waits."""
        step, self._step = self._step, None
        return step

    def set_lockstep(self, lockstep: bool) -> None:
        """The controlling client, a new one or none, steps the environment or leaves it to real time."""
        self.lockstep = lockstep
        self._step = None
        self._news.set()

    def events(self, events: Sequence[Event]) -> None:
        """Keep input over VNC for the next tick."""
        if not self.lockstep:
            self._events += events[: PENDING_EVENTS - len(self._events)]

    def action(self, action: Sequence[object], env_id: str | None = None) -> None:
        """Keep a `v0.agent.action` for the next tick."""
        if len(self._actions) < PENDING_EVENTS:
            self._actions.append(action)

    def take_input(self) -> tuple[list[Event], list[Sequence[object]]]:
        """Return the events and actions since the last call."""
        events, self._events = self._events, []
        actions, self._actions = self._actions, []
        return events, actions

    def drop_input(self) -> None:
        """Forget all input of the time before an episode, and refuse a step of that time."""
        self.take_input()
        self.drop_step(self.take_step())

    def drop_step(self, step: LockStep | None) -> None:
        """Refuse a step that will not be lived."""
        if step is not None:
            self.refuse(step.request, "overtaken by a reset")

    async def wait(self, seconds: float | None = None) -> bool:
        """Wait for a reset, a step or the other pace, whichever comes after this call; return False if none did."""
        self._news.clear()
        try:
            async with asyncio.timeout(seconds):
                await self._news.wait()
        except TimeoutError:
            return False
        return True

    def _refusal(self, request: ResetRequest) -> str | None:
        if request.env_id is not None and request.env_id not in self._env_ids:
            return f"unknown env_id {request.env_id[:200]!r}, this remote serves {', '.join(self._env_ids)}"
        if request.seed is not None and not 0 <= request.seed <= MAX_SEED:
            return f"a seed is 0 to {MAX_SEED}, not {request.seed}"
        if len(self.resets) >= PENDING_RESETS:
            return f"{PENDING_RESETS} resets are waiting already"
        return None


def _event(event: Sequence[Any]) -> Event:
    match event:
        case ["KeyEvent", int() as keysym, bool() as down] if 0 <= keysym < 1 << 32:
            return KeyEvent(keysym, down)
        case ["PointerEvent", int() as x, int() as y, int() as mask] if _fits(x, y, mask):
            return PointerEvent(x, y, mask)
    raise ValueError(f"{str(event)[:64]} is no event")


def _fits(x: int, y: int, mask: int) -> bool:
    return 0 <= x < 1 << 16 and 0 <= y < 1 << 16 and 0 <= mask < 1 << 8


def _nobody(request: Request, message: str) -> None:
    raise RuntimeError("a request came before there was a server")
