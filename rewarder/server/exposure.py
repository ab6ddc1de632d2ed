"""Which hosts a remote may listen on: off loopback, only with a password and TLS."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable

EVERYWHERE = ("0.0.0.0", "::", "")
"""Hosts that mean all addresses of this machine."""


def check_reach(host: str, password: str | None, *, encrypted: bool, private_network: bool) -> None:
    """Raise if other machines could log in without a password, or read an unencrypted connection.

    Args:
        host: the address to listen on.
        password: that clients must send; None is none.
        encrypted: whether clients must use TLS.
        private_network: whether the user states that only trusted machines reach `host`.

    Raises:
        ValueError: `host` is not on loopback, and a password or TLS is missing.
    """
    if is_loopback(host):
        return
    where = f"other machines reach {host or 'every address of this one'}"
    if password is None:
        raise ValueError(f"{where}: this requires a password")
    if not (encrypted or private_network):
        raise ValueError(
            f"{where}: this requires --tls-certificate and --tls-key; or --private-network, where only trusted "
            "machines reach that address, as in a container or a VPN"
        )


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches `host`, a name or an address. False if it cannot be resolved."""
    try:
        found = socket.getaddrinfo(host, None) if host else []
    except OSError:
        return False
    addresses = [ipaddress.ip_address(str(sockaddr[0])) for *_, sockaddr in found]
    return bool(addresses) and all(address.is_loopback for address in addresses)


def names(host: str, listed: Iterable[str] = ()) -> frozenset[str]:
    """Return the names that clients may use for a server on `host`: those listed, and the host's own."""
    return frozenset({*listed, socket.gethostname() if host in EVERYWHERE else host})
