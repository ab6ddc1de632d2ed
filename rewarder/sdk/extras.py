"""Features of a served runtime beyond v0: lock-step, environment observations, calls, and the input of people."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

import numpy as np

from rewarder.protocol.features import ENV_OBSERVATION, INPUT, LOCKSTEP, TICKS, Offer
from rewarder.protocol.messages import Call, EnvObservationSpace, ReplyCall
from rewarder.protocol.sessions import CallRequest, StepRequest, WatchRequest
from rewarder.protocol.values import pack, unpack
from rewarder.sdk.environment import Box, Runtime
from rewarder.sdk.loop.inbox import Inbox
from rewarder.sdk.loop.input_feed import InputFeed
from rewarder.sdk.loop.worker import Worker
from rewarder.server.server import RewarderServer

PENDING_CALLS = 16
"""Calls that may wait for their answer; the next one is answered with an error."""


class Extras:
    """Announces and provides the features of one runtime. Use it on the event loop's thread."""

    def __init__(
        self, runtime: Runtime, worker: Worker, inbox: Inbox, feed: InputFeed, calls: Collection[str]
    ) -> None:
        """Allow clients to call, read and set the attributes `calls` of `runtime.inside`.

        Raises:
            ValueError: a name is not that of a public attribute, or the runtime has no `inside`.
        """
        for name in calls:
            if not name.isidentifier() or name.startswith("_"):
                raise ValueError(f"{name!r} is not the name of a public attribute")
        if calls and runtime.inside is None:
            raise ValueError(f"{', '.join(runtime.env_ids)} has no attributes that clients may call")
        self._runtime, self._worker, self._inbox, self._feed = runtime, worker, inbox, feed
        self._space = runtime.env_observation_space
        features = {
            LOCKSTEP: runtime.lockstep,
            TICKS: runtime.lockstep and not runtime.display,  # frames of a display do not pass through here
            ENV_OBSERVATION: self._space is not None,
            INPUT: True,
        }
        self.offer = Offer(frozenset(name for name, offered in features.items() if offered), frozenset(calls))
        self._calls: set[asyncio.Task[None]] = set()

    @property
    def env_observation_space(self) -> EnvObservationSpace | None:
        """The first message to a client that wants environment observations."""
        return None if self._space is None else _space(self._space)

    def activate(self, wants: frozenset[str]) -> None:
        """Switch to the features that the controlling client wants; none without a client."""
        self._inbox.set_lockstep(LOCKSTEP in wants)
        self._runtime.stepped = LOCKSTEP in wants
        self._runtime.env_observation_wanted = ENV_OBSERVATION in wants

    def handle(self, request: StepRequest | CallRequest | WatchRequest, server: RewarderServer) -> None:
        """Queue a step, or begin a call, which are answered when they are complete; or begin to report input."""
        if isinstance(request, StepRequest):
            self._inbox.step(request)
        elif isinstance(request, WatchRequest):
            self._feed.watch(request, server)
        elif len(self._calls) >= PENDING_CALLS:
            server.reply_error(request, f"{PENDING_CALLS} calls are already waiting")
        else:
            task = asyncio.create_task(self._answer(request, server))
            self._inbox.interrupt()
            self._calls.add(task)
            task.add_done_callback(self._calls.discard)

    async def _answer(self, request: CallRequest, server: RewarderServer) -> None:
        try:
            server.reply_call(request, await self._worker.call(self._perform, request.call))
        except Exception as error:  # noqa: BLE001 - the client receives any exception of the environment
            server.reply_error(request, f"{type(error).__name__}: {error}"[:1000])

    def _perform(self, call: Call) -> ReplyCall:
        """Perform a call on the environment's thread, between two ticks."""
        if call.name not in self.offer.calls:
            allowed = ", ".join(sorted(self.offer.calls)) or "none"
            raise LookupError(f"{call.name[:64]!r} may not be called; allowed names: {allowed}")
        inside, arguments = self._runtime.inside, [unpack(value) for value in call.args]
        if call.operation == "set" and len(arguments) == 1:
            setattr(inside, call.name, arguments[0])
            return ReplyCall()
        member = getattr(inside, call.name)
        if call.operation == "call":
            keywords = {name: unpack(value) for name, value in call.kwargs.items()}
            return ReplyCall(pack(member(*arguments, **keywords) if callable(member) else member))
        if call.operation == "get":
            return ReplyCall(is_method=True) if callable(member) else ReplyCall(pack(member))
        raise ValueError(f"operation {call.operation[:16]!r} with {len(arguments)} arguments")


def _space(box: Box) -> EnvObservationSpace:
    return EnvObservationSpace(pack(np.asarray(box.low)), pack(np.asarray(box.high)))
