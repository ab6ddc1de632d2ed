"""`python -m rewarder.container ENV_ID [option ...]`: the entrypoint of the images.

The options are those of `universe-client serve`, except where the remote listens. `--access` prints how clients of the
running container authenticate.

The container's environment may contain:
  /run/secrets/password              the password, in one line; default: a random one, which `--access` prints
  /run/secrets/tls.pem, tls.key      a certificate and its key; clients then have to use TLS
  UNIVERSE_REQUEST=stdin             the first line of stdin is a `rewarder.serving.Request`: its password, and its
                                     options take precedence over those of the command line
  UNIVERSE_NETWORK=open              leave the container's network as it is
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from rewarder.container.network import PORTS, NetworkOpen, close_network
from rewarder.container.spawner import CONTROL, Spawner
from rewarder.container.users import JUDGE, PLAYER, acting_as, become, forgo_privileges
from rewarder.stdin import STDIN, read_line
from vnc.private_file import create_private

SECRETS = Path("/run/secrets")
PRIVATE = Path("/run/remote")
"""A small file system of the judge alone, which the player cannot fill or read."""
_CANNOT_START = 2
_MAX_LINE = 32 * 1024  # as MAX_REQUEST of rewarder.serving, which imports more


def main(arguments: Sequence[str]) -> int:
    """Run the container; return its exit status."""
    try:
        if list(arguments) == ["--access"]:
            access = {"password": _read_secret("password"), "certificate": _read_tls().get("tls.pem")}
            print(json.dumps(access))  # noqa: T201  # who can start programs in here can read the files anyway
            return 0
        if os.getuid() != 0:
            _complain("not started as root: judge and player are one user, and the network stays open")
            _serve_as_one_user(arguments)
        if os.environ.get("UNIVERSE_NETWORK") != "open":
            close_network()
        forgo_privileges()
        return _run_two_users(arguments)
    except (NetworkOpen, OSError, ValueError) as error:
        _complain(str(error))
        return _CANNOT_START


def _run_two_users(arguments: Sequence[str]) -> int:
    """Start the judge in a child process, and continue as the player."""
    ours, judges = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        ours.close()
        os.environ[CONTROL] = str(judges.fileno())
        os.set_inheritable(judges.fileno(), True)
        _become_judge(arguments, reading, writing)
    judges.close()
    os.close(reading)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, STDIN)
    become(PLAYER)
    return Spawner(ours, pid, writing).serve()


def _become_judge(arguments: Sequence[str], reading: int, writing: int) -> NoReturn:
    """Execute the rewarder as the judge. It ends when the last copy of `writing`, its stdin, is closed."""
    status: object = _CANNOT_START
    try:
        os.setsid()  # leaves the player's process group
        line = _read_request()
        password, tls = _read_secret("password"), _read_tls()
        become(JUDGE)
        os.environ |= {"HOME": str(PRIVATE), "TMPDIR": str(PRIVATE)}
        os.umask(0o007)  # directories of the player's group contain what is shared, `PRIVATE` everything else
        _execute(_request(arguments, line, password, tls, PRIVATE), reading, writing)
    except SystemExit as exit:
        status = exit.code  # of argparse
        sys.stdout.flush()
    except (OSError, ValueError) as error:
        _complain(str(error))
    finally:
        os._exit(status if isinstance(status, int) else _CANNOT_START)


def _serve_as_one_user(arguments: Sequence[str]) -> NoReturn:
    """Execute the rewarder as the user that this process is, with the secrets that this user can read."""
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)  # a stdin that ends would end the remote
    request = _request(arguments, _read_request(), _read_secret("password"), _read_tls(), Path("/tmp"))
    _execute(request, reading, writing)


def _execute(request: bytes, reading: int, writing: int) -> NoReturn:
    os.write(writing, request + b"\n")
    os.dup2(reading, STDIN)
    os.execv(sys.executable, [sys.executable, "-m", "rewarder"])


def _read_request() -> bytes | None:
    """Return the first line of stdin, if the container was started with a request there."""
    if os.environ.pop("UNIVERSE_REQUEST", None) != "stdin":
        return None
    return read_line(limit=_MAX_LINE)


def _request(
    arguments: Sequence[str],
    line: bytes | None,
    password: str | None,
    tls: Mapping[str, str],
    directory: Path,
) -> bytes:
    """Return the encoded request for `python -m rewarder`.

    Args:
        arguments: the command line of the container, with its image's options.
        line: a request from the process that started the container; its options take precedence.
        password: the mounted password, if there is no `line`.
        tls: the mounted certificate and its key by file name, if `line` has none; empty without TLS.
        directory: where the rewarder can read them.

    Raises:
        SystemExit: `arguments` has a usage error.
        ValueError: `line` is not a request, or the result is longer than MAX_REQUEST.
    """
    # Imported in the process that executes the rewarder only, so that process 1 stays small.
    import msgspec

    from rewarder.cli.serve_options import request
    from rewarder.serving import MAX_REQUEST, ContainerRequest, Request, Serving

    asked = request("entrypoint", arguments)
    if line is not None:
        theirs = msgspec.json.decode(line, type=ContainerRequest)
        asked = Request(
            env_id=theirs.env_id,
            serving=theirs.serving.over(asked.serving),
            view_only_password=theirs.view_only_password,
            log_level=theirs.log_level,
        )
        password = theirs.password
        if theirs.certificate is not None and theirs.key is not None:
            tls = {"tls.pem": theirs.certificate, "tls.key": theirs.key}
            _write_tls(tls, SECRETS)  # for --access
    if line is not None or password is None:
        password = password or secrets.token_urlsafe(16)
        _write_private(SECRETS / "password", password)  # for --access
    files = _write_tls(tls, directory)
    listen = Serving(
        host="0.0.0.0",
        private_network=True,
        vnc_port=PORTS[0],
        rewarder_port=PORTS[1],
        tls_certificate=None if files is None else str(files / "tls.pem"),
        tls_key=None if files is None else str(files / "tls.key"),
    )
    asked = msgspec.structs.replace(asked, serving=listen.over(asked.serving), password=password)
    encoded = msgspec.json.encode(asked)
    if len(encoded) > MAX_REQUEST:
        raise ValueError(f"the options have {len(encoded)} bytes, {MAX_REQUEST} are allowed")
    return encoded


def _read_secret(name: str) -> str | None:
    """Return the text of a mounted file without its last newline; None if the file does not exist."""
    path = SECRETS / name
    if os.getuid() != 0:
        return path.read_text().rstrip("\r\n") if path.exists() else None
    with acting_as(SECRETS.stat().st_uid):
        if not path.exists():
            return None
        found = os.open(path, os.O_PATH)
    try:
        with acting_as(os.fstat(found).st_uid):  # the file's owner may be unable to search the directory
            return Path(f"/proc/self/fd/{found}").read_text().rstrip("\r\n")
    finally:
        os.close(found)


def _read_tls() -> dict[str, str]:
    """Return the texts of the certificate and its key by file name; an empty dict without a key."""
    found = {name: _read_secret(name) for name in ("tls.key", "tls.pem")}
    return {name: text for name, text in found.items() if text is not None} if found["tls.key"] else {}


def _write_tls(texts: Mapping[str, str], directory: Path) -> Path | None:
    """Write the certificate and its key into a directory that the rewarder can read; return it, or None without TLS."""
    for name, text in texts.items():
        _write_private(directory / name, text + "\n")
    return directory if texts else None


def _write_private(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)  # of the container's previous start
    with create_private(path) as file:
        file.write(text.encode())


def _complain(text: str) -> None:
    print(f"rewarder.container: {text}", file=sys.stderr)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
