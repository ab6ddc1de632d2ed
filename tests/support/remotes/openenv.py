"""A server of OpenEnv on loopback; for tests in the environment that has OpenEnv."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager

import uvicorn

from universe_client.adapters.openenv import app


@contextmanager
def served(env_id, remotes=1, **options):
    """Serve on loopback; yield the URL."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app(env_id, remotes, **options), log_config=None))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(60)
        assert not thread.is_alive()
