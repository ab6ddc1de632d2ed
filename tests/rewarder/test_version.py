"""Product tokens."""

from __future__ import annotations

import pytest

from rewarder.version import PRODUCT_TOKEN, VERSION, peer_version


@pytest.mark.parametrize(
    ("token", "version"),
    [
        (PRODUCT_TOKEN, VERSION), ("universe-client/1.2", "1.2"), ("universe-client/", None), ("nginx/1.2", None),
        ("universe-client", None), ("", None), (None, None), ("universe-client/" + "9" * 999, "9" * 64),
    ],
)  # fmt: skip
def test_peer_version(token, version):
    assert peer_version(token) == version
