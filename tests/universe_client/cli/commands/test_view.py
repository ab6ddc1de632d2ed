"""`universe-client view`: where it leads, and what it keeps to itself."""

import asyncio
import os
import re
import stat
from pathlib import Path

import pytest

from tests.rewarder.remotes import Scripted, served
from tests.support.network.certificates import Authority
from universe_client.cli.commands import view as view_module
from universe_client.cli.commands.view import viewer_url
from universe_client.cli.main import main
from universe_client.errors import ConfigError
from universe_client.providers.address import parse
from vnc.vncauth import obfuscated

PASSWORD = "canary-2f9c"


@pytest.fixture
def password_file(tmp_path):
    path = tmp_path / "password"
    path.touch(mode=0o600)
    path.write_text(f"{PASSWORD}\n")
    return path


def address(ports, password_file):
    return f"vnc://127.0.0.1:{ports.vnc_port}+{ports.rewarder_port}?password_file={password_file}"


def read_private(path):
    return path.read_text(), tuple(stat.S_IMODE(each.stat().st_mode) for each in (path, path.parent))


@pytest.mark.parametrize("acting", [False, True])
async def test_the_url_has_a_token_and_no_password(password_file, acting):
    async with served(Scripted(), password=PASSWORD) as (ports, _):
        (remote,) = parse(address(ports, password_file))
        url = await asyncio.to_thread(viewer_url, remote, acting=acting)
    token = f"act={ports.tokens.act}" if acting else f"watch={ports.tokens.watch}"
    assert url == f"http://127.0.0.1:{ports.rewarder_port}/viewer/#{token}"


async def test_the_browser_is_led_there_by_a_file_of_our_own(password_file, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr(view_module.webbrowser, "open", lambda url: opened.append(url) or True)
    async with served(Scripted(), password=PASSWORD) as (ports, _):
        assert await asyncio.to_thread(main, ["view", address(ports, password_file)]) == 0
    (url,) = opened
    assert ports.tokens.watch not in url, "others see a browser's arguments"
    page, modes = read_private(Path(url.removeprefix("file://")))
    assert modes == (0o600, 0o700)
    assert f"/viewer/#watch={ports.tokens.watch}" in page and PASSWORD not in page


async def test_without_a_browser_the_url_is_printed(password_file, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr(view_module.webbrowser, "open", lambda url: False)
    async with served(Scripted(), password=PASSWORD) as (ports, _):
        assert await asyncio.to_thread(main, ["view", "--act", address(ports, password_file)]) == 0
    assert capsys.readouterr().out.strip().endswith(f"/viewer/#act={ports.tokens.act}")


async def test_a_wrong_password_is_said(tmp_path):
    async with served(Scripted(), password=PASSWORD) as (ports, _):
        (remote,) = parse(f"vnc://127.0.0.1:{ports.vnc_port}+{ports.rewarder_port}?password=wrong")
        with pytest.raises(ConfigError, match=rf"127\.0\.0\.1:{ports.rewarder_port} rejects the password"):
            await asyncio.to_thread(viewer_url, remote, acting=False)


@pytest.fixture
async def over_tls(identity):
    """The ports of a remote, both with TLS."""
    async with served(Scripted(), password=PASSWORD, identity=identity) as (ports, _):
        yield ports


def secure(ports, password_file, trust):
    return address(ports, password_file).replace("vnc:", "vncs:") + f"&{trust}"


async def test_over_tls_the_page_is_https(over_tls, password_file, authority, identity):
    for trust in (
        f"ca_file={authority.certificate}",
        f"fingerprint={identity.fingerprint.hex()}",
        "insecure=1",
    ):
        (remote,) = parse(secure(over_tls, password_file, trust))
        url = await asyncio.to_thread(viewer_url, remote, acting=False)
        assert url == f"https://127.0.0.1:{over_tls.rewarder_port}/viewer/#watch={over_tls.tokens.watch}"


async def test_a_remote_that_is_not_trusted_is_not_asked(over_tls, password_file, tmp_path):
    (tmp_path / "other").mkdir()
    other = Authority(tmp_path / "other", "other").certificate
    for trust, words in (
        (f"ca_file={other}", "the server's certificate is refused: "),
        (f"fingerprint={'00' * 32}", "which is not the pinned one"),
    ):
        (remote,) = parse(secure(over_tls, password_file, trust))
        with pytest.raises(ConfigError, match=rf"127\.0\.0\.1:{over_tls.rewarder_port}: .*{words}"):
            await asyncio.to_thread(viewer_url, remote, acting=False)


async def test_a_remote_without_tls_is_not_viewed_in_the_clear(password_file):
    async with served(Scripted(), password=PASSWORD) as (ports, _):
        (remote,) = parse(secure(ports, password_file, "insecure=1"))
        with pytest.raises(ConfigError, match="is not TLS"):
            await asyncio.to_thread(viewer_url, remote, acting=False)


@pytest.mark.parametrize(
    ("query", "options"),
    [
        ("", "-SecurityTypes X509None"),
        ("?password=x", "-SecurityTypes X509Vnc"),
        ("?password=x&username=y", "-SecurityTypes X509Plain"),
        ("?password=x&insecure=1", "-SecurityTypes X509Vnc,TLSVnc"),
        ("?password=x&ca_file=FILE", "-SecurityTypes X509Vnc -X509CA FILE"),
    ],
)
def test_a_native_viewer_is_told_to_insist_on_tls(tmp_path, monkeypatch, authority, query, options):
    fake = tmp_path / "vncviewer"
    fake.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/said\n')
    fake.chmod(0o755)
    monkeypatch.setattr(view_module.shutil, "which", lambda name: str(fake))
    ca_file = str(authority.certificate)
    assert main(["view", "--native", f"vncs://127.0.0.1:5977{query.replace('FILE', ca_file)}"]) == 0
    assert options.replace("FILE", ca_file) in (tmp_path / "said").read_text()


def test_a_native_viewer_cannot_pin(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(view_module.shutil, "which", lambda name: "/bin/true")
    assert main(["view", "--native", f"vncs://127.0.0.1:5977?fingerprint={'00' * 32}"]) == 2
    assert "vncviewer cannot compare a fingerprint: use ca_file=" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("vnc://localhost:5900", "no rewarder port"),
        ("vnc://localhost,localhost", "the address has 2 remotes"),
        ("vnc://127.0.0.1:1+1", "127.0.0.1:1: .*refused"),
    ],
)
def test_an_address_that_cannot_be_viewed_is_refused(url, words, capsys):
    assert main(["view", url]) == 2
    assert re.search(words, capsys.readouterr().err)


@pytest.mark.parametrize(("options", "view_only"), [([], "-ViewOnly=1"), (["--act"], "-ViewOnly=0")])
def test_a_native_viewer_gets_a_password_file(password_file, tmp_path, monkeypatch, options, view_only):
    fake = tmp_path / "bin" / "vncviewer"
    fake.parent.mkdir()
    fake.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/said\ncp -p "$4" {tmp_path}/given\nexit 3\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}{os.pathsep}/usr/bin:/bin")
    monkeypatch.setattr(view_module, "NATIVE_VIEWERS", ("vncviewer",))
    monkeypatch.setattr(view_module.shutil, "which", lambda name: str(fake))
    assert main(["view", "--native", *options, f"vnc://127.0.0.1:5977?password_file={password_file}"]) == 3
    said = (tmp_path / "said").read_text()
    assert view_only in said and "127.0.0.1::5977" in said and PASSWORD[:8] not in said
    given = tmp_path / "given"
    assert given.read_bytes() == obfuscated(PASSWORD) and stat.S_IMODE(given.stat().st_mode) == 0o600
    assert not Path(said.split()[3]).exists(), "removed at the end"


def test_without_a_native_viewer_it_says_what_to_install(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["view", "--native", "vnc://127.0.0.1:5977"]) == 2
    assert "apt install tigervnc-viewer" in capsys.readouterr().err
