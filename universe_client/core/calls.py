"""Calls into a remote's environment (`v1.env.call`), from the question to its answer."""

from __future__ import annotations

import asyncio
from typing import Any

from rewarder.client import RewarderClient
from rewarder.protocol.messages import Call, Envelope, ReplyCall, ReplyError
from rewarder.protocol.values import unpack
from universe_client.errors import CallFailed, RemoteError, Unsupported


class Method:
    """What `get` returns of something that is there to be called."""


METHOD = Method()


class PendingCalls:
    """The calls of one remote that are not answered yet. Lives on the event loop's thread."""

    def __init__(self) -> None:
        self._waiting: dict[int, asyncio.Future[ReplyCall]] = {}

    async def ask(self, rewarder: RewarderClient | None, call: Call, remote: str, patience: float) -> Any:
        """Send `call`, and return what it returned; `METHOD` for a "get" of a method.

        Raises:
            Unsupported: the remote has not listed this name.
            CallFailed: the environment raised, the connection ended, or there is no answer within `patience` seconds.
        """
        if rewarder is None or call.name not in rewarder.offer.calls:
            listed = ", ".join(sorted(rewarder.offer.calls) if rewarder else ()) or "nothing"
            raise Unsupported(
                f"{call.name!r} is not what it lets be called: {listed}", remote=remote, stage="call"
            )
        try:
            number = rewarder.call(call)
        except ValueError as error:  # larger than a message may be
            raise CallFailed(str(error), remote=remote, stage="call") from error
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(patience):
                reply = await answer
            return METHOD if reply.is_method else unpack(reply.value)
        except TimeoutError:
            raise CallFailed(
                f"{call.name}: no answer within {patience:g} s", remote=remote, stage="call"
            ) from None
        except ValueError as error:
            raise CallFailed(f"{call.name}: {error}", remote=remote, stage="call") from error
        finally:
            del self._waiting[number]

    def receive(self, envelope: Envelope, remote: str) -> None:
        """A message has come: perhaps an answer."""
        parent, message = envelope.headers.parent_message_id, envelope.message
        answer = None if parent is None else self._waiting.get(parent)
        if answer is None or answer.done():
            return
        if isinstance(message, ReplyError):
            reason = message.message or "no reason given"
            answer.set_exception(CallFailed(reason, remote=remote, stage="call"))
        elif isinstance(message, ReplyCall):
            answer.set_result(message)

    def lose(self, error: RemoteError) -> None:
        """The connection is over, and no answer will come."""
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(CallFailed(str(error.args[0]), remote=error.remote, stage="call"))
