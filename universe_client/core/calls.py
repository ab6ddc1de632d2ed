"""Calls of the methods and attributes of remotes' environments (`v1.env.call`): each side of the thread boundary."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from rewarder.client import RewarderClient
from rewarder.protocol.messages import Call, Envelope, ReplyCall, ReplyError
from rewarder.protocol.values import pack, unpack
from universe_client.core.event_loop.loop import LoopThread
from universe_client.errors import CallFailed, ConfigError, RemoteError, Unsupported

if TYPE_CHECKING:
    from universe_client.core.link import Link

Indices = int | Sequence[int] | None


class Method:
    """What a `get` returns for an attribute that is a method."""


METHOD = Method()


class PendingCalls:
    """The calls of one remote that have no answer yet. Used on the event loop's thread."""

    def __init__(self) -> None:
        self._waiting: dict[int, asyncio.Future[ReplyCall]] = {}

    async def ask(self, rewarder: RewarderClient | None, call: Call, remote: str, patience: float) -> Any:
        """Send `call` and wait for the answer.

        Args:
            rewarder: the connection; None for a remote without a rewarder.
            call: the call.
            remote: the label of the remote, for errors.
            patience: seconds to wait.

        Returns:
            What the call returned; `METHOD` for a "get" of a method.

        Raises:
            Unsupported: the remote does not allow this name.
            CallFailed: the environment raised, the connection ended, or no answer came within `patience` seconds.
        """
        if rewarder is None or call.name not in rewarder.offer.calls:
            allowed = ", ".join(sorted(rewarder.offer.calls) if rewarder else ()) or "nothing"
            raise Unsupported(
                f"{call.name!r} may not be called: the remote allows {allowed}", remote=remote, stage="call"
            )
        try:
            number = rewarder.call(call)
        except ValueError as error:  # larger than the maximum size of a message
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
        """Process a message, which may be an answer."""
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
        """Fail all calls: the connection has ended."""
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(CallFailed(str(error.args[0]), remote=error.remote, stage="call"))


class RemoteCalls:
    """The methods and attributes of the environments of several remotes. Used on the agent's thread."""

    def __init__(self, links: Sequence[Link], loop: LoopThread) -> None:
        """Call through `links`, which are used on the thread of `loop`."""
        self._links, self._loop = links, loop

    def call(self, name: str, args: Sequence[Any], kwargs: dict[str, Any], indices: Indices) -> list[Any]:
        """See `VectorEnv.call`."""
        packed = _packed("call", name, args, kwargs)
        return self._ask(packed, self.chosen(indices))

    def get_attr(self, name: str, indices: Indices) -> list[Any]:
        """See `VectorEnv.get_attr`."""
        chosen = self.chosen(indices)
        values = self._ask(Call("get", name), chosen)
        return [
            partial(self._call_one, index, name) if value is METHOD else value
            for index, value in zip(chosen, values, strict=True)
        ]

    def set_attr(self, name: str, value: Any, indices: Indices) -> None:
        """See `VectorEnv.set_attr`."""
        self._ask(_packed("set", name, (value,), {}), self.chosen(indices))

    def callable_names(self, index: int) -> frozenset[str]:
        """See `VectorEnv.callable_names`."""
        link = self._links[index]
        rewarder = link.rewarder or self._loop.run(link.connected())
        return frozenset() if rewarder is None else rewarder.offer.calls

    def chosen(self, indices: Indices) -> list[int]:
        """Return the remotes that `indices` select, as numbers from 0; None selects all.

        Raises:
            ConfigError: an index is out of range.
        """
        n = len(self._links)
        if indices is None:
            return list(range(n))
        chosen = [indices] if isinstance(indices, int) else [int(index) for index in indices]
        if not all(-n <= index < n for index in chosen):
            raise ConfigError(f"indices {chosen} are not all within {-n}..{n - 1}")
        return [index % n for index in chosen]

    def _call_one(self, index: int, name: str, *args: Any, **kwargs: Any) -> Any:
        return self.call(name, args, kwargs, index)[0]

    def _ask(self, call: Call, chosen: Sequence[int]) -> list[Any]:
        async def ask() -> list[Any]:
            return await asyncio.gather(*(self._links[index].call(call) for index in chosen))

        return self._loop.run(ask())


def _packed(operation: str, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Call:
    try:
        packed = {key: pack(value) for key, value in kwargs.items()}
        return Call(operation, name, [pack(value) for value in args], packed)
    except ValueError as error:
        raise ConfigError(f"{name}: {error}") from error
