"""`python -m rewarder`: one remote, served for the process that starts it."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence

import msgspec

from rewarder.runtimes.serve import serve_env
from rewarder.sdk.priority import give_way
from rewarder.sdk.runtime import Ports, RuntimeCrash
from rewarder.serving import MAX_REQUEST, Ready, Request
from rewarder.stdin import read_line
from rewarder.version import VERSION

_USAGE = """\
usage: python -m rewarder [REQUEST]

Serve one remote for the process that starts this one. People use `universe-client serve`, with the same options.

REQUEST is a JSON object, by default the first line of stdin:
  {"env_id": "builtin.NeonDrive-v0", "serving": {"fps": 30}, "password": "...", "log_level": "warning"}
`rewarder.serving.Request` and `Serving` list all fields. A password is accepted from stdin only.

When both ports are open, one line of JSON is printed:
  {"vnc_port": 5900, "rewarder_port": 15900, "mirror_port": 0, "version": "...", "viewer_token": "..."}

The remote ends at the end of stdin, when its parent process dies, and after SIGTERM or SIGINT.
Exit status: 0 stopped or idle, 1 the environment crashed, 2 the remote cannot be started.
"""
_CANNOT_START = 2


def main(arguments: Sequence[str]) -> int:
    """Serve the remote that the arguments or stdin ask for; return the exit status."""
    if len(arguments) > 1 or arguments[:1] in (["-h"], ["--help"]) or (not arguments and sys.stdin.isatty()):
        print(_USAGE, file=sys.stderr, end="")  # noqa: T201
        return _CANNOT_START
    try:
        _serve(_request(arguments))
    except RuntimeCrash:
        return 1  # the runtime's traceback is in the log
    except (OSError, ValueError, ImportError) as error:
        print(f"rewarder: {error}", file=sys.stderr)  # noqa: T201
        return _CANNOT_START
    return 0


def _request(arguments: Sequence[str]) -> Request:
    text = arguments[0].encode() if arguments else read_line(limit=MAX_REQUEST)
    try:
        request = msgspec.json.decode(text, type=Request)
    except msgspec.DecodeError as error:
        raise ValueError(f"the request is not valid: {error} (python -m rewarder --help)") from None
    if arguments and (request.password or request.view_only_password):
        raise ValueError(
            "a password on the command line is visible to other users: send the request over stdin"
        )
    return request


def _serve(request: Request) -> None:
    give_way()
    logging.basicConfig(
        level=request.log_level.upper(), format="%(asctime)s %(name)s %(message)s", stream=sys.stderr
    )
    serve_env(
        request.env_id,
        request.serving,
        password=request.password,
        view_only_password=request.view_only_password,
        on_ready=_print_ready,
        exit_with_stdin=True,
    )


def _print_ready(ports: Ports) -> None:
    ready = Ready(
        vnc_port=ports.vnc_port,
        rewarder_port=ports.rewarder_port,
        mirror_port=ports.mirror_port,
        version=VERSION,
        viewer_token=ports.tokens.watch,
    )
    print(msgspec.json.encode(ready).decode(), flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
