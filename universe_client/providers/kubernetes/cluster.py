"""Requests to the API of a Kubernetes cluster, with the official Python client."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from rewarder.sanitize import clean
from universe_client.errors import ConfigError, message_of

REQUEST_TIMEOUT = 30.0
"""Seconds that one request may take."""
_WATCH_SECONDS = 240  # the server ends a watch after this time; the client's own limit is above it
_EXPIRED = 410
_UNAUTHORISED = 401
_REFUSED = (400, _UNAUTHORISED, 403, 404, 405, 422)

T = TypeVar("T")


class ClusterError(Exception):
    """The API did not answer as it should.

    Attributes:
        permanent: whether the same request would fail again.
    """

    def __init__(self, message: str, *, permanent: bool = False) -> None:
        super().__init__(message)
        self.permanent = permanent


@dataclass(frozen=True, slots=True)
class Access:
    """Which cluster to use, and as whom.

    Args:
        namespace: where the claims are made.
        kubeconfig: a kubeconfig file; None is the service account of the pod in which the agent runs, or outside of
            pods the file that `KUBECONFIG` names, or else `~/.kube/config`.
        context: the context of the kubeconfig; None is its current one.
    """

    namespace: str = "default"
    kubeconfig: Path | None = None
    context: str | None = None

    @property
    def is_own_pod(self) -> bool:
        """Whether the service account of the agent's pod is used."""
        return not (self.kubeconfig or self.context) and "KUBERNETES_SERVICE_HOST" in os.environ


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of object, and where the API has it."""

    group: str
    version: str
    plural: str
    name: str

    @property
    def head(self) -> dict[str, str]:
        """The fields with which such an object begins."""
        return {"apiVersion": f"{self.group}/{self.version}", "kind": self.name}


def check_client() -> None:
    """Check that the official client is installed.

    Raises:
        ConfigError: it is not.
    """
    if importlib.util.find_spec("kubernetes") is None or importlib.util.find_spec("kubernetes.aio") is None:
        raise ConfigError(
            "claims of Kubernetes need the official client, kubernetes 37 or later: pip install '.[kubernetes]'"
        )


class Cluster:
    """The objects of one namespace. All coroutines raise `ClusterError`.

    Args:
        access: the cluster.
        connections: how many requests, watches among them, may be under way at a time.
    """

    def __init__(self, access: Access, connections: int) -> None:
        self._access, self._connections = access, connections
        self._configuration: Any = None
        self._client: Any = None

    async def create(self, kind: Kind, body: dict[str, Any]) -> Any:
        """Create an object; return it as the API has stored it."""
        return await self._request("create", kind, body | kind.head)

    async def get(self, kind: Kind, name: str) -> Any:
        """Return an object; None if it does not exist."""
        return await self._request("get", kind, name, accepted=404)

    async def patch(self, kind: Kind, name: str, change: dict[str, Any]) -> None:
        """Merge `change` into an object (RFC 7396); no effect if it does not exist."""
        content = {"_content_type": "application/merge-patch+json"}
        await self._request("patch", kind, name, change, accepted=404, **content)

    async def delete(self, kind: Kind, labels: dict[str, str]) -> None:
        """Delete all objects with these labels."""
        selector = ",".join(f"{key}={value}" for key, value in labels.items())
        await self._request("delete_collection", kind, label_selector=selector)

    async def changes(self, kind: Kind, name: str) -> AsyncIterator[Any]:
        """Yield an object now and after each of its changes; None, and the end, when it is deleted."""
        while True:
            found = await self.get(kind, name)
            yield found
            if found is None:
                return
            version = _read(found, _Object).metadata.resourceVersion
            async with aclosing(self._watch(kind, name, version)) as events:
                async for event in events:
                    if event.type == "ERROR":  # too old, as a rule: look again
                        break
                    yield None if event.type == "DELETED" else event.object
                    if event.type == "DELETED":
                        return

    async def _watch(self, kind: Kind, name: str, version: str) -> AsyncGenerator[_Event]:
        response = await self._request(
            "list",
            kind,
            suffix="_without_preload_content",
            watch=True,
            field_selector=f"metadata.name={name}",
            resource_version=version,
            timeout_seconds=_WATCH_SECONDS,
            _request_timeout=_WATCH_SECONDS + REQUEST_TIMEOUT,
        )
        try:
            async for line in response.content:
                yield _read(line, _Event)
        except Exception as error:
            raise _failure(error) from error
        finally:
            response.close()

    async def close(self) -> None:
        """Close the connections. Idempotent."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    # -- requests -----------------------------------------------------------------------------------------------

    async def _request(
        self,
        verb: str,
        kind: Kind,
        *arguments: Any,
        suffix: str = "",
        accepted: int | None = None,
        **options: Any,
    ) -> Any:
        """Send a request; if the credentials have expired, load them again and send it once more."""
        where = (kind.group, kind.version, self._access.namespace, kind.plural)
        options = {"_request_timeout": REQUEST_TIMEOUT} | options
        for is_last in (False, True):
            try:
                await self._load(again=is_last)
                function = getattr(self._api(), f"{verb}_namespaced_custom_object{suffix}")
                return await _checked(await function(*where, *arguments, **options))
            except Exception as error:
                status = getattr(error, "status", None)
                if status is not None and status == accepted:
                    return None
                if status != _UNAUTHORISED or is_last:
                    raise _failure(error) from error
        raise AssertionError

    def _api(self) -> Any:
        from kubernetes.aio.client.api.custom_objects_api import CustomObjectsApi
        from kubernetes.aio.client.api_client import ApiClient

        self._client = self._client or ApiClient(self._configuration)
        return CustomObjectsApi(self._client)

    async def _load(self, again: bool) -> None:
        """Load address and credentials of the cluster; `again` replaces the credentials that are in use."""
        from kubernetes.aio.client.configuration import Configuration
        from kubernetes.aio.config import load_incluster_config, load_kube_config

        if self._configuration is not None and not again:
            return
        configuration = self._configuration or Configuration()
        if self._access.is_own_pod:
            load_incluster_config(configuration)
        else:
            file = None if self._access.kubeconfig is None else str(self._access.kubeconfig)
            await load_kube_config(file, self._access.context, configuration, persist_config=False)
        configuration.connection_pool_maxsize = self._connections
        self._configuration = configuration


class _Metadata(msgspec.Struct):
    resourceVersion: str = ""


class _Object(msgspec.Struct):
    metadata: _Metadata


class _Event(msgspec.Struct):
    type: str
    object: Any


async def _checked(response: Any) -> Any:
    """Return a response; raise an exception for a refusal that the client has not read."""
    if hasattr(response, "content") and response.status >= _REFUSED[0]:
        from kubernetes.aio.client.exceptions import ApiException

        body = (await response.read()).decode("utf-8", "replace")
        raise ApiException(status=response.status, reason=response.reason, body=body)
    return response


def _read(data: Any, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(data, type=kind) if isinstance(data, bytes) else convert(data, kind)
    except msgspec.DecodeError as error:
        raise ClusterError(f"the API sent something else than an object: {error}") from error


def convert(data: Any, kind: type[T]) -> T:
    """Return an answer of the API as a `kind`.

    Raises:
        ClusterError: it is something else.
    """
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise ClusterError(f"the API sent an unexpected object: {error}") from error


class _Status(msgspec.Struct):
    message: str = ""


def _failure(error: Exception) -> ClusterError:
    """Return what went wrong, of the official client, of its HTTP library, or of the kubeconfig."""
    from aiohttp import ClientError
    from kubernetes.aio.client.exceptions import ApiException
    from kubernetes.aio.config import ConfigException

    if isinstance(error, ApiException):
        return ClusterError(
            f"HTTP status {error.status}: {_message(error)}", permanent=error.status in _REFUSED
        )
    if isinstance(error, ConfigException):
        return ClusterError(f"no access to a cluster: {clean(str(error))}", permanent=True)
    if isinstance(error, TimeoutError):
        return ClusterError(f"no answer of the API within {REQUEST_TIMEOUT:g} s")
    if isinstance(error, ClientError | OSError):
        return ClusterError(f"the API cannot be reached: {clean(message_of(error))}")
    if isinstance(error, ClusterError):
        return error
    raise error


def _message(error: Any) -> str:
    try:
        text = msgspec.json.decode(error.body or "", type=_Status).message
    except msgspec.DecodeError:
        text = ""
    return clean(text or str(error.reason))
