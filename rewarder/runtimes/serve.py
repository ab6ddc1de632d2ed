"""Serve an environment by its env id, until it is stopped."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from rewarder.runtimes import opened
from rewarder.sdk.environment import Runtime
from rewarder.sdk.runtime import Mirror, Ports, run
from rewarder.serving import Serving

if TYPE_CHECKING:
    from rewarder.display.xdisplay import XDisplay


def serve_env(
    env_id: str,
    serving: Serving,
    *,
    runtime: Runtime | None = None,
    password: str | None,
    view_only_password: str | None = None,
    on_ready: Callable[[Ports], object],
    exit_with_stdin: bool = False,
) -> None:
    """Serve `env_id` from the main thread until SIGTERM, SIGINT or idleness.

    Args:
        env_id: the environment to play.
        serving: the options.
        runtime: what plays `env_id`, without an X display; None finds it by the name.
        password: the password of both ports, of which VNC uses the first 8 bytes; None accepts every client.
        view_only_password: the password with which a VNC client can watch but not act.
        on_ready: called with the ports once clients can connect.
        exit_with_stdin: also stop at the end of stdin and when the parent process dies.

    Raises:
        RuntimeCrash: the environment raised an exception; its clients received the reason.
        ValueError, ImportError, OSError: the environment cannot be served with these options.
    """
    identity = serving.identity
    found = (
        opened(env_id, serving, password, view_only_password)
        if runtime is None
        else nullcontext((runtime, None))
    )
    with found as (player, display):
        run(
            player,
            exit_with_stdin=exit_with_stdin,
            env_id=env_id,
            password=password,
            view_only_password=view_only_password,
            identity=identity,
            on_ready=on_ready,
            display=None if display is None else display.port,
            mirror=_mirror(display, serving, password, view_only_password),
            host=serving.host,
            vnc_port=serving.vnc_port,
            rewarder_port=serving.rewarder_port,
            private_network=serving.private_network,
            allow_hosts=serving.allow_hosts,
            seed=serving.seed,
            idle_timeout=serving.idle_timeout,
            novnc=None if serving.novnc is None else Path(serving.novnc),
            allowed_calls=serving.allowed_calls,
        )


def _mirror(
    display: XDisplay | None, serving: Serving, password: str | None, view_only_password: str | None
) -> Mirror | None:
    """Return a mirror of the display; None if the clients are on other machines, or have to use TLS."""
    if display is None or serving.host not in _LOOPBACK or serving.identity is not None:
        return None
    from rewarder.display.mirror import Mirror as DisplayMirror

    return DisplayMirror(display, password, view_only_password)


_LOOPBACK = ("127.0.0.1", "localhost")
