"""`python -m rewarder.container ENV_ID [option ...]`: the entrypoint of the images; `--access` prints how to get in.

What may be mounted or given:
  /run/secrets/password              one line; else UNIVERSE_PASSWORD=stdin says that it is the first line of stdin
  /run/secrets/tls.pem, tls.key      with them the remote is reached over TLS only
  UNIVERSE_NETWORK=open              leave the network as the container has it
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from rewarder.container.network import NetworkOpen, close_network
from rewarder.container.spawner import CONTROL, Spawner
from rewarder.container.users import JUDGE, PLAYER, acting_as, become, forgo_privileges
from rewarder.stdin import STDIN, read_line

SECRETS = Path("/run/secrets")
PRIVATE = Path("/run/remote")
"""The judge's own small file system: what the player fills or reads is another one."""
_CANNOT = 2
_SERVE = (sys.executable, "-m", "rewarder", "serve")
_LISTEN = ("--host", "0.0.0.0", "--private-network", "--vnc-port", "5900", "--rewarder-port", "15900")


def main(arguments: Sequence[str]) -> int:
    """Run the container; return its exit status."""
    try:
        if list(arguments) == ["--access"]:
            access = {"password": _read_secret("password"), "certificate": _read_tls().get("tls.pem")}
            print(json.dumps(access))  # noqa: T201  # whoever may start programs in here may do anything
            return 0
        if os.getuid() != 0:
            _complain("not started as root: judge and player are one user, and the network is as it is")
            _serve(arguments)
        if os.environ.get("UNIVERSE_NETWORK") != "open":
            close_network()
        forgo_privileges()
        return _divide(arguments)
    except (NetworkOpen, OSError, ValueError) as error:
        _complain(str(error))
        return _CANNOT


def _divide(arguments: Sequence[str]) -> int:
    """Start the judge, and go on as the player."""
    ours, judges = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        ours.close()
        os.environ[CONTROL] = str(judges.fileno())
        os.set_inheritable(judges.fileno(), True)
        _judge(arguments, reading, writing)
    judges.close()
    os.close(reading)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, STDIN)
    become(PLAYER)
    return Spawner(ours, pid, writing).serve()


def _judge(arguments: Sequence[str], reading: int, writing: int) -> NoReturn:
    """Become the judge's process, which ends when the last `writing` is closed."""
    try:
        os.setsid()  # no process group with the player
        password, tls = _password(), _read_tls()
        become(JUDGE)
        os.environ |= {"HOME": str(PRIVATE), "TMPDIR": str(PRIVATE)}
        os.umask(0o007)  # what is shared lies in directories of the player's group, the rest is in `PRIVATE`
        more = _tls(tls, PRIVATE)
        if password is not None:
            os.write(writing, json.dumps({"password": password}).encode() + b"\n")
            more.append("--password-stdin")
        os.dup2(reading, STDIN)
        os.close(writing)
        os.execv(sys.executable, [*_SERVE, *arguments, *_LISTEN, "--exit-with-stdin", *more])
    except (OSError, ValueError) as error:
        _complain(str(error))
    finally:
        os._exit(_CANNOT)


def _serve(arguments: Sequence[str]) -> NoReturn:
    """Serve as the one user that this is, and what it may read."""
    more = _tls(_read_tls(), Path("/tmp"))
    if (password := _read_secret("password")) is not None:
        file = Path("/tmp/.password")
        _write_private(file, password)
        more += ["--password-file", str(file)]
    os.execv(sys.executable, [*_SERVE, *arguments, *_LISTEN, *more])


def _password() -> str | None:
    """Return it; what came over stdin is also put where `--password` finds it."""
    if os.environ.pop("UNIVERSE_PASSWORD", None) != "stdin":
        return _read_secret("password")
    password = read_line().decode().rstrip("\r\n")
    with acting_as(JUDGE.id):
        _write_private(SECRETS / "password", password)
    return password


def _read_secret(name: str) -> str | None:
    """Return what a mounted file has, without its last newline; None if there is none."""
    path = SECRETS / name
    if os.getuid() != 0:
        return path.read_text().rstrip("\r\n") if path.exists() else None
    with acting_as(SECRETS.stat().st_uid):
        if not path.exists():
            return None
        found = os.open(path, os.O_PATH)
    try:
        with acting_as(os.fstat(found).st_uid):  # who owns the file may not pass through the directory
            return Path(f"/proc/self/fd/{found}").read_text().rstrip("\r\n")
    finally:
        os.close(found)


def _read_tls() -> dict[str, str]:
    """Return the certificate and its key by file name; nothing without a key."""
    found = {name: _read_secret(name) for name in ("tls.key", "tls.pem")}
    return {name: text for name, text in found.items() if text is not None} if found["tls.key"] else {}


def _tls(texts: Mapping[str, str], directory: Path) -> list[str]:
    for name, text in texts.items():
        _write_private(directory / name, text + "\n")
    if not texts:
        return []
    return ["--tls-certificate", str(directory / "tls.pem"), "--tls-key", str(directory / "tls.key")]


def _write_private(path: Path, text: str) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o400), "w") as file:
        file.write(text)


def _complain(what: str) -> None:
    print(f"rewarder.container: {what}", file=sys.stderr)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
