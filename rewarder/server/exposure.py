"""Who can reach a remote: other machines only with a password, and not in the clear."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable

EVERYWHERE = ("0.0.0.0", "::", "")
"""Hosts to listen on that are no address of anything: clients are given a name."""


def check_reach(host: str, password: str | None, *, encrypted: bool, private_network: bool) -> None:
    """Refuse to listen where strangers could come in, or listen in.

    Args:
        host: the address to listen on.
        password: what clients are asked for.
        encrypted: whether they have to speak TLS.
        private_network: whether somebody vouches that none but trusted machines reach `host`.

    Raises:
        ValueError: it is not on loopback, and lacks a password or TLS.
    """
    if is_loopback(host):
        return
    where = f"other machines reach {host or 'every address of this one'}"
    if password is None:
        raise ValueError(f"{where}: that takes a password")
    if not (encrypted or private_network):
        raise ValueError(
            f"{where}: that takes --tls-certificate and --tls-key; or, where nobody else can listen in, as in a "
            "container or a VPN, --private-network"
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches `host`, a name or an address; one that is not to be resolved is not."""
    try:
        found = socket.getaddrinfo(host, None) if host else []
    except OSError:
        return False
    addresses = [ipaddress.ip_address(str(sockaddr[0])) for *_, sockaddr in found]
    return bool(addresses) and all(address.is_loopback for address in addresses)


def names(host: str, listed: Iterable[str] = ()) -> frozenset[str]:
    """Return what clients may call a remote that listens on `host`: what is listed, and what it calls itself."""
    return frozenset({*listed, socket.gethostname() if host in EVERYWHERE else host})
