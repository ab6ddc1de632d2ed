"""Which addresses other machines reach, and what a server needs to listen there."""

from __future__ import annotations

import pytest

from rewarder.display.xdisplay import XDisplay
from rewarder.sdk.runtime import serve
from rewarder.server.exposure import check_reach, is_loopback
from tests.rewarder.remotes import Scripted


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.10", "::1", "localhost"])
def test_on_loopback_everything_goes(host):
    assert is_loopback(host)
    check_reach(host, None, encrypted=False, private_network=False)


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "", "192.0.2.1", "2001:db8::1", "fe80::1%lo", "no.such.invalid"]
)
@pytest.mark.parametrize(
    ("password", "encrypted", "private_network", "complaint"),
    [
        (None, False, False, "requires a password"),
        (None, True, False, "requires a password"),
        (None, True, True, "requires a password"),
        ("x", False, False, "requires --tls-certificate and --tls-key"),
        ("x", True, False, None),
        ("x", False, True, None),
    ],
)
def test_elsewhere_it_takes_a_password_and_tls_or_somebodys_word(
    host, password, encrypted, private_network, complaint
):
    assert not is_loopback(host)
    if complaint is None:
        check_reach(host, password, encrypted=encrypted, private_network=private_network)
    else:
        with pytest.raises(ValueError, match=f"other machines reach {host or 'every address'}.*{complaint}"):
            check_reach(host, password, encrypted=encrypted, private_network=private_network)


async def test_neither_a_runtime_nor_a_display_listens_where_it_may_not():
    with pytest.raises(ValueError, match=r"other machines reach 0\.0\.0\.0"):
        await serve(Scripted(), host="0.0.0.0", password="secret")
    with pytest.raises(ValueError, match=r"other machines reach 0\.0\.0\.0"):
        XDisplay(64, 64, host="0.0.0.0", password="secret")
