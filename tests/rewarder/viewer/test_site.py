"""The viewer's pages over a real socket: what is served, to whom, and what is not."""

import json
import logging
import re
from pathlib import Path

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from rewarder.credentials import authorization
from rewarder.viewer import site as viewer_module
from rewarder.viewer.site import Viewer, ViewerTokens, find_novnc
from tests.rewarder.remotes import Scripted, served
from tests.support.network.http import get

PASSWORD = "canary-5d1e"
MODULE = "export default class RFB {}\n"


@pytest.fixture
def novnc(tmp_path):
    """A noVNC of two modules, with things beside them that are nobody's business."""
    root = tmp_path / "noVNC"
    for name in ("core/rfb.js", "vendor/pako/lib/zlib/inflate.js"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(MODULE)
    (root / "core/secret.txt").write_text("canary")
    (root / "vnc.html").write_text("canary")
    (tmp_path / "outside.js").write_text("canary")
    return root


@pytest.fixture
async def ports(novnc):
    async with served(Scripted(), password=PASSWORD, novnc=novnc) as (ports, _):
        yield ports


@pytest.fixture
def no_novnc(monkeypatch):
    monkeypatch.setattr(viewer_module, "NOVNC_PLACES", ())
    monkeypatch.delenv(viewer_module.NOVNC_VARIABLE, raising=False)


async def status_of(ports, query, **options):
    """The HTTP status with which a WebSocket is refused; 101 if it is not."""
    url = f"ws://127.0.0.1:{ports.rewarder_port}/viewer/websockify{query}"
    try:
        async with connect(url, proxy=None, **options):
            return 101
    except InvalidStatus as error:
        return error.response.status_code


@pytest.mark.parametrize(
    ("path", "kind", "content"),
    [
        ("", "text/html", b"./novnc/core/rfb.js"),
        ("novnc/core/rfb.js", "text/javascript", MODULE.encode()),
        ("novnc/vendor/pako/lib/zlib/inflate.js", "text/javascript", MODULE.encode()),
    ],
)
async def test_pages_have_their_type_and_a_strict_policy(ports, path, kind, content):
    answer = await get(ports.rewarder_port, f"/viewer/{path}")
    assert answer.status == 200 and content in answer.body
    assert answer.headers["content-type"] == f"{kind}; charset=utf-8"
    assert int(answer.headers["content-length"]) == len(answer.body)
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'") and "unsafe" not in policy and "http" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    "path",
    [
        "/viewer/novnc/../outside.js",
        "/viewer/novnc/core/../../../outside.js",
        "/viewer/novnc/core/..%2f..%2f..%2foutside.js",
        "/viewer/novnc/%2e%2e/%2e%2e/outside.js",
        "/viewer/novnc//etc/passwd",
        "/viewer//etc/passwd",
        "/viewer/../../../../etc/passwd",
        "/viewer/novnc/core/rfb.js%00.html",
        "/viewer/novnc/core\\rfb.js",
        "/viewer/novnc/core/",
        "/viewer/novnc/",
        "/viewer/novnc",
        "/viewer/novnc/vnc.html",
        "/viewer/novnc/core/secret.txt",
        "/viewer/viewer.py",
        "/viewer/missing.html",
        "/viewer/viewer.js",
        "/viewer/../viewer.py",
    ],
)
async def test_nothing_else_is_served(ports, path):
    answer = await get(ports.rewarder_port, path)
    assert answer.status == 404 and answer.body == b"not found\n"


def test_the_pages_ask_nobody_else():
    for page in Path(viewer_module.__file__).with_name("page").iterdir():
        loaded = re.findall(r'(?:src|href|from|url)[ =(]+["\']?(https?:[^"\' )]*)', page.read_text())
        assert [link for link in loaded if link != "https://novnc.com"] == [], page
    assert "https:" not in (Path(viewer_module.__file__).with_name("page") / "viewer.html").read_text()


async def test_without_novnc_the_page_says_what_to_do(no_novnc):
    async with served(Scripted()) as (ports, _):
        answer = await get(ports.rewarder_port, "/viewer/")
        module = await get(ports.rewarder_port, "/viewer/novnc/core/rfb.js")
    assert answer.status == 200 and b"apt install novnc" in answer.body
    assert module.status == 404


def test_novnc_is_where_it_is_said_to_be(no_novnc, novnc, monkeypatch):
    assert find_novnc() is None
    assert find_novnc(novnc) == novnc
    monkeypatch.setenv(viewer_module.NOVNC_VARIABLE, str(novnc))
    assert find_novnc() == novnc


def test_a_directory_without_novnc_is_refused_when_it_was_named(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"not contain noVNC.*core/rfb\.js"):
        Viewer(tmp_path)
    monkeypatch.setenv(viewer_module.NOVNC_VARIABLE, str(tmp_path))
    with pytest.raises(ValueError, match="not contain noVNC"):
        Viewer()


def test_tokens_are_random_and_not_shown():
    one, other = ViewerTokens(), ViewerTokens()
    assert len({one.watch, one.act, other.watch, other.act}) == 4
    assert min(len(one.watch), len(one.act)) >= 32
    assert one.watch not in repr(one) and one.act not in repr(one)


def test_each_token_allows_its_own_thing():
    tokens = ViewerTokens()
    assert tokens.allows(tokens.act) is True
    assert tokens.allows(tokens.watch) is False
    for wrong in ("", tokens.watch[:-1], tokens.watch + "a", tokens.watch.swapcase(), "\udc80"):
        assert tokens.allows(wrong) is None


@pytest.mark.parametrize(
    "query", ["", "?token=", "?token=wrong", "?tokens={watch}", "?token={watch}&token={watch}"]
)
async def test_no_right_token_no_screen(ports, query):
    assert await status_of(ports, query.format(watch=ports.tokens.watch)) == 401


async def test_the_password_is_no_token(ports):
    headers = {"Authorization": authorization(PASSWORD)}
    assert await status_of(ports, f"?token={PASSWORD}", additional_headers=headers) == 401


async def test_only_pages_of_this_very_host_may_connect(ports):
    query, port = f"?token={ports.tokens.watch}", ports.rewarder_port
    assert await status_of(ports, query) == 101
    assert await status_of(ports, query, origin=f"http://127.0.0.1:{port}") == 101
    for origin in ("http://evil.example", f"http://localhost:{port}", f"http://127.0.0.1:{port + 1}", "null"):
        assert await status_of(ports, query, origin=origin) == 403


async def test_tokens_are_told_to_who_has_the_password(ports):
    allowed = await get(ports.rewarder_port, "/viewer/tokens", f"Authorization: {authorization(PASSWORD)}")
    assert json.loads(allowed.body) == {"watch": ports.tokens.watch, "act": ports.tokens.act}
    assert allowed.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("lines", [[], ["Authorization: Bearer wrong"]])
async def test_tokens_are_told_to_nobody_else(ports, lines):
    refused = await get(ports.rewarder_port, "/viewer/tokens", *lines)
    assert refused.status == 401 and ports.tokens.watch.encode() not in refused.body


async def test_a_strange_page_does_not_get_the_tokens(ports):
    lines = [f"Authorization: {authorization(PASSWORD)}", "Origin: http://evil.example"]
    assert (await get(ports.rewarder_port, "/viewer/tokens", *lines)).status == 403


async def test_no_log_has_a_token(ports, caplog):
    with caplog.at_level(logging.DEBUG):
        assert await status_of(ports, f"?token={ports.tokens.watch}") == 101
        assert await status_of(ports, "?token=canary-token") == 401
    # The client's own log is not ours.
    ours = "\n".join(r.getMessage() for r in caplog.records if not r.name.startswith("websockets"))
    assert "/viewer/websockify?token=[hidden]" in ours
    assert ports.tokens.watch not in ours and "canary-token" not in ours


async def test_every_module_of_debians_novnc_can_be_loaded():
    """Each import of each module leads to something that is served."""
    async with served(Scripted(), novnc=Path("/usr/share/novnc")) as (ports, _):
        seen, todo = set(), ["novnc/core/rfb.js"]
        while todo:
            name = todo.pop()
            seen.add(name)
            answer = await get(ports.rewarder_port, f"/viewer/{name}")
            assert answer.status == 200, name
            for target in re.findall(
                r'^import [^"\']*["\'](\.[^"\']+)["\']', answer.body.decode(), re.MULTILINE
            ):
                path = str((Path("/") / name).parent.joinpath(target).resolve().relative_to("/"))
                todo += [path] if path not in seen | set(todo) else []
    assert len(seen) > 20
