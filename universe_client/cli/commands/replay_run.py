"""`universe-client replay DIR`: a recorded run as a remote."""

from __future__ import annotations

import argparse

from universe_client.cli.commands import serve
from universe_client.errors import ConfigError
from universe_client.recording.extra import require


def replay_run(options: argparse.Namespace) -> int:
    """Serve a recorded run until Ctrl-C; return the exit status.

    Args:
        options: of `replay`: `file`, `remote`, `host`, `port` and `speed`.

    Raises:
        ConfigError: there is no such recording.
    """
    require()
    from universe_client.recording.reading import Recording
    from universe_client.recording.replay import Replay

    if options.speed != 1:
        raise ConfigError("--speed is for the files of `record`: agents of a recorded run use time_scale=")
    runtime = Replay(Recording(options.file), options.remote)
    parser = argparse.ArgumentParser()
    serve.configure(parser)
    arguments = [runtime.env_ids[0], "--host", options.host, "--vnc-port", str(options.port)]
    return serve.serve_as(parser.parse_args(arguments), runtime)
