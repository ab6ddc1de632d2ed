"""Remotes as tools for language models, over the Model Context Protocol: what `universe-client mcp` serves.

It needs the extra `mcp`, and is imported only by the command.
"""

from universe_client.hands.mcp.http import http_app
from universe_client.hands.mcp.remotes import Remotes
from universe_client.hands.mcp.server import make_server
from universe_client.hands.mcp.serving import opened, serve_http, serve_stdio

__all__ = ["Remotes", "http_app", "make_server", "opened", "serve_http", "serve_stdio"]
