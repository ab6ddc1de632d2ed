"""Providers: the sources of remotes, and the forms of the `remotes=` argument that select them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rewarder.serving import Serving
from universe_client.errors import ConfigError
from universe_client.providers.address import AddressProvider, parse
from universe_client.providers.containers.provider import DockerProvider
from universe_client.providers.embedded import EmbeddedProvider
from universe_client.providers.process import ProcessProvider
from universe_client.providers.provider import Provider, RemoteAddress
from universe_client.providers.ray.provider import RayProvider
from universe_client.providers.ray.records import KINDS, Resources

__all__ = [
    "AddressProvider",
    "DockerProvider",
    "EmbeddedProvider",
    "ProcessProvider",
    "Provider",
    "RayProvider",
    "RemoteAddress",
    "Resources",
    "Serving",
    "provider",
]


def provider(
    remotes: int | str | Provider, env_id: str | None, start_timeout: float, allowed_calls: Sequence[str] = ()
) -> Provider:
    """Return the provider that `remotes` names.

    Args:
        remotes: a number of embedded remotes, `"embedded:4"`, `"process:4"`, `"docker:4"`, `"docker:4@image"` with an
            image of your own, `"ray:256"` or `"ray:256@docker"` on the nodes of a Ray cluster, a `vnc://` or `vncs://`
            address, or a provider.
        env_id: the environment to play. For remotes at an address or of a provider, None keeps the one that they play.
        start_timeout: seconds that one remote may take to start.
        allowed_calls: names that agents may call, read and set in the remotes that are started here.

    Raises:
        ConfigError: `remotes` has none of these forms, `env_id` is missing, or `allowed_calls` is given for remotes
            that are not started here.
    """
    if isinstance(remotes, int):
        remotes = f"embedded:{remotes}"
    running = not isinstance(remotes, str) or remotes.startswith(("vnc://", "vncs://"))
    if running and allowed_calls:
        raise ConfigError(
            f"allowed_calls={allowed_calls!r} applies to remotes that are started here; "
            "for others, use universe-client serve --allow-call, or Serving(allowed_calls=...) of a provider"
        )
    if not isinstance(remotes, str):
        return remotes
    if running:
        return AddressProvider(parse(remotes))
    kind, _, rest = remotes.partition(":")
    count, at, after = rest.partition("@")
    options = _options(kind, after) if at else {}
    if kind not in _STARTED or not count.isdecimal() or options is None:
        shown = remotes.partition("?")[0].rpartition("@")[2]  # what is left out may be a password
        raise ConfigError(
            f"remotes={shown!r} is no number, embedded:N, process:N, docker:N[@IMAGE], ray:N[@docker] or vnc:// address"
        )
    if env_id is None:
        raise ConfigError(f"remotes={remotes!r} needs an env_id, such as builtin.NeonDrive-v0")
    return _STARTED[kind](
        int(count), env_id, start_timeout, serving=Serving(allowed_calls=allowed_calls), **options
    )


def _options(kind: str, text: str) -> dict[str, Any] | None:
    """Return what the text after `@` means for remotes of this kind; None if it means nothing."""
    if kind == "docker" and text:
        return {"reference": text}
    if kind == "ray" and text in KINDS:
        return {"kind": text}
    return None


_STARTED: dict[str, Callable[..., Provider]] = {
    "embedded": EmbeddedProvider,
    "process": ProcessProvider,
    "docker": DockerProvider,
    "ray": RayProvider,
}
