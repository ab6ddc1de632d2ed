"""The settings for package registries that `universe-client build` passes to the daemon."""

from __future__ import annotations

from pathlib import Path

import pytest

from universe_client.cli.commands.build import build, build_arguments
from universe_client.errors import ConfigError

ROOT = Path(__file__).parents[4]


def test_proxies_and_the_index_are_taken_over(monkeypatch):
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("PIP_INDEX_URL", "https://pypi.example/simple")
    arguments = build_arguments()
    assert arguments["https_proxy"] == "http://proxy.example:3128"
    assert arguments["PIP_INDEX_URL"] == "https://pypi.example/simple"


@pytest.mark.parametrize("name", ["PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"])
def test_a_password_does_not_get_into_an_images_history(monkeypatch, name):
    monkeypatch.setenv(name, "https://one.example/simple https://me:canary@pypi.example/simple")
    with pytest.raises(ConfigError, match="netrc") as raised:
        build_arguments()
    assert "canary" not in str(raised.value)


def test_outside_a_checkout_it_says_so(tmp_path):
    with pytest.raises(ConfigError, match="run this in a checkout"):
        build([], tmp_path)


def test_an_unknown_image_is_named_before_anything_is_built():
    with pytest.raises(ConfigError, match="no image is named 'nonsense'"):
        build(["nonsense"], ROOT)


def test_no_certificate_check_is_ever_switched_off():
    for path in [*(ROOT / "docker").rglob("Dockerfile"), *(ROOT / "docker").glob("make-*")]:
        text = path.read_text()
        assert not any(
            word in text for word in ("trusted-host", "allow-unauthenticated", "insecure", "--no-check")
        )
