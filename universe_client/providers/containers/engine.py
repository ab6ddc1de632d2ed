"""A typed interface to the Docker daemon, over Docker's SDK. Every call blocks."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from rewarder.sanitize import clean
from rewarder.serving import ContainerRequest
from universe_client.errors import ConfigError
from universe_client.providers.containers.daemon import EngineError, EngineMissing, daemon_url, knock
from universe_client.providers.containers.images import Image
from universe_client.providers.containers.owner import SESSION
from universe_client.providers.containers.records import (
    Access,
    Container,
    Labelled,
    Plan,
    container_of,
    labelled,
)

VNC_PORT, REWARDER_PORT = 5900, 15900
SECRETS = "/run/secrets"
PRIVATE = "/run/remote"
JUDGE = 1000
"""The user that the rewarder runs as; see `rewarder.container`."""
_ENTRYPOINT = "entrypoint"
_STARTER = {"user": "0:0", "cap_drop": ["ALL"], "cap_add": ["SETUID", "SETGID", "SETPCAP", "NET_ADMIN"]}
"""The user and capabilities that the entrypoint starts with; it drops them before the remote runs."""
_LOCKED = "rw,noexec,nosuid,nodev"
_OWN_TMPFS = {
    SECRETS: f"{_LOCKED},mode=700,uid={JUDGE},gid={JUDGE},size=65536",
    PRIVATE: f"{_LOCKED},mode=700,uid={JUDGE},gid={JUDGE},size={16 << 20}",
}
_ULIMITS = {"nofile": 4096, "nproc": 32768}
"""Open files of a process, and processes of one user in all containers together."""
_TIMEOUT = 60
_CONFLICT = 409
_INSTALL = "docker remotes need the Docker SDK: pip install '.[docker]' in a checkout of universe-client"


class ImageMissing(EngineError):
    """The daemon does not have the image."""


def check_sdk() -> None:
    """Raise ConfigError if the SDK is not installed.

    `import docker` is no test: in a checkout of this project it imports the folder `docker`.
    """
    try:
        importlib.metadata.version("docker")
    except importlib.metadata.PackageNotFoundError:
        raise ConfigError(_INSTALL) from None


class Engine:
    """A connection to the daemon. Its methods may be called from any thread."""

    def __init__(self) -> None:
        """Connect to the daemon at `$DOCKER_HOST`, or by default to Docker's socket on this machine.

        Raises:
            ConfigError: the SDK is not installed, or the daemon runs on another machine.
            EngineMissing: no daemon can be reached.
        """
        check_sdk()
        self._sdk = importlib.import_module("docker")
        self.url = daemon_url()
        with self._translated():
            self._client: Any = self._sdk.from_env(
                timeout=_TIMEOUT, environment=dict(os.environ) | {"DOCKER_HOST": self.url}
            )
            self._cpus = float(self._client.info()["NCPU"])

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Translate the SDK's errors into EngineError.

        Without a daemon the SDK is not called: it would leave its socket open and fail with a longer message.
        """
        import requests

        knock(self.url)
        try:
            yield
        except self._sdk.errors.ImageNotFound as error:
            raise ImageMissing(str(error.explanation or error)) from error
        except self._sdk.errors.APIError as error:
            raise EngineError(str(error.explanation or error)) from error
        except (self._sdk.errors.DockerException, requests.RequestException) as error:
            raise EngineMissing(f"the Docker daemon at {self.url} does not answer: {error}") from error

    # -- containers ---------------------------------------------------------------------------------------------

    def create(self, plan: Plan) -> str:
        """Create a container without rights that a remote does not need; return its id.

        Raises:
            EngineError: the image does not begin with our entrypoint, which drops those rights, or the daemon refuses.
        """
        limits = plan.limits
        self._check_entrypoint(plan.reference)
        with self._translated():
            container = self._client.containers.create(
                plan.reference,
                [plan.request.env_id],
                name=plan.name,
                labels=dict(plan.labels),
                network=plan.network,
                ports={f"{port}/tcp": (plan.host, None) for port in (VNC_PORT, REWARDER_PORT)},
                environment={"UNIVERSE_REQUEST": "stdin"}
                | ({"UNIVERSE_NETWORK": "open"} if plan.is_open else {}),
                stdin_open=True,
                init=False,  # the entrypoint reaps processes
                read_only=True,
                tmpfs={"/tmp": f"{_LOCKED},mode=1777,size={limits.memory // 2}"} | _OWN_TMPFS,
                **_STARTER,
                security_opt=_security(limits),
                pids_limit=limits.processes,
                mem_limit=limits.memory,
                memswap_limit=limits.memory,
                nano_cpus=int(min(limits.cpus, self._cpus) * 1e9),
                shm_size=limits.shared_memory,
                ulimits=[
                    self._sdk.types.Ulimit(name=name, soft=most, hard=most) for name, most in _ULIMITS.items()
                ],
                log_config={"Type": "json-file", "Config": {"max-size": "1m", "max-file": "2"}},
            )
        return str(container.id)

    def _check_entrypoint(self, reference: str) -> None:
        with self._translated():
            entrypoint = self._client.images.get(reference).attrs["Config"].get("Entrypoint") or []
        if entrypoint[:1] != [_ENTRYPOINT]:
            raise EngineError(
                f'the image {reference} does not begin with ENTRYPOINT ["{_ENTRYPOINT}", ...], which drops its rights'
            )

    def start(self, identity: str, request: ContainerRequest) -> None:
        """Start a container, and send its first process the request over standard input."""
        with self._translated():
            container = self._container(identity)
            stream = container.attach_socket(params={"stdin": 1, "stream": 1})
            with closing(stream._sock), closing(stream._response):
                container.start()
                stream._sock.sendall(msgspec.json.encode(request) + b"\n")

    def access(self, name: str) -> Access:
        """Return how clients of a running container authenticate.

        Args:
            name: the container's name or id.

        Raises:
            EngineError: the container is not one of ours.
        """
        with self._translated():
            status, output = self._container(name).exec_run([_ENTRYPOINT, "--access"], user="0:0", demux=True)
        with suppress(msgspec.DecodeError):
            if status == 0:
                return msgspec.json.decode(output[0] or b"", type=Access)
        raise EngineError(
            f"container {name} does not report its password: is it a container of universe-client?"
        )

    @contextmanager
    def output(self, identity: str) -> Iterator[Iterator[str]]:
        """Yield the lines that a container prints on stdout, from its start until it ends."""
        with self._translated():
            pieces = self._container(identity).logs(stdout=True, stderr=False, stream=True, follow=True)
            with closing(pieces._response):  # closing the stream would leave half of the connection open
                yield _lines(pieces)

    def last_words(self, identity: str, lines: int) -> list[str]:
        """Return the last `lines` lines of a container's log."""
        with self._translated():
            log: bytes = self._container(identity).logs(tail=lines)
        return [clean(line) for line in log.decode("utf-8", "replace").splitlines()]

    def inspect(self, identity: str) -> Container | None:
        """Return the present state of a container; None if it does not exist."""
        try:
            with self._translated():
                return container_of(self._container(identity).attrs)
        except EngineError as error:
            if isinstance(error.__cause__, self._sdk.errors.NotFound):
                return None
            raise

    def remove(self, identity: str) -> None:
        """Kill and remove a container, if it exists. It is gone when this returns."""
        with self._unless_gone(), self._translated():
            try:
                self._client.api.remove_container(identity, v=True, force=True)
            except self._sdk.errors.APIError as error:
                if error.status_code != _CONFLICT:
                    raise
                self._client.api.wait(
                    identity, timeout=_TIMEOUT, condition="removed"
                )  # another process removes it

    def unhealthy(self, session: str) -> list[str]:
        """Return the ids of a session's containers whose health check fails."""
        with self._translated():
            found = self._client.api.containers(
                quiet=True, filters={"label": f"{SESSION}={session}", "health": "unhealthy"}
            )
        return [str(container["Id"]) for container in found]

    def containers(self) -> list[Container]:
        """Return all containers with our label, of any owner."""
        with self._translated():
            found = self._client.containers.list(all=True, filters={"label": SESSION}, ignore_removed=True)
        return [container_of(container.attrs) for container in found]

    def _container(self, identity: str) -> Any:
        return self._client.containers.get(identity)

    # -- networks -----------------------------------------------------------------------------------------------

    def create_network(self, name: str, labels: Mapping[str, str]) -> None:
        """Create a bridge on which containers reach neither each other nor any other network."""
        options = {
            "com.docker.network.bridge.enable_icc": "false",
            "com.docker.network.bridge.enable_ip_masquerade": "false",
        }
        with self._translated():
            self._client.networks.create(name, driver="bridge", options=options, labels=dict(labels))

    def networks(self) -> list[Labelled]:
        """Return all networks with our label, of any owner."""
        with self._translated():
            found = self._client.networks.list(filters={"label": SESSION})
        return [labelled(one) for one in found]

    def remove_network(self, identity: str) -> None:
        """Remove a network, if it exists."""
        with self._unless_gone(), self._translated():
            self._client.api.remove_network(identity)

    # -- volumes ------------------------------------------------------------------------------------------------

    def create_volume(self, name: str, labels: Mapping[str, str]) -> None:
        """Create a volume, unless it exists."""
        with self._translated():
            self._client.volumes.create(name, labels=dict(labels))

    def volumes(self) -> list[Labelled]:
        """Return all volumes with our label, of any owner."""
        with self._translated():
            return [labelled(one) for one in self._client.volumes.list(filters={"label": SESSION})]

    def remove_volume(self, name: str) -> None:
        """Remove a volume, if it exists."""
        with self._unless_gone(), self._translated():
            self._client.api.remove_volume(name)

    @contextmanager
    def _unless_gone(self) -> Iterator[None]:
        try:
            yield
        except EngineError as error:
            if not isinstance(error.__cause__, self._sdk.errors.NotFound):
                raise

    # -- images -------------------------------------------------------------------------------------------------

    def has_image(self, reference: str) -> bool:
        """Return whether the daemon has this image."""
        try:
            self.image_size(reference)
        except ImageMissing:
            return False
        return True

    def image_size(self, reference: str) -> int:
        """Return the size in bytes of an image that the daemon has."""
        with self._translated():
            return int(self._client.images.get(reference).attrs["Size"])

    def build(
        self, source: Path, dockerfile: str, tags: Sequence[str], arguments: Mapping[str, str]
    ) -> Iterator[str]:
        """Build an image from a checkout; yield the lines of the build's output.

        Raises:
            EngineError: a step failed.
        """
        with self._translated():
            reports = self._client.api.build(
                path=str(source),
                dockerfile=dockerfile,
                tag=tags[0],
                buildargs=dict(arguments),
                network_mode="host",
                rm=True,
                decode=True,
            )
            for report in reports:
                if "error" in report:
                    raise EngineError(str(report["error"]))
                yield from str(report.get("stream", "")).splitlines()
            for tag in tags[1:]:
                self._client.images.get(tags[0]).tag(tag)


def _lines(pieces: Iterable[bytes]) -> Iterator[str]:
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            yield line.decode("utf-8", "replace")


def _security(limits: Image) -> list[str]:
    """Return the security options. Only the image with Chromium may create user namespaces."""
    name = "seccomp-browser.json" if limits.namespaces else "seccomp.json"
    return ["no-new-privileges", f"seccomp={Path(__file__).with_name(name).read_text()}"]
