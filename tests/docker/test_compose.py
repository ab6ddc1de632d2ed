"""docker/compose.yaml starts any of the images, as many as are asked for, for agents who come by address."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import universe_client
from tests.support.remotes.agent import until_running

pytestmark = pytest.mark.docker

DOCKER = Path(__file__).parents[2] / "docker"
SCALE = {"gym-core": 2, "browser": 1, "desktop": 1}


@pytest.fixture
def compose(tmp_path, engine, request):
    """`docker compose` in docker/, with a password file of one user's own; its project is taken down at the end.

    1000 and 1001 are users in the container, too: the second must not read it there.
    """
    owner = getattr(request, "param", os.geteuid())
    secret = tmp_path / "password"
    secret.touch(mode=0o600)
    secret.write_text("canary-c\n")
    if owner != os.geteuid():
        os.chown(secret, owner, owner)  # CI is root, as dockerd is
    command = ["docker-compose"] if shutil.which("docker-compose") else ["docker", "compose"]
    environment = {
        **os.environ,
        "DOCKER_HOST": engine.url,
        "PASSWORD_FILE": str(tmp_path / "password"),
        "COMPOSE_PROJECT_NAME": "universe-client-compose",
    }

    def compose(*arguments):
        done = subprocess.run(
            [*command, *arguments], cwd=DOCKER, env=environment, capture_output=True, text=True, timeout=90
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    yield compose
    compose("down", "--volumes", "--timeout", "1")


def test_scale_starts_as_many_as_are_asked_for(compose, tmp_path):
    scale = [word for service, count in SCALE.items() for word in ("--scale", f"{service}={count}")]
    compose("up", "--detach", *scale, *SCALE)
    hosts = []
    for service, count in SCALE.items():
        for index in range(1, count + 1):
            vnc, rewarder = (
                compose("port", "--index", str(index), service, port) for port in ("5900", "15900")
            )
            assert rewarder.startswith("127.0.0.1:")
            hosts.append(f"{vnc}+{rewarder.rpartition(':')[2]}")
    assert len(set(hosts)) == sum(SCALE.values())
    (tmp_path / "own").touch(mode=0o600)
    (tmp_path / "own").write_text("canary-c\n")
    with universe_client.VectorEnv(None, f"vnc://{','.join(hosts)}?password_file={tmp_path / 'own'}") as env:
        env.reset()
        shapes = [observation["vision"].shape for observation in until_running(env, 60).observation_n]
    assert shapes == [(210, 160, 3), (210, 160, 3), (768, 1024, 3), (768, 1024, 3)]


@pytest.mark.parametrize("compose", [1000, 1001, 4242], indirect=True)
def test_the_password_file_may_be_any_users_own(compose, engine):
    compose("up", "--detach", "gym-core")
    with engine.output(compose("ps", "--quiet", "gym-core")) as lines:
        assert any("vnc_port" in line for line in lines)
    identity = compose("ps", "--quiet", "gym-core")
    assert engine.access(identity).password == "canary-c"
