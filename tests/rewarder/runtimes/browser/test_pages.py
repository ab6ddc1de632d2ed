"""The catalogue of pages, and their HTTP server."""

import socket

import pytest

from rewarder.runtimes.browser import pages as browser_pages
from rewarder.runtimes.browser.pages import PageServer, catalogue, page_of

CLICK = "browser.click-test"


def test_an_unknown_page_is_refused():
    with pytest.raises(ValueError, match=r"unknown env_id 'browser\.nothing'; the nearest of \d+: browser\."):
        page_of("browser.nothing")


def test_without_the_pages_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(browser_pages, "miniwob_root", lambda: None)
    with pytest.raises(ImportError, match=r"pip install '\.\[browser\]'"):
        page_of(CLICK)
    assert list(catalogue()) == ["browser.Fireflies-v0", "browser.Slalom-v0"]


def test_every_task_has_an_env_id():
    assert len([env_id for env_id in catalogue() if not env_id.endswith("-v0")]) >= 125


def test_the_page_server_serves_its_folders_and_nothing_else():
    with PageServer() as server:
        assert get(server, "/games/Slalom-v0.html").startswith(b"HTTP/1.1 200")
        for path in (
            "/",
            "/games/",
            "/games/../browser.py",
            "/games/%2e%2e/browser.py",
            "/etc/passwd",
            "//etc/passwd",
        ):
            assert get(server, path).startswith(b"HTTP/1.1 404"), path


def get(server, path):
    with socket.create_connection(("127.0.0.1", server._server.server_address[1]), 5) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        return connection.makefile("rb").read()
