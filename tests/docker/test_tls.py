"""A container with a certificate among its secrets, as one would be whose ports other machines reach."""

from __future__ import annotations

import pytest

import universe_client
from tests.support.network.certificates import authority, identity
from tests.support.remotes.agent import until_running
from universe_client.cli.commands.containers import address_of
from universe_client.providers.ray.far import FarDockerProvider

__all__ = ["authority", "identity"]

pytestmark = pytest.mark.docker

PORTS = ("5900/tcp", "15900/tcp")


@pytest.fixture
def container(daemon, tmp_path, identity):
    (tmp_path / "password").write_text("canary-c\n")
    secrets = {"password": tmp_path / "password", "tls.pem": identity.certificate, "tls.key": identity.key}
    identity.key.chmod(0o644)  # the container's user is not the tests'
    container = daemon.containers.run(
        "universe-client/base",
        ["builtin.NeonDrive-v0"],
        detach=True,
        init=True,
        read_only=True,
        tmpfs={"/tmp": "noexec,nosuid,nodev,mode=1777"},
        cap_drop=["ALL"],
        volumes={str(path): {"bind": f"/run/secrets/{name}", "mode": "ro"} for name, path in secrets.items()},
        ports=dict.fromkeys(PORTS, ("127.0.0.1", None)),
    )
    yield container
    container.remove(force=True, v=True)


def test_it_is_played_over_tls_and_healthy(container, tmp_path, authority):
    container.reload()
    vnc, rewarder = (container.ports[port][0]["HostPort"] for port in PORTS)
    (tmp_path / "own").touch(mode=0o600)
    (tmp_path / "own").write_text("canary-c\n")
    secrets = f"ca_file={authority.certificate}&password_file={tmp_path / 'own'}"
    with universe_client.VectorEnv(None, f"vncs://127.0.0.1:{vnc}+{rewarder}?{secrets}") as env:
        env.reset()
        assert until_running(env, 60).observation["vision"].shape == (240, 320, 3)
    assert container.exec_run(["healthcheck"])[0] == 0


def test_a_container_for_other_machines_gets_its_certificate_with_its_request():
    provider = FarDockerProvider(1, "builtin.NeonDrive-v0", 60.0)
    with universe_client.VectorEnv(None, provider) as env:
        env.reset()
        until_running(env, 60)
        (run,) = provider._runs.values()
        assert run.address.vnc.tls.fingerprint == run.address.rewarder.tls.fingerprint
        seen = address_of(run.plan.name)
        assert seen.vnc.tls == run.address.vnc.tls, "universe-client view pins the same certificate"
        assert seen.rewarder.password == run.address.rewarder.password
