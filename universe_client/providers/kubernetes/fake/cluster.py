"""The API server of the stand-in: the requests that the providers send, answered over HTTP.

It follows the conventions of the Kubernetes API (names, labels, resource versions, watches, merge patches, deletion of
collections, `Status` objects), and refuses unknown fields.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from aiohttp import web

from universe_client.providers.kubernetes.agones import ALLOCATION, GAME_SERVER
from universe_client.providers.kubernetes.cluster import Kind
from universe_client.providers.kubernetes.fake.controllers import AgonesController, Pod, SandboxController
from universe_client.providers.kubernetes.fake.objects import (
    SHAPES,
    Object,
    Refusal,
    checked,
    merged,
    missing,
)
from universe_client.providers.kubernetes.fake.store import Store
from universe_client.providers.kubernetes.sandbox import SANDBOX_CLAIM

_COLLECTION = "/apis/{group}/{version}/namespaces/{namespace}/{plural}"
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class FakeCluster:
    """The API server and the controllers of a cluster with one namespace.

    Attributes:
        namespace, warm_pool, fleet: the only ones.
        token: what a request must bear.
        requests: how many requests came, by method and kind.
        failures: HTTP status codes with which the next requests are answered.
        sandboxes, game_servers: the controllers.
        store: the objects.
        url: of the API.
    """

    namespace, warm_pool, fleet = "agents", "pool", "fleet"

    def __init__(self, sandboxes: Sequence[Pod] = (), game_servers: Sequence[Pod] = ()) -> None:
        """Take the pods of the warm pool and those of the fleet."""
        self.token = "secret-token"
        self.requests: Counter[str] = Counter()
        self.failures: list[int] = []
        self.store = Store()
        self.sandboxes = SandboxController(self.store, self.warm_pool, sandboxes)
        self.game_servers = AgonesController(self.store, self.fleet, game_servers)
        self.url = ""
        self._runner: web.AppRunner | None = None
        self._expiring: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Listen on a free port of 127.0.0.1."""
        application = web.Application(middlewares=[self._answer])
        application.router.add_post(_COLLECTION, self._create)
        application.router.add_get(_COLLECTION, self._list)
        application.router.add_delete(_COLLECTION, self._delete_all)
        application.router.add_get(_COLLECTION + "/{name}", self._get)
        application.router.add_patch(_COLLECTION + "/{name}", self._patch)
        self._runner = web.AppRunner(application, shutdown_timeout=1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        await self.game_servers.fill()
        self._expiring = asyncio.create_task(self.sandboxes.expire())

    async def close(self) -> None:
        """Stop listening."""
        if self._expiring is not None:
            self._expiring.cancel()
            await asyncio.wait([self._expiring])
        if self._runner is not None:
            await self._runner.cleanup()

    def write_kubeconfig(self, path: Path) -> None:
        """Write a kubeconfig with which the official client finds this API."""
        cluster = {"name": "fake", "cluster": {"server": self.url}}
        user = {"name": "agent", "user": {"token": self.token}}
        context = {"name": "fake", "context": {"cluster": "fake", "user": "agent"}}
        lists = {"clusters": [cluster], "users": [user], "contexts": [context]}
        head = {"apiVersion": "v1", "kind": "Config", "current-context": "fake"}
        path.write_text(json.dumps(head | lists))  # JSON is YAML

    # -- requests -----------------------------------------------------------------------------------------------

    @web.middleware
    async def _answer(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        try:
            self.requests[f"{request.method} {request.match_info.get('plural')}"] += 1
            if self.failures:
                raise Refusal(self.failures.pop(0), "InternalError", "the stand-in fails as it was told to")
            if request.headers.get("Authorization") != f"Bearer {self.token}":
                raise Refusal(401, "Unauthorized", "Unauthorized")
            if request.match_info.get("namespace") != self.namespace:
                raise missing("namespaces", request.match_info.get("namespace", ""))
            return await handler(request)
        except Refusal as refusal:
            return web.json_response(refusal.status, status=refusal.code)

    async def _create(self, request: web.Request) -> web.Response:
        kind = _kind(request)
        body = checked(await request.json(), SHAPES[kind.plural])
        if {key: body[key] for key in kind.head} != kind.head:
            raise Refusal(400, "BadRequest", f"the object is no {kind.name} of {kind.group}/{kind.version}")
        if kind is ALLOCATION:
            return web.json_response(await self.game_servers.allocate(body), status=201)
        name = body["metadata"]["name"]
        if self.store.get(kind, name) is not None:
            raise Refusal(409, "AlreadyExists", f'{kind.plural} "{name}" already exists')
        body["metadata"]["namespace"] = self.namespace
        await self.store.put(kind, body)
        await self.sandboxes.bind()
        return web.json_response(body, status=201)

    async def _get(self, request: web.Request) -> web.Response:
        return web.json_response(self._found(request))

    def _found(self, request: web.Request) -> Object:
        kind, name = _kind(request), request.match_info["name"]
        found = self.store.get(kind, name)
        if found is None:
            raise missing(kind.plural, name)
        return found

    async def _patch(self, request: web.Request) -> web.Response:
        if request.content_type != "application/merge-patch+json":
            raise Refusal(415, "UnsupportedMediaType", f"custom objects take no {request.content_type}")
        found, kind = self._found(request), _kind(request)
        changed = merged(found, await request.json())
        checked({key: changed[key] for key in changed if key != "status"}, SHAPES[kind.plural])
        found.update(changed)
        await self.store.put(kind, found)
        return web.json_response(found)

    async def _delete_all(self, request: web.Request) -> web.Response:
        kind, wanted = _kind(request), _selected(request)
        for found in [each for each in self.store.all(kind) if wanted(each)]:
            await self.store.remove(kind, found)
            await (self.game_servers if kind is GAME_SERVER else self.sandboxes).release(found)
        return web.json_response({"kind": "Status", "apiVersion": "v1", "status": "Success"})

    async def _list(self, request: web.Request) -> web.StreamResponse:
        kind, wanted = _kind(request), _selected(request)
        if request.query.get("watch", "").lower() != "true":
            items = [each for each in self.store.all(kind) if wanted(each)]
            return web.json_response({**kind.head, "kind": f"{kind.name}List", "items": items})
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            async with asyncio.timeout(float(request.query.get("timeoutSeconds", "60"))):
                since = int(request.query.get("resourceVersion") or 0)
                async for event, found in self.store.events(kind, wanted, since):
                    await response.write(json.dumps({"type": event, "object": found}).encode() + b"\n")
        except (TimeoutError, ConnectionError):
            pass  # the end of the watch, or of the client
        return response


def _kind(request: web.Request) -> Kind:
    match = request.match_info
    for kind in (SANDBOX_CLAIM, GAME_SERVER, ALLOCATION):
        if (kind.group, kind.version, kind.plural) == (match["group"], match["version"], match["plural"]):
            return kind
    raise missing("resource", match["plural"])


def _selected(request: web.Request) -> Callable[[Object], bool]:
    """Return whether an object has the labels and the name that a request selects."""
    labels, names = _pairs(request, "labelSelector"), _pairs(request, "fieldSelector")
    if names.keys() - {"metadata.name"}:
        raise Refusal(400, "BadRequest", f"field label not supported: {sorted(names)}")

    def selects(found: Object) -> bool:
        metadata = found["metadata"]
        is_named = names.get("metadata.name", metadata["name"]) == metadata["name"]
        return bool(is_named and labels.items() <= metadata.get("labels", {}).items())

    return selects


def _pairs(request: web.Request, selector: str) -> dict[str, str]:
    found = {}
    for pair in filter(None, request.query.get(selector, "").split(",")):
        key, _, value = pair.partition("=")
        found[key] = value
    return found
