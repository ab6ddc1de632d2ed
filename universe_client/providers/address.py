"""Remotes that run already: `vnc://` addresses, and `vncs://` ones over TLS."""

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

VNC_PORT = 5900
REWARDER_PORT = 15900
_VNC_PASSWORD_LENGTH = 8
_OPTIONS = ("password", "password_file")
_SECURE_OPTIONS = (*_OPTIONS, "username", "ca_file", "fingerprint", "insecure")

_HOST = re.compile(
    r"(?P<host>\[[0-9A-Fa-f:.]+(?:%[\w.-]+)?\]|[^\[\]:+/?@,]+)(?P<vnc>:\d*)?(?P<rewarder>\+\d*)?",
    flags=re.ASCII,
)


class AddressProvider:
    """Hands out remotes that somebody else runs."""

    def __init__(self, addresses: Sequence[RemoteAddress]) -> None:
        if not addresses:
            raise ConfigError("no remote is named")
        self._addresses = tuple(addresses)
        self.n = len(addresses)

    async def acquire(self, index: int) -> RemoteAddress:
        """Return the address; whether anybody listens there shows in the connecting."""
        return self._addresses[index]

    async def discard(self, index: int) -> None:
        """Do nothing: the remote is not ours to replace."""

    async def close(self) -> None:
        """Do nothing: the remotes are not ours to end."""


def parse(url: str) -> list[RemoteAddress]:
    """Parse `vnc://host:5900+15900,[::1]:5901+15901?password=x`.

    Without any port a host has both default ports, 5900 and 15900; with only `:port` it has no rewarder. The
    password, given as `password=` or read from `password_file=`, serves both channels, and all hosts before its `?`.

    Hosts with options of their own follow each other: `vnc://a?password_file=F,b,c?password_file=G`. The last host
    needs a `?` then, empty where it has no options; a comma within an option is written `%2C`.

    With `vncs://` both channels go over TLS, and `ca_file=`, `fingerprint=` (SHA-256 in hexadecimal) and `insecure=1`
    say of both servers what `vnc.tls.TLS` says. `username=` is for VNC alone: see `vnc.session.VNCAddress`.

    Raises:
        ConfigError: the address is not of this form, or a file that it names cannot be used.
    """
    scheme, separator, rest = url.partition("://")
    if scheme not in ("vnc", "vncs") or not separator:
        raise ConfigError("an address starts with vnc://, as in vnc://localhost:5900+15900, or with vncs://")
    remotes: list[RemoteAddress] = []
    for hosts, query in _groups(rest):
        remotes += _remotes(hosts, query, secure=scheme == "vncs")
    return remotes


def _groups(text: str) -> Iterator[tuple[str, str]]:
    """Split hosts with options of their own from each other."""
    hosts, mark, text = text.partition("?")
    while mark:
        query, comma, text = text.partition(",")
        yield hosts, query
        if not comma:
            return
        hosts, mark, text = text.partition("?")
        if not mark:
            raise ConfigError(
                "after the first ? every further host needs one too, and a comma within an option is %2C"
            )
    yield hosts, ""


def _remotes(hosts: str, query: str, *, secure: bool) -> list[RemoteAddress]:
    options = _options(query, _SECURE_OPTIONS if secure else _OPTIONS)
    password = _password(options)
    tls = _tls(options) if secure else None
    return [_remote(host, password, options.get("username"), tls) for host in hosts.rstrip("/").split(",")]


def _remote(text: str, password: str | None, username: str | None, tls: TLS | None) -> RemoteAddress:
    if "@" in text:
        raise ConfigError("an address has no user part; a password goes into ?password= or ?password_file=")
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
    except ValueError:  # its words have the query in them
        raise ConfigError("after ? comes password=... or password_file=...") from None
    unknown = options.keys() - set(known)
    if unknown:
        raise ConfigError(f"unknown option {sorted(unknown)[0]!r}: {', '.join(known)} are known")
    return {name: values[-1] for name, values in options.items()}


def _password(options: Mapping[str, str]) -> str | None:
    if options.keys() >= {"password", "password_file"}:
        raise ConfigError("both password and password_file are given")
    if "password_file" in options:
        return read_secret(Path(options["password_file"]))
    password = options.get("password")
    return password if password is None or "username" in options else checked_password(password)


def _tls(options: Mapping[str, str]) -> TLS:
    if options.get("insecure", "1") != "1":
        raise ConfigError(f"insecure={options['insecure']}: it is 1, or not given")
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
    """Warn of a password, typed by hand, of which VncAuth uses a part; the rewarder uses all of it."""
    if len(password) > _VNC_PASSWORD_LENGTH:
        warnings.warn(
            f"the password has {len(password)} characters; VNC authentication uses the first "
            f"{_VNC_PASSWORD_LENGTH} only",
            stacklevel=5,
        )
    return password


def read_secret(path: Path) -> str:
    """Return the first line of a file that only its owner can read.

    Raises:
        ConfigError: the file is missing, or its mode lets group or others in.
    """
    try:
        mode = path.stat().st_mode
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"password file {path}: {error.strerror}") from error
    except ValueError as error:  # a null character in its name, or other text than UTF-8 in it
        raise ConfigError(f"password file {str(path)!r}: {error}") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ConfigError(f"password file {path} is open to group or others: chmod 600 {path}")
    return text.partition("\n")[0]
