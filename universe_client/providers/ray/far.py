"""Remotes that other nodes reach: on the node's address, with TLS and a password."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import msgspec

from rewarder.client import RewarderAddress
from rewarder.serving import Ready, Request
from universe_client.providers.containers.provider import DockerProvider
from universe_client.providers.containers.records import Plan
from universe_client.providers.embedded import EmbeddedProvider
from universe_client.providers.provider import RemoteAddress
from universe_client.providers.ray.certificate import Certificate, MemoryFile, self_signed
from vnc.session import VNCAddress
from vnc.tls import TLS
from vnc.vncauth import vnc_password


@dataclass(slots=True)
class FarProvider(EmbeddedProvider):
    """Starts one process per remote, whose ports other machines reach, with TLS and a password.

    Args:
        n, env_id, start_timeout, serving: see `EmbeddedProvider`.
        host: the address of this node that the remotes listen on, and that their clients connect to.
    """

    host: str = "127.0.0.1"
    _certificate: Certificate = field(default_factory=self_signed, init=False, repr=False)
    _files: tuple[MemoryFile, ...] = field(default=(), init=False, repr=False)

    def __post_init__(self) -> None:
        EmbeddedProvider.__post_init__(self)  # `super()` fails in a dataclass with slots
        self._files = (MemoryFile(self._certificate.certificate), MemoryFile(self._certificate.key))

    def _request(self, password: str) -> Request:
        request = EmbeddedProvider._request(self, password)
        certificate, key = self._files
        serving = msgspec.structs.replace(
            request.serving, host=self.host, tls_certificate=certificate.path, tls_key=key.path
        )
        return msgspec.structs.replace(request, serving=serving)

    def _address(self, ready: Ready, password: str) -> RemoteAddress:
        tls = TLS(fingerprint=self._certificate.fingerprint)
        return RemoteAddress(
            VNCAddress(self.host, ready.vnc_port, vnc_password(password), tls=tls),
            RewarderAddress(self.host, ready.rewarder_port, password, tls),
        )

    async def close(self) -> None:
        """End every process."""
        await EmbeddedProvider.close(self)
        files, self._files = self._files, ()
        for file in files:
            file.close()


@dataclass(slots=True)
class FarDockerProvider(DockerProvider):
    """Starts one container per remote, whose ports other machines reach, with TLS and a password.

    Args:
        n, env_id, start_timeout, image, reference, serving, network: see `DockerProvider`.
        host: the address of this node on which the containers' ports are published.
    """

    host: str = "127.0.0.1"
    _certificate: Certificate = field(default_factory=self_signed, init=False, repr=False)

    def _plan(self, index: int) -> Plan:
        plan, certificate = DockerProvider._plan(self, index), self._certificate
        request = msgspec.structs.replace(
            plan.request, certificate=certificate.certificate, key=certificate.key
        )
        return replace(plan, request=request, host=self.host, fingerprint=certificate.fingerprint)
