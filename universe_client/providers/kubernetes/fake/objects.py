"""The objects that the stand-in accepts, and its refusals."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import msgspec

from universe_client.providers.kubernetes.agones import ALLOCATION
from universe_client.providers.kubernetes.sandbox import SANDBOX_CLAIM

Object = dict[str, Any]
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_LABEL = re.compile(r"([A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?)?", re.ASCII)


class Refusal(Exception):
    """A request that the API refuses.

    Attributes:
        code: the HTTP status.
        status: the `Status` object of the answer.
    """

    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.status: Object = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code}
        self.status |= {"reason": reason, "message": message}


def missing(plural: str, name: str) -> Refusal:
    """Return the answer to a request for what does not exist."""
    return Refusal(404, "NotFound", f'{plural} "{name}" not found')


def merged(old: Any, change: Any) -> Any:
    """Return the result of a merge patch (RFC 7396)."""
    if not isinstance(change, dict):
        return change
    result = dict(old) if isinstance(old, dict) else {}
    for key, value in change.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


class _Strict(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    pass


class _Metadata(_Strict):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resourceVersion: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}


class _Named(_Strict):
    name: str


class _Lifecycle(_Strict):
    shutdownTime: datetime | None = None
    ttlSecondsAfterFinished: int | None = None
    shutdownPolicy: str = "Retain"


class _ClaimSpec(_Strict):
    warmPoolRef: _Named
    lifecycle: _Lifecycle | None = None


class _Claim(_Strict):
    apiVersion: str
    kind: str
    metadata: _Metadata
    spec: _ClaimSpec


class _Selector(_Strict):
    matchLabels: dict[str, str] = {}
    gameServerState: str = "Ready"


class _MetaPatch(_Strict):
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}


class _AllocationSpec(_Strict):
    selectors: list[_Selector]
    scheduling: str = "Packed"
    metadata: _MetaPatch = msgspec.field(default_factory=_MetaPatch)


class _Allocation(_Strict):
    apiVersion: str
    kind: str
    spec: _AllocationSpec
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


SHAPES: dict[str, type[msgspec.Struct]] = {SANDBOX_CLAIM.plural: _Claim, ALLOCATION.plural: _Allocation}


def checked(body: Any, shape: type[msgspec.Struct]) -> Object:
    """Return an object if its fields, names and labels are as the API demands."""
    try:
        msgspec.convert(body, shape)
    except msgspec.ValidationError as error:
        raise Refusal(422, "Invalid", str(error)) from None
    metadata = body.get("metadata", {})
    labels = metadata.get("labels", {}) | body["spec"].get("metadata", {}).get("labels", {})
    bad = [value for value in labels.values() if not _LABEL.fullmatch(value)]
    if "name" in metadata and not _NAME.fullmatch(metadata["name"]):
        bad.append(metadata["name"])
    if bad or body["spec"].get("scheduling", "Packed") not in ("Packed", "Distributed"):
        raise Refusal(422, "Invalid", f"invalid values: {bad or body['spec']['scheduling']}")
    result: Object = body
    return result
