"""docs/guides/write-a-remote.md, followed to the letter."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.remotes.agent import failed, until
from universe_client.providers.containers.provider import DockerProvider

pytestmark = pytest.mark.docker

DOCUMENT = Path(__file__).parents[2] / "docs" / "guides" / "write-a-remote.md"
FILE = re.compile(r"This is `(?P<name>[^`]+)`")
BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
IMAGE = "example-lamp"


@pytest.fixture
def image(daemon):
    """Gone when the test is over."""
    yield IMAGE
    daemon.images.remove(IMAGE, force=True)


def instructions():
    """Yield the file to write, or None for commands to run, and the text."""
    section = DOCUMENT.read_text().split("\n## ")[1]
    end = 0
    for block in BLOCK.finditer(section):
        named = FILE.findall(section[end : block.start()])
        end = block.end()
        assert (block["language"] == "sh") == (not named), "a file has its name in the text above it"
        yield (named[-1] if named else None), block["text"]


def follow(commands, directory, url):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=directory,
        env=os.environ | {"PATH": path, "DOCKER_HOST": url},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_new_remote_with_its_image(image, engine, tmp_path):
    written, shown = [], []
    for name, text in instructions():
        if name is None:
            shown.append(follow(text, tmp_path, engine.url))
        else:
            (tmp_path / name).write_text(text)
            written.append(name)
    assert written == ["lamp.py", "Dockerfile"]
    assert shown[-1].count(" running ") == 2, shown[-1]


def test_an_image_without_our_entrypoint_is_not_started(open_env):
    image = "debian:bookworm-slim"
    env = open_env(provider=DockerProvider(1, "example.Lamp-v0", reference=image))
    env.reset()
    error = until(env, failed, 60)[-1].info["error"]
    assert f'the image {image} does not begin with ENTRYPOINT ["entrypoint", ...]' in error
