"""The options of both command lines that serve a remote: `python -m rewarder serve` and `universe-client serve`."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rewarder.cli.option_types import host, port, positive, size
from rewarder.runtimes import Access, RuntimeOptions, opened
from rewarder.sdk.runtime import Ports, run
from vnc.tls import Identity


@dataclass(frozen=True, slots=True)
class Serving:
    """What the options say: a remote, and where it listens; passwords are each command line's own."""

    env_id: str
    runtime: RuntimeOptions
    host: str
    vnc_port: int
    rewarder_port: int
    identity: Identity | None
    private_network: bool
    allow_hosts: Sequence[str]
    novnc: Path | None
    idle_timeout: float | None
    seed: int | None
    allowed_calls: Sequence[str]

    def play(
        self,
        password: str | None,
        view_only_password: str | None = None,
        *,
        on_ready: Callable[[Ports], object],
        exit_with_stdin: bool = False,
    ) -> None:
        """Serve until SIGTERM or Ctrl-C; see `rewarder.sdk.runtime.serve`.

        Raises:
            RuntimeCrash: the environment raised; clients were told.
            ValueError, ImportError, OSError: it cannot be served like this.
        """
        access = Access(
            host=self.host,
            vnc_port=self.vnc_port,
            password=password,
            view_only_password=view_only_password,
            identity=self.identity,
            private_network=self.private_network,
        )
        with opened(self.env_id, self.runtime, **access) as (runtime, display):
            run(
                runtime,
                **access,
                exit_with_stdin=exit_with_stdin,
                rewarder_port=self.rewarder_port,
                env_id=self.env_id,
                seed=self.seed,
                idle_timeout=self.idle_timeout,
                on_ready=on_ready,
                display=display,
                novnc=self.novnc,
                allowed_calls=self.allowed_calls,
                allow_hosts=self.allow_hosts,
            )


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what says how a remote is played and where it listens; its `env_id` is the parser's own."""
    _add_network(parser.add_argument_group("network"))
    _add_environment(parser.add_argument_group("environment"))
    _add_display(parser.add_argument_group("X display of process.*, browser.*, desktop.* (TigerVNC)"))


def serving(options: argparse.Namespace) -> Serving:
    """Return what was said.

    Raises:
        ValueError: a certificate without a key, or a key without a certificate.
    """
    return Serving(
        env_id=options.env_id,
        runtime=RuntimeOptions(
            options.fps, options.observation, options.program, options.xvnc, options.runtime
        ),
        host=options.host,
        vnc_port=options.vnc_port,
        rewarder_port=options.rewarder_port,
        identity=_identity(options.tls_certificate, options.tls_key),
        private_network=options.private_network,
        allow_hosts=options.allow_host,
        novnc=options.novnc,
        idle_timeout=options.idle_timeout,
        seed=options.seed,
        allowed_calls=options.call,
    )


def _identity(certificate: Path | None, key: Path | None) -> Identity | None:
    if certificate is not None and key is not None:
        return Identity(certificate, key)
    if certificate is not None or key is not None:
        raise ValueError("--tls-certificate and --tls-key make sense together only")
    return None


def _add_network(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--host", type=host, default="127.0.0.1", help="address to listen on, default: %(default)s"
    )
    group.add_argument("--vnc-port", type=port, default=0, metavar="N", help="default: any free port")
    group.add_argument("--rewarder-port", type=port, default=0, metavar="N", help="default: any free port")
    group.add_argument(
        "--tls-certificate",
        type=Path,
        metavar="FILE",
        help="let nobody in without TLS; the chain of this PEM file is shown to clients",
    )
    group.add_argument(
        "--tls-key", type=Path, metavar="FILE", help="the certificate's key, not encrypted; mode 0600"
    )
    group.add_argument(
        "--private-network",
        action="store_true",
        help="ask for no TLS although HOST is not on loopback: nobody else can listen in there, as in a container "
        "whose ports are published on loopback only, or a VPN",
    )
    group.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a name by which clients may come, beside HOST, localhost and any address, so that no web page gets in by "
        "a name of its own; may be given several times",
    )
    group.add_argument(
        "--novnc",
        type=Path,
        metavar="DIR",
        help="noVNC, for the viewer; default: where Debian's package puts it",
    )
    group.add_argument(
        "--idle-timeout", type=positive, metavar="S", help="end after S seconds without an agent"
    )


def _add_environment(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--fps", type=positive, metavar="N", help="ticks per second, default: the environment's own"
    )
    group.add_argument("--seed", type=int, metavar="N", help="seed of the first episode")
    group.add_argument("--runtime", metavar="MODULE:CLASS", help="what plays ENV_ID, if it is none of ours")
    group.add_argument(
        "--call",
        action="append",
        default=[],
        metavar="NAME",
        help="let agents call, read and set this in the environment; may be given several times",
    )
    group.add_argument(
        "--observation", action="store_true", help="send the environment's own observation too"
    )


def _add_display(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--xvnc",
        type=size,
        default=(1024, 768),
        metavar="WxH",
        help="the size of the screen, default: 1024x768",
    )
    group.add_argument(
        "--program",
        type=shlex.split,
        metavar="COMMAND",
        help="what process.* runs, default: the name in ENV_ID; JSON lines it prints become rewards",
    )
