"""Providers: where remotes come from, and how the `remotes=` argument names them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from universe_client.errors import ConfigError
from universe_client.providers.address import AddressProvider, parse
from universe_client.providers.containers.provider import DockerProvider
from universe_client.providers.embedded import EmbeddedProvider
from universe_client.providers.process import ProcessProvider
from universe_client.providers.provider import Provider, RemoteAddress

__all__ = [
    "AddressProvider",
    "DockerProvider",
    "EmbeddedProvider",
    "ProcessProvider",
    "Provider",
    "RemoteAddress",
    "provider",
]


def provider(
    remotes: int | str | Provider, env_id: str | None, start_timeout: float, allowed_calls: Sequence[str] = ()
) -> Provider:
    """Return the provider that `remotes` names.

    Args:
        remotes: a number (embedded), `"embedded:4"`, `"process:4"`, `"docker:4"`, `"docker:4@image"` for an
            image of your own, a `vnc://` address, or a provider.
        env_id: the environment to play; `vnc://` remotes may go on with what they run.
        start_timeout: seconds one remote may take to start.
        allowed_calls: what remotes that are started here shall let be called.

    Raises:
        ConfigError: `remotes` is none of these, an environment must be named, or `allowed_calls` is for remotes that
            run already.
    """
    if isinstance(remotes, int):
        remotes = f"embedded:{remotes}"
    running = not isinstance(remotes, str) or remotes.startswith(("vnc://", "vncs://"))
    if running and allowed_calls:
        raise ConfigError(
            f"allowed_calls={allowed_calls!r} is for remotes that are started here; others say themselves (--call)"
        )
    if not isinstance(remotes, str):
        return remotes
    if running:
        return AddressProvider(parse(remotes))
    kind, _, rest = remotes.partition(":")
    count, at, image = rest.partition("@")
    if kind not in _LOCAL or not count.isdecimal() or (at and not (image and kind == "docker")):
        shown = remotes.partition("?")[0].rpartition("@")[2]  # what is cut off may be a secret
        raise ConfigError(
            f"remotes={shown!r} is no number, embedded:N, process:N, docker:N[@IMAGE] or vnc:// address"
        )
    if env_id is None:
        raise ConfigError(f"remotes={remotes!r} needs an env_id, such as builtin.NeonDrive-v0")
    options = {"reference": image} if image else {}
    return _LOCAL[kind](
        int(count), env_id, start_timeout, arguments=[f"--call={name}" for name in allowed_calls], **options
    )


_LOCAL: dict[str, Callable[..., Provider]] = {
    "embedded": EmbeddedProvider,
    "process": ProcessProvider,
    "docker": DockerProvider,
}
