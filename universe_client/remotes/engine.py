"""The Docker daemon, or Podman's service, which speaks the same: a typed shell around the SDK, every call blocking."""

from __future__ import annotations

import importlib
import importlib.metadata
import io
import os
import socket
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rewarder.text import clean
from universe_client.errors import ConfigError
from universe_client.remotes.images import Image
from universe_client.remotes.owner import SESSION

HOST = "127.0.0.1"
VNC_PORT, REWARDER_PORT = 5900, 15900
SECRETS = "/run/secrets"
USER_ID = 1000  # of the images' user
_ULIMITS = {"nofile": 4096, "nproc": 32768}
"""Files open at once, and processes of this user in all containers together: Podman's own defaults are more than some
machines allow."""
_TIMEOUT = 60
_KNOCK_TIMEOUT = 5.0
_CONFLICT = 409
_DOCKER_SOCKET = Path("/var/run/docker.sock")
_PODMAN_SOCKET = Path("podman/podman.sock")
_SECCOMP = Path(__file__).with_name("seccomp.json")
_INSTALL = "docker remotes need the Docker SDK: pip install '.[docker]' in a checkout of universe-client"


class EngineError(Exception):
    """The daemon refused, or is not there; the message says what to do, if that is known."""


class EngineMissing(EngineError):
    """No daemon can be talked to."""


class ImageMissing(EngineError):
    """The daemon does not have the image."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A container to be made."""

    name: str
    reference: str
    command: Sequence[str]
    labels: Mapping[str, str]
    limits: Image
    network: str


@dataclass(frozen=True, slots=True)
class Container:
    """One of our containers, as it is now."""

    id: str
    name: str
    image: str
    labels: Mapping[str, str]
    state: str
    exit_code: int
    out_of_memory: bool
    memory: int
    ports: Mapping[int, int]
    health: str | None

    @property
    def is_running(self) -> bool:
        """Whether its remote may still be played."""
        return self.state == "running"


@dataclass(frozen=True, slots=True)
class Labelled:
    """One of our networks or volumes."""

    id: str
    name: str
    labels: Mapping[str, str]


def check_sdk() -> None:
    """Raise ConfigError if the SDK is not installed.

    An import would not tell: in a checkout of this project, `docker` is also a folder.
    """
    try:
        importlib.metadata.version("docker")
    except importlib.metadata.PackageNotFoundError:
        raise ConfigError(_INSTALL) from None


class Engine:
    """A connection to the daemon. Any thread may call."""

    def __init__(self) -> None:
        """Connect to what `DOCKER_HOST` names, else to Docker's socket on this machine, else to Podman's.

        Raises:
            ConfigError: the SDK is not installed, or the daemon runs on another machine.
            EngineMissing: no daemon answers.
        """
        check_sdk()
        self._sdk = importlib.import_module("docker")
        self.url = _url()
        _knock(self.url)
        with self._translated():
            self._client: Any = self._sdk.from_env(
                timeout=_TIMEOUT, environment=dict(os.environ) | {"DOCKER_HOST": self.url}
            )
            self._cpus = float(self._client.info()["NCPU"])

    def close(self) -> None:
        """Hang up."""
        self._client.close()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn the SDK's errors into ours."""
        import requests

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
        """Make a container that may do nothing but be a remote; return its id."""
        limits = plan.limits
        with self._translated():
            container = self._client.containers.create(
                plan.reference,
                list(plan.command),
                name=plan.name,
                labels=dict(plan.labels),
                network=plan.network,
                ports={f"{port}/tcp": (HOST, None) for port in (VNC_PORT, REWARDER_PORT)},
                volumes=[SECRETS],
                init=True,
                read_only=True,
                tmpfs={"/tmp": f"rw,noexec,nosuid,nodev,mode=1777,size={limits.memory // 2}"},
                cap_drop=["ALL"],
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

    def give_secret(self, identity: str, name: str, secret: str) -> None:
        """Put a file into the container's own volume that only its user can read."""
        data = secret.encode()
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode, entry.uid, entry.gid = len(data), 0o400, USER_ID, USER_ID
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w") as tar:
            tar.addfile(entry, io.BytesIO(data))
        with self._translated():
            self._container(identity).put_archive(SECRETS, archive.getvalue())

    def start(self, identity: str) -> None:
        """Let it run."""
        with self._translated():
            self._container(identity).start()

    @contextmanager
    def output(self, identity: str) -> Iterator[Iterator[str]]:
        """Follow what it prints, line by line, from its beginning until it ends."""
        with self._translated():
            pieces = self._container(identity).logs(stdout=True, stderr=False, stream=True, follow=True)
            with closing(pieces._response):  # the stream's own close leaves half of the connection open
                yield _lines(pieces)

    def last_words(self, identity: str, lines: int) -> list[str]:
        """Return the last lines of its log."""
        with self._translated():
            log: bytes = self._container(identity).logs(tail=lines)
        return [clean(line) for line in log.decode("utf-8", "replace").splitlines()]

    def inspect(self, identity: str) -> Container | None:
        """Return it as it is now; None if it is gone."""
        try:
            with self._translated():
                return _container(self._container(identity).attrs)
        except EngineError as error:
            if isinstance(error.__cause__, self._sdk.errors.NotFound):
                return None
            raise

    def remove(self, identity: str) -> None:
        """Kill and remove it, and its volume; if it is gone already, well. It is gone when this returns."""
        with self._unless_gone(), self._translated():
            try:
                self._client.api.remove_container(identity, v=True, force=True)
            except self._sdk.errors.APIError as error:
                if error.status_code != _CONFLICT:
                    raise
                self._client.api.wait(identity, timeout=_TIMEOUT, condition="removed")  # another removes it

    def containers(self) -> list[Container]:
        """Return every container that carries our label, whoever's it is."""
        with self._translated():
            found = self._client.containers.list(all=True, filters={"label": SESSION}, ignore_removed=True)
        return [_container(container.attrs) for container in found]

    def _container(self, identity: str) -> Any:
        return self._client.containers.get(identity)

    # -- networks -----------------------------------------------------------------------------------------------

    def create_network(self, name: str, labels: Mapping[str, str]) -> None:
        """Make a bridge on which containers reach neither one another nor the world."""
        options = {
            "com.docker.network.bridge.enable_icc": "false",
            "com.docker.network.bridge.enable_ip_masquerade": "false",
        }
        with self._translated():
            self._client.networks.create(name, driver="bridge", options=options, labels=dict(labels))

    def networks(self) -> list[Labelled]:
        """Return every network that carries our label, whoever's it is."""
        with self._translated():
            found = self._client.networks.list(filters={"label": SESSION})
        return [_labelled(one) for one in found]

    def remove_network(self, identity: str) -> None:
        """Remove it; if it is gone already, well."""
        with self._unless_gone(), self._translated():
            self._client.api.remove_network(identity)

    # -- volumes ------------------------------------------------------------------------------------------------

    def create_volume(self, name: str, labels: Mapping[str, str]) -> None:
        """Make a volume; if it is there already, well."""
        with self._translated():
            self._client.volumes.create(name, labels=dict(labels))

    def volumes(self) -> list[Labelled]:
        """Return every volume that carries our label, whoever's it is."""
        with self._translated():
            return [_labelled(one) for one in self._client.volumes.list(filters={"label": SESSION})]

    def remove_volume(self, name: str) -> None:
        """Remove it; if it is gone already, well."""
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
        """Whether the daemon has this image."""
        try:
            self.image_size(reference)
        except ImageMissing:
            return False
        return True

    def image_size(self, reference: str) -> int:
        """Return the size in bytes of an image that is here."""
        with self._translated():
            return int(self._client.images.get(reference).attrs["Size"])

    def build(
        self, source: Path, dockerfile: str, tags: Sequence[str], arguments: Mapping[str, str]
    ) -> Iterator[str]:
        """Build an image from a checkout; yield what the daemon says, line by line.

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


def _container(attributes: Mapping[str, Any]) -> Container:
    state, config = attributes["State"], attributes["Config"]
    bound = attributes["NetworkSettings"]["Ports"] or {}
    ports = {int(port.partition("/")[0]): int(hosts[0]["HostPort"]) for port, hosts in bound.items() if hosts}
    return Container(
        id=attributes["Id"],
        name=attributes["Name"].lstrip("/"),
        image=config["Image"],
        labels=config["Labels"] or {},
        state=state["Status"],
        exit_code=state["ExitCode"],
        out_of_memory=state["OOMKilled"],
        memory=attributes["HostConfig"]["Memory"],
        ports=ports,
        health=(state.get("Health") or {}).get("Status"),
    )


def _labelled(found: Any) -> Labelled:
    return Labelled(str(found.id), str(found.name), found.attrs.get("Labels") or {})


def _security(limits: Image) -> list[str]:
    """Return the security options; the daemon's own seccomp profile holds where ours is not needed."""
    profile = [f"seccomp={_SECCOMP.read_text()}"] if limits.namespaces else []
    return ["no-new-privileges", *profile]


def _url() -> str:
    url = os.environ.get("DOCKER_HOST")
    if not url:
        runtime = Path(os.environ.get("XDG_RUNTIME_DIR") or "/run")
        for path in (_DOCKER_SOCKET, runtime / _PODMAN_SOCKET, Path("/run") / _PODMAN_SOCKET):
            if path.exists():
                return f"unix://{path}"
        return f"unix://{_DOCKER_SOCKET}"
    address = urlsplit(url)
    if address.scheme != "unix" and address.hostname not in ("127.0.0.1", "::1", "localhost"):
        raise ConfigError(
            f"DOCKER_HOST is on {address.hostname}, and containers listen on its loopback only: run the agent there, "
            "or start remotes there and forward their ports (ssh -L) for a vnc:// address here"
        )
    return url


def _knock(url: str) -> None:
    """Raise EngineMissing, saying what to do, if nobody listens; the SDK would say it in many more words."""
    address = urlsplit(url)
    try:
        if address.scheme == "unix":
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(_KNOCK_TIMEOUT)
                connection.connect(address.path)
        else:
            socket.create_connection((address.hostname, address.port or 2375), _KNOCK_TIMEOUT).close()
    except PermissionError as error:
        raise EngineMissing(
            f"{url} may not be opened by you: sudo usermod -aG docker $USER, then log in again"
        ) from error
    except OSError as error:
        raise EngineMissing(
            f"no Docker daemon answers at {url} ({error.strerror or error}): start it (sudo systemctl start docker), "
            "or Podman's (systemctl --user start podman.socket), or set DOCKER_HOST"
        ) from error
