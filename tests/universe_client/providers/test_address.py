"""`vnc://` addresses, and what `remotes=` may be."""

from __future__ import annotations

import warnings
from urllib.parse import quote

import pytest

from rewarder.client import RewarderAddress
from tests.support.network.certificates import Authority
from universe_client import ConfigError, VectorEnv
from universe_client.providers import AddressProvider, EmbeddedProvider, ProcessProvider, provider
from universe_client.providers.address import parse
from universe_client.providers.provider import RemoteAddress
from vnc.session import VNCAddress
from vnc.tls import TLS


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("vnc://host", [("host", 5900, 15900)]),
        ("vnc://host:5901+15901", [("host", 5901, 15901)]),
        ("vnc://host:5901", [("host", 5901, None)]),
        ("vnc://host:+", [("host", 5900, 15900)]),
        ("vnc://host:", [("host", 5900, None)]),
        ("vnc://host+15901", [("host", 5900, 15901)]),
        ("vnc://host:5901+", [("host", 5901, 15900)]),
        ("vnc://[::1]:5901+15901", [("::1", 5901, 15901)]),
        ("vnc://[fe80::1%eth0]", [("fe80::1%eth0", 5900, 15900)]),
        ("vnc://127.0.0.1:1+2,[::1]:3,b", [("127.0.0.1", 1, 2), ("::1", 3, None), ("b", 5900, 15900)]),
        ("vnc://host/", [("host", 5900, 15900)]),
    ],
)
def test_hosts_and_ports(url, expected):
    """P3."""
    assert [
        (each.vnc.host, each.vnc.port, each.rewarder and each.rewarder.port) for each in parse(url)
    ] == expected


def test_the_password_serves_all_hosts_and_both_channels():
    for address in parse("vnc://a,b:1+2?password=p%26w%20d"):
        assert address.vnc.password == address.rewarder.password == "p&w d"
    assert parse("vnc://a")[0].vnc.password is None


@pytest.mark.parametrize(
    "url",
    [
        "host:5900", "http://host", "vnc://", "vnc://a,,b", "vnc://a:99999", "vnc://a:0", "vnc://a:x", "vnc://::1",
        "vnc://a b:c",
        "vnc://a?pasword=x", "vnc://a?password=x&password_file=y", "vnc://a?password", "vnc://a:5900+70000",
        "vnc://[::1", "vnc://user:secret@host", "vnc://a?",
    ],
)  # fmt: skip
def test_what_is_no_address_is_a_config_error(url):
    if url == "vnc://a?":
        assert parse(url)[0].vnc.password is None
        return
    with pytest.raises(ConfigError):
        parse(url)


@pytest.mark.parametrize(
    "remotes",
    [
        "vnc://user:canary7!@host", "vnc://host?canary7!", "vnc://host?pass=canary7!", "VNC://host?password=canary7!",
        "vnc:/user:canary7!@host", "vnc://host:99999?password=canary7!", "vnc://a b:c?password=canary7!",
    ],
)  # fmt: skip
def test_an_error_about_an_address_does_not_show_its_password(remotes):
    with pytest.raises(ConfigError) as caught:
        VectorEnv("test.Env-v0", remotes)
    assert "canary" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_passwords_do_not_appear_in_repr_or_str():
    (address,) = parse("vnc://host:1+2?password=canary7!")
    assert "canary" not in repr(address) + str(address) + repr(AddressProvider([address]))
    assert str(address) == "host:1+2"
    assert str(RemoteAddress(VNCAddress("::1", 5901))) == "[::1]:5901"


def test_a_password_file_must_be_ones_own(tmp_path):
    path = tmp_path / "100%41 secret"
    path.write_text("s3cret\nmore\n")
    path.chmod(0o600)
    (address,) = parse(f"vnc://host?password_file={quote(str(path))}")
    assert address.vnc.password == address.rewarder.password == "s3cret"
    path.chmod(0o640)
    with pytest.raises(ConfigError, match="chmod 600"):
        parse(f"vnc://host?password_file={quote(str(path))}")
    with pytest.raises(ConfigError, match="No such file"):
        parse("vnc://host?password_file=/nowhere/at/all")


def test_a_password_that_vnc_cuts_is_warned_of_without_showing_it():
    with pytest.warns(UserWarning, match="has 9 characters") as caught:
        parse("vnc://host?password=ninechars")
    assert "ninechars" not in str(caught[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parse("vnc://host?password=8letters")


def test_kinds_of_remotes():
    assert isinstance(provider(3, "x-v0", 60.0), EmbeddedProvider)
    assert provider("embedded:4", "x-v0", 60.0).n == 4
    assert isinstance(provider("process:2", "process.xterm", 60.0), ProcessProvider)
    assert provider("vnc://a,b", None, 60.0).n == 2
    mine = AddressProvider([RemoteAddress(VNCAddress("a"), RewarderAddress("a"))])
    assert provider(mine, None, 60.0) is mine


@pytest.mark.parametrize(
    "remotes", [0, -1, "embedded", "embedded:", "embedded:x", "embedded:0", "moon:3", "", True]
)
def test_other_remotes_are_config_errors(remotes):
    with pytest.raises(ConfigError):
        provider(remotes, "x-v0", 60.0)


def test_started_remotes_need_an_env_id_and_no_addresses_are_none():
    with pytest.raises(ConfigError, match="needs an env_id"):
        provider(2, None, 60.0)
    with pytest.raises(ConfigError, match="there is no address"):
        AddressProvider([])


def test_vncs_is_both_channels_over_tls(tmp_path):
    ca_file = Authority(tmp_path).certificate
    for query, tls in (
        ("", TLS()),
        (f"?ca_file={quote(str(ca_file))}", TLS(ca_file=ca_file)),
        (f"?fingerprint={'0aB1' * 16}", TLS(fingerprint=bytes.fromhex("0ab1" * 16))),
        (f"?fingerprint={':'.join(['0A'] * 32)}", TLS(fingerprint=b"\n" * 32)),
        ("?insecure=1", TLS(insecure=True)),
    ):
        for address in parse(f"vncs://a,b:1+2{query}"):
            assert address.vnc.tls == address.rewarder.tls == tls
    assert [str(each) for each in parse("vncs://a,b:1,c:1+2")] == ["a:5900+15900", "b:1", "c:1+2"]
    (plain,) = parse("vnc://a")
    assert plain.vnc.tls is plain.rewarder.tls is None
    assert provider("vncs://a,b", None, 60.0).n == 2


def test_a_user_name_goes_over_tls_and_its_password_is_not_cut():
    (address,) = parse("vncs://host?username=me&password=longer+than+eight")
    assert (address.vnc.username, address.vnc.password) == ("me", "longer than eight")


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("vnc://a?username=me", "unknown option 'username'"),
        ("vnc://a?insecure=1", "unknown option 'insecure'"),
        ("vncs://a?insecure=0", "insecure=0"),
        ("vncs://a?insecure=1&fingerprint=" + "00" * 32, "exclude each other"),
        ("vncs://a?fingerprint=00", "1 bytes"),
        ("vncs://a?fingerprint=x", "hex"),
        ("vncs://a?ca_file=/nowhere/at/all", "/nowhere/at/all"),
    ],
)
def test_what_makes_no_sense_about_tls_is_a_config_error(url, words):
    with pytest.raises(ConfigError, match=words):
        parse(url)


def test_two_served_remotes_have_a_password_each(tmp_path):
    for name in ("F", "G"):
        (tmp_path / name).touch(mode=0o600)
        (tmp_path / name).write_text(f"secret {name}\n")
    url = f"vnc://a?password_file={tmp_path}/F,b:1+2,c?password_file={tmp_path}/G,d?"
    passwords = {remote.vnc.host: remote.vnc.password for remote in parse(url)}
    assert passwords == {"a": "secret F", "b": "secret G", "c": "secret G", "d": None}
    assert parse(url)[1].rewarder.password == "secret G"


@pytest.mark.parametrize("url", ["vnc://a?password=x,y", "vnc://a?password=x,", "vnc://a?password=x,b:1+2"])
def test_a_comma_in_a_password_is_no_host_in_silence(url):
    with pytest.raises(ConfigError, match="%2C"):
        parse(url)
    assert parse("vnc://a?password=x%2Cy")[0].vnc.password == "x,y"
