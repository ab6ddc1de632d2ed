"""The objects of the stand-in, their versions, and the history that watches read."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Callable
from functools import partial

from universe_client.providers.kubernetes.cluster import Kind
from universe_client.providers.kubernetes.fake.objects import Object, Refusal


class Store:
    """Objects by kind and name."""

    def __init__(self) -> None:
        self._objects: dict[str, dict[str, Object]] = {}
        self._versions = itertools.count(1)
        self._history: list[tuple[int, str, Object]] = []  # version, event, copy of the object
        self._forgotten = 0  # the newest version that the history lacks
        self._changed = asyncio.Condition()

    def all(self, kind: Kind) -> list[Object]:
        """Return the objects of a kind."""
        return list(self._objects.get(kind.plural, {}).values())

    def get(self, kind: Kind, name: str) -> Object | None:
        """Return an object; None if there is none of this name."""
        return self._objects.get(kind.plural, {}).get(name)

    async def put(self, kind: Kind, found: Object) -> None:
        """Add an object, or note that it has changed."""
        known = self._objects.setdefault(kind.plural, {})
        event = "MODIFIED" if found["metadata"]["name"] in known else "ADDED"
        known[found["metadata"]["name"]] = found
        await self._note(event, found)

    async def remove(self, kind: Kind, found: Object) -> None:
        """Delete an object."""
        if self._objects.get(kind.plural, {}).pop(found["metadata"]["name"], None) is not None:
            await self._note("DELETED", found)

    async def forget(self) -> None:
        """Drop the history: watches from older versions end with 410, as after a compaction of etcd."""
        async with self._changed:
            self._forgotten = next(self._versions)
            self._history.clear()
            self._changed.notify_all()

    async def _note(self, event: str, found: Object) -> None:
        version = next(self._versions)
        found["metadata"]["resourceVersion"] = str(version)
        async with self._changed:
            self._history.append((version, event, json.loads(json.dumps(found))))
            self._changed.notify_all()

    async def events(
        self, kind: Kind, wanted: Callable[[Object], bool], since: int
    ) -> AsyncIterator[tuple[str, Object]]:
        """Yield the events after version `since`, as they happen."""
        while True:
            if since < self._forgotten:
                yield "ERROR", Refusal(410, "Expired", f"too old resource version: {since}").status
                return
            for version, event, found in [entry for entry in self._history if entry[0] > since]:
                since = version
                if found["kind"] == kind.name and wanted(found):
                    yield event, found
            async with self._changed:
                await self._changed.wait_for(partial(self._is_news, since))

    def _is_news(self, since: int) -> bool:
        return since < self._forgotten or (bool(self._history) and self._history[-1][0] > since)
