"""How a remote is served: the options, the request with which a process starts a remote, and the remote's reply."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, get_args

import msgspec
from msgspec import Meta

from vnc.tls import Identity

MAX_REQUEST = 32 * 1024
"""Bytes of an encoded request: a pipe holds more, so that it can be written before anybody reads."""
LogLevel = Literal["debug", "info", "warning", "error"]
LOG_LEVELS: tuple[LogLevel, ...] = get_args(LogLevel)
_Positive = Annotated[float, Meta(gt=0)]
_Port = Annotated[int, Meta(ge=0, le=65535)]
_Pixels = Annotated[int, Meta(ge=1, le=16384)]


class Serving(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The options of a remote: how its environment runs, and where it listens.

    `universe-client serve` has one command-line option for each field. Providers choose where their remotes listen:
    they override `host`, `vnc_port`, `rewarder_port` and `private_network` where they need to.

    Attributes:
        fps: ticks per second of the environment; None uses the environment's own rate.
        seed: the seed of the first episode; None leaves it to the environment.
        runtime: `"module:Class"`, a subclass of `rewarder.sdk.runtime.Runtime` that plays the env id; None uses the
            runtimes of this package.
        allowed_calls: names of attributes and methods of the environment that agents may call, read and set.
        env_observation: whether the environment's own observation is sent beside the pixels (`gym-core.*`).
        screen_size: (width, height) in pixels of the X display of `process.*`, `browser.*` and `desktop.*`.
        program: the command line that `process.*` runs; None runs the program that the env id names.
        host: the address to listen on. An address that other machines reach needs a password, and TLS or
            `private_network`.
        vnc_port: the TCP port of the VNC server; 0 is any free port.
        rewarder_port: the TCP port of the rewarder; 0 is any free port.
        tls_certificate: the path of a certificate chain (PEM); clients then have to use TLS on both ports.
        tls_key: the path of the certificate's private key (PEM, not encrypted, mode 0600).
        private_network: whether only trusted machines reach `host`, so that TLS is not needed.
        allow_hosts: host names, beside `host`, `localhost` and any address, by which clients may reach the rewarder.
        novnc: the directory of noVNC, which the viewer page uses; None uses `$UNIVERSE_CLIENT_NOVNC` or Debian's
            `/usr/share/novnc`.
        idle_timeout: seconds without an agent after which the remote ends; None never ends it.
    """

    fps: _Positive | None = None
    seed: int | None = None
    runtime: str | None = None
    allowed_calls: Sequence[str] = ()
    env_observation: bool = False
    screen_size: tuple[_Pixels, _Pixels] = (1024, 768)
    program: Sequence[str] | None = None
    host: str = "127.0.0.1"
    vnc_port: _Port = 0
    rewarder_port: _Port = 0
    tls_certificate: str | None = None
    tls_key: str | None = None
    private_network: bool = False
    allow_hosts: Sequence[str] = ()
    novnc: str | None = None
    idle_timeout: _Positive | None = None

    @property
    def identity(self) -> Identity | None:
        """The certificate and its key; None without TLS.

        Raises:
            ValueError: only one of the two is given.
        """
        if self.tls_certificate is not None and self.tls_key is not None:
            return Identity(Path(self.tls_certificate), Path(self.tls_key))
        if self.tls_certificate is not None or self.tls_key is not None:
            raise ValueError("--tls-certificate and --tls-key need each other: give both or none")
        return None

    def over(self, other: Serving) -> Serving:
        """Return `other` with every option replaced that this one sets to something else than its default."""
        return msgspec.convert(msgspec.to_builtins(other) | msgspec.to_builtins(self), Serving)


class Request(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What `python -m rewarder` reads: which environment it serves, how, and with which passwords.

    Attributes:
        env_id: the environment to play.
        serving: the options.
        password: the password of both ports, of which VNC uses the first 8 bytes; None accepts every client.
        view_only_password: the password with which a VNC client can watch but not act; None allows no such client.
        log_level: the least important messages that are logged on stderr.
    """

    env_id: str
    serving: Serving = Serving()
    password: str | None = None
    view_only_password: str | None = None
    log_level: LogLevel = "info"

    def __repr__(self) -> str:
        """Return the request without its passwords."""
        return f"Request({self.env_id!r}, {self.serving!r})"


class ContainerRequest(Request, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What the entrypoint of our images reads: a `Request`, and the certificate that the remote presents.

    Attributes:
        certificate: the certificate (PEM) with which clients have to use TLS; None without TLS.
        key: its private key (PEM).
    """

    certificate: str | None = None
    key: str | None = None

    def __repr__(self) -> str:
        """Return the request without its secrets."""
        return f"ContainerRequest({self.env_id!r}, {self.serving!r})"


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """The line of JSON that a remote prints when both its ports are open.

    Attributes:
        vnc_port: the TCP port of the VNC server.
        rewarder_port: the TCP port of the rewarder.
        version: the version of universe-client on the remote's side.
        mirror_port: the TCP port of a second VNC server, on 127.0.0.1, which costs agents on this machine less than the
            first; 0: there is none.
        viewer_token: opens `http://HOST:REWARDER_PORT/viewer/#watch=TOKEN`, a page that shows the remote.
        password_file: the file with the password, if the remote chose one.
    """

    vnc_port: int
    rewarder_port: int
    mirror_port: int = 0
    version: str = ""
    viewer_token: str = ""
    password_file: str | None = None

    def __repr__(self) -> str:
        """Return the ports alone: the token is a secret."""
        return f"Ready({self.vnc_port}, {self.rewarder_port})"
