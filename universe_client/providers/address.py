"""Remotes that already run: `vnc://` addresses, and `vncs://` addresses for TLS."""

from __future__ import annotations

import re
import stat
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import parse_qs

from rewarder.client import RewarderAddress
from universe_client.errors import ConfigError
from universe_client.providers.provider import RemoteAddress
from vnc.session import VNCAddress
from vnc.tls import TLS
from vnc.vncauth import PASSWORD_BYTES

VNC_PORT = 5900
REWARDER_PORT = 15900
_OPTIONS = ("password", "password_file")
_SECURE_OPTIONS = (*_OPTIONS, "username", "ca_file", "fingerprint", "insecure")

_HOST = re.compile(
    r"(?P<host>\[[0-9A-Fa-f:.]+(?:%[\w.-]+)?\]|[^\[\]:+/?@,]+)(?P<vnc>:\d*)?(?P<rewarder>\+\d*)?",
    flags=re.ASCII,
)


class AddressProvider:
    """Remotes that already run, at the given addresses; they are neither started nor ended.

    Attributes:
        n: the number of remotes.
    """

    def __init__(self, addresses: Sequence[RemoteAddress]) -> None:
        """Use these remotes.

        Args:
            addresses: one for each remote; `parse` reads them from a `vnc://` address.

        Raises:
            ConfigError: there is no address.
        """
        if not addresses:
            raise ConfigError("there is no address: at least one is needed")
        self._addresses = tuple(addresses)
        self.n = len(addresses)

    async def acquire(self, index: int) -> RemoteAddress:
        """Return the address of remote `index`; it is not checked."""
        return self._addresses[index]

    async def discard(self, index: int) -> None:
        """Do nothing: this provider does not start remotes."""

    async def close(self) -> None:
        """Do nothing: this provider does not start remotes."""


def parse(url: str) -> list[RemoteAddress]:
    """Return the remotes of an address, such as `vnc://host:5900+15900,[::1]:5901+15901?password_file=FILE`.

    A host without ports has both default ports, 5900 and 15900; a host with only `:port` has no rewarder. Hosts are
    separated by commas; the options after `?` apply to all hosts before it. Hosts can have different options:
    `vnc://a?password_file=F,b,c?password_file=G`. Then the last host needs a `?` too, and a comma within an option is
    written `%2C`.

    The options:

    - `password`, `password_file`: the password of both ports, or a file of mode 0600 whose first line contains it.
    - `username`: for VNC servers that ask for a user name, with `vncs://` only; see `vnc.session.VNCAddress`.
    - `ca_file`, `fingerprint` (SHA-256, hexadecimal), `insecure=1`: which certificates are accepted, with `vncs://`
      only; see `vnc.tls.TLS`.

    Args:
        url: a `vnc://` address, or a `vncs://` address for TLS on both ports.

    Raises:
        ConfigError: the address does not have this form, or a file that it names cannot be read.
    """
    scheme, separator, rest = url.partition("://")
    if scheme not in ("vnc", "vncs") or not separator:
        raise ConfigError("an address starts with vnc://, as in vnc://localhost:5900+15900, or with vncs://")
    remotes: list[RemoteAddress] = []
    for hosts, query in _groups(rest):
        remotes += _remotes(hosts, query, secure=scheme == "vncs")
    return remotes


def _groups(text: str) -> Iterator[tuple[str, str]]:
    """Yield (hosts, options) for each group of hosts with the same options."""
    hosts, mark, text = text.partition("?")
    while mark:
        query, comma, text = text.partition(",")
        yield hosts, query
        if not comma:
            return
        hosts, mark, text = text.partition("?")
        if not mark:
            raise ConfigError(
                "hosts with different options: the last host needs a ? too; a comma within an option is written %2C"
            )
    yield hosts, ""


def _remotes(hosts: str, query: str, *, secure: bool) -> list[RemoteAddress]:
    options = _options(query, _SECURE_OPTIONS if secure else _OPTIONS)
    password = _password(options)
    tls = _tls(options) if secure else None
    return [_remote(host, password, options.get("username"), tls) for host in hosts.rstrip("/").split(",")]


def _remote(text: str, password: str | None, username: str | None, tls: TLS | None) -> RemoteAddress:
    if "@" in text:
        raise ConfigError("an address has no user part: pass the password as ?password= or ?password_file=")
    match = _HOST.fullmatch(text)
    if match is None:
        raise ConfigError(f"{text!r} is not host, host:vnc_port or host:vnc_port+rewarder_port")
    host = match["host"].strip("[]")
    vnc = VNCAddress(host, _port(match["vnc"], VNC_PORT, text), password, username, tls)
    if match["rewarder"] is None and match["vnc"] is not None:
        return RemoteAddress(vnc)
    return RemoteAddress(
        vnc, RewarderAddress(host, _port(match["rewarder"], REWARDER_PORT, text), password, tls)
    )


def _port(text: str | None, default: int, where: str) -> int:
    if text is None or len(text) == 1:
        return default
    digits = text[1:].lstrip("0")
    port = int(digits) if 0 < len(digits) <= len("65535") else 0
    if not 0 < port < 65536:
        raise ConfigError(f"{where!r} has a port outside 1..65535")
    return port


def _options(query: str, known: Sequence[str]) -> dict[str, str]:
    try:
        options = parse_qs(query, keep_blank_values=True, strict_parsing=bool(query))
    except ValueError:  # its message contains the query, perhaps a password
        raise ConfigError(
            "the options after ? have the form name=value, such as password_file=FILE"
        ) from None
    unknown = options.keys() - set(known)
    if unknown:
        raise ConfigError(f"unknown option {sorted(unknown)[0]!r}, known are {', '.join(known)}")
    return {name: values[-1] for name, values in options.items()}


def _password(options: Mapping[str, str]) -> str | None:
    if options.keys() >= {"password", "password_file"}:
        raise ConfigError("password= and password_file= exclude each other: give one")
    if "password_file" in options:
        return read_secret(Path(options["password_file"]))
    password = options.get("password")
    return password if password is None or "username" in options else checked_password(password)


def _tls(options: Mapping[str, str]) -> TLS:
    if options.get("insecure", "1") != "1":
        raise ConfigError(f"insecure={options['insecure']} is not 1: leave it out to check certificates")
    try:
        tls = TLS(
            Path(options["ca_file"]) if "ca_file" in options else None,
            bytes.fromhex(options["fingerprint"].replace(":", "")) if "fingerprint" in options else None,
            "insecure" in options,
        )
        tls.context()
    except ValueError as error:
        raise ConfigError(str(error)) from error
    return tls


def checked_password(password: str) -> str:
    """Return the password; warn if VNC Authentication uses only a part of it."""
    if len(password) > PASSWORD_BYTES:
        warnings.warn(
            f"the password has {len(password)} characters; VNC authentication uses the first "
            f"{PASSWORD_BYTES} only",
            stacklevel=5,
        )
    return password


def read_secret(path: Path) -> str:
    """Return the first line of a file that only its owner can read.

    Raises:
        ConfigError: the file cannot be read, its mode gives access to group or others, or its first line is empty.
    """
    try:
        mode = path.stat().st_mode
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"password file {path}: {error.strerror}") from error
    except ValueError as error:  # a null character in the name, or text that is not UTF-8
        raise ConfigError(f"password file {str(path)!r}: {error}") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ConfigError(f"password file {path} is open to group or others: chmod 600 {path}")
    password = text.partition("\n")[0].rstrip("\r")
    if not password:
        raise ConfigError(f"password file {path} is empty in its first line, which is the password")
    return password
