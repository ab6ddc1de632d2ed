"""Which image plays what."""

from __future__ import annotations

from pathlib import Path

import pytest

from universe_client.errors import ConfigError
from universe_client.providers.containers.images import IMAGES, image_for, image_named

DOCKER = Path(__file__).parents[4] / "docker"


@pytest.mark.parametrize(
    ("env_id", "name"),
    [
        ("builtin.NeonDrive-v0", "base"),
        ("gym-core.ALE/Pong-v5", "gym-core"),
        ("browser.click-test", "browser"),
        ("desktop.anything", "desktop"),
        ("process.xterm", "desktop"),
    ],
)
def test_the_family_of_an_env_id_names_the_image(env_id, name):
    assert image_for(env_id).name == name


@pytest.mark.parametrize("env_id", ["", "browser", "flashgames.DuskDrive-v0"])
def test_an_unknown_family_is_the_callers_mistake(env_id):
    with pytest.raises(ConfigError, match=r"known are builtin\.\*, gym-core\.\*"):
        image_for(env_id)


def test_every_image_has_its_dockerfile():
    assert all((DOCKER / image.name / "Dockerfile").is_file() for image in IMAGES)


def test_an_image_is_found_by_name():
    assert image_named("browser").namespaces
    with pytest.raises(ConfigError, match="no image is named 'chrome'; known are base, gym-core"):
        image_named("chrome")


def test_a_reference_is_a_valid_tag():
    for image in IMAGES:
        repository, _, tag = image.reference.partition(":")
        assert repository == f"universe-client/{image.name}"
        assert tag and "+" not in tag


def test_only_the_browser_may_make_namespaces():
    assert [image.name for image in IMAGES if image.namespaces] == ["browser"]
