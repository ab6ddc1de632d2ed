"""The client with TigerVNC of Debian 13, newer than what our images and this machine have, on both drivers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import universe_client
from tests.support.drivers import DRIVERS
from tests.support.remotes.agent import one_step, steps, until_running, wait_until
from universe_client import type_text

pytestmark = pytest.mark.docker

IMAGE = "universe-client-test/trixie"
PASSWORD = "canary-9"
SIZE = 800, 600
SERVER = f"""
umask 077
vncpasswd -f <<<{PASSWORD} >/tmp/password
exec Xvnc -displayfd 3 -localhost=0 -rfbport 5900 -SecurityTypes VncAuth -PasswordFile /tmp/password \
    -geometry {SIZE[0]}x{SIZE[1]} 3> >(read -r number; DISPLAY=:$number exec xterm -geometry 100x40+0+0)
"""


@pytest.fixture(scope="module")
def image(daemon):
    image, _ = daemon.images.build(path=str(Path(__file__).parent / "trixie"), tag=IMAGE, network_mode="host")
    return image.id


@pytest.fixture
def server(daemon, image):
    """Xvnc with a terminal on its screen, and the port of this machine that leads to it."""
    ports = {"5900/tcp": ("127.0.0.1", None)}
    container = daemon.containers.run(image, ["bash", "-c", SERVER], detach=True, ports=ports)
    try:
        wait_until(lambda: b"Listening for VNC connections" in container.logs(), 30, "Xvnc listens")
        container.reload()
        yield container, int(container.ports["5900/tcp"][0]["HostPort"])
    finally:
        container.remove(force=True, v=True)


def test_it_is_newer_than_1_12(server):
    container, _ = server
    asked = ["dpkg-query", "--show", "--showformat", "${Version}", "tigervnc-standalone-server"]
    version = re.match(rb"(\d+)\.(\d+)", container.exec_run(asked)[1])
    assert version is not None and tuple(map(int, version.groups())) > (1, 12)


@pytest.mark.parametrize("driver", DRIVERS)
def test_pixels_arrive_and_what_is_typed_is_done(server, driver):
    container, port = server
    remote = f"vnc://127.0.0.1:{port}?password={PASSWORD}"
    with universe_client.VectorEnv(None, remote, driver=driver) as env:
        env.reset()
        assert until_running(env, 30).observation["vision"].shape == (SIZE[1], SIZE[0], 3)
        for step in steps(env, 30):
            if step.observation is not None and (step.observation["vision"] == 255).mean() > 0.3:
                break  # the terminal's white
        one_step(
            env, [[("PointerEvent", 100, 100, 0)]]
        )  # the keyboard is that of the window under the pointer
        before = one_step(env).observation["vision"].copy()
        one_step(env, [type_text("echo Typed-42 >/tmp/typed; clear; seq 30\n")])
        wait_until(lambda: container.exec_run(["cat", "/tmp/typed"])[1] == b"Typed-42\n", 30, "the command")
        for step in steps(env, 30):
            if (step.observation["vision"] != before).any(axis=2).sum() > 500:
                break  # a screen full of numbers
        assert step.info["error"] is None
