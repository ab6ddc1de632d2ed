"""The docker:N provider without a daemon; tests/docker tests it with one."""

from __future__ import annotations

import pytest

import universe_client
from tests.support.remotes.agent import until
from universe_client.errors import ConfigError, ProviderError
from universe_client.providers import DockerProvider, provider
from universe_client.providers.containers.images import image_for

CARTPOLE = "gym-core.CartPole-v1"


def test_docker_n_names_the_provider():
    found = provider("docker:3", CARTPOLE, 12.0)
    assert isinstance(found, DockerProvider)
    assert (found.n, found.start_timeout, found.image) == (3, 12.0, image_for(CARTPOLE))


def test_every_provider_has_a_session_of_its_own():
    assert DockerProvider(1, CARTPOLE).session != DockerProvider(1, CARTPOLE).session


@pytest.mark.parametrize(("n", "env_id"), [(0, CARTPOLE), (1, "flashgames.Nonsense-v0")])
def test_what_cannot_be_is_refused_at_once(n, env_id):
    with pytest.raises(ConfigError):
        DockerProvider(n, env_id)


def test_without_a_daemon_the_slots_close_and_say_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/docker.sock")
    with universe_client.VectorEnv(CARTPOLE, "docker:2") as env:
        env.reset()
        last = until(env, lambda step: env.remotes[1].error and env.remotes[0].error, 60)[-1]
        errors = [remote.error for remote in env.remotes]
        assert all(isinstance(error, ProviderError) and error.permanent for error in errors)
        assert last.observation_n == [None, None]
    assert "systemctl start docker" in str(errors[0]) and "remote 0 (docker), start" in str(errors[0])


def test_no_password_is_in_any_repr():
    assert "password" not in repr(DockerProvider(1, CARTPOLE))


def test_an_image_of_ones_own_is_named_after_the_number():
    found = provider("docker:2@example/lamp:1", "example.Lamp-v0", 12.0)
    assert isinstance(found, DockerProvider)
    assert (found.n, found.reference, found.image) == (2, "example/lamp:1", image_for("builtin.NeonDrive-v0"))


@pytest.mark.parametrize("remotes", ["docker:2@", "embedded:2@example/lamp"])
def test_an_image_is_named_for_containers_only(remotes):
    with pytest.raises(ConfigError, match=r"docker:N\[@IMAGE\]"):
        provider(remotes, "example.Lamp-v0", 12.0)
