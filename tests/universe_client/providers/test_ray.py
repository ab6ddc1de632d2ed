"""The parts of `ray:N` that do not need Ray; tests/cluster has the others."""

from __future__ import annotations

import hashlib
import os
import socket
import ssl
import stat
from pathlib import Path

import pytest

from rewarder.serving import Serving
from tests.support.remotes.agent import failed, until, until_running
from universe_client import ConfigError, NoRoom, VectorEnv
from universe_client.core.backoff import JITTER, Backoff
from universe_client.errors import ProviderError
from universe_client.providers import Resources, provider
from universe_client.providers.ray import system
from universe_client.providers.ray.certificate import MemoryFile, self_signed
from universe_client.providers.ray.far import FarProvider
from universe_client.providers.ray.records import kind_for, usual_resources
from universe_client.providers.ray.system import Node
from vnc.tls import Identity

GAME = "builtin.NeonDrive-v0"


def test_a_remote_for_other_machines_is_played_over_tls():
    with VectorEnv(None, FarProvider(1, GAME, 120.0), start_timeout=120.0) as env:
        env.reset()
        assert until_running(env, 120).info["stats.vnc.pixels_by"] == "vnc"
        address = env.remotes[0].link.address
        assert address.vnc.tls == address.rewarder.tls
        assert address.vnc.tls.fingerprint


def test_a_remote_with_another_certificate_is_refused():
    class Exchanged(FarProvider):
        def _address(self, ready, password):
            self._certificate = self_signed()
            return super()._address(ready, password)

    with VectorEnv(None, Exchanged(1, GAME, 120.0), start_timeout=120.0) as env:
        env.reset()
        assert "fingerprint" in until(env, failed, 120)[-1].info["error"]


def test_a_certificate_and_its_key_belong_together():
    made = self_signed()
    certificate, key = MemoryFile(made.certificate), MemoryFile(made.key)
    identity = Identity(Path(certificate.path), Path(key.path))
    assert identity.context().get_ca_certs() == []
    assert identity.fingerprint == made.fingerprint
    assert made.fingerprint == hashlib.sha256(ssl.PEM_cert_to_DER_cert(made.certificate)).digest()
    assert made.key not in repr(made)
    certificate.close()
    key.close()
    assert self_signed().fingerprint != made.fingerprint


def test_a_file_in_memory_is_private_and_ends_when_it_is_closed():
    file = MemoryFile("secret")
    assert stat.S_IMODE(os.stat(file.path).st_mode) == 0o600
    assert Path(file.path).read_text() == "secret"
    file.close()
    assert not os.path.exists(file.path)


def test_an_actor_reserves_what_its_remotes_need():
    assert Resources(0.25, 100, {"screens": 1}).of(3) == {
        "num_cpus": 0.75,
        "memory": 300,
        "resources": {"screens": 3},
    }
    assert Resources(0.5, 1).of(3)["num_cpus"] == 2, "Ray takes no fractions above 1"


def test_the_kind_and_the_resources_follow_from_what_is_played():
    assert [kind_for(name) for name in (GAME, "gym-core.CartPole-v1", "browser.x")] == [
        "embedded",
        "embedded",
        "process",
    ]
    assert usual_resources("docker", "browser.x").cpus == 2
    assert usual_resources("docker", GAME, "mine").cpus == 1
    assert usual_resources("process", "browser.x").cpus > usual_resources("embedded", GAME).cpus


@pytest.mark.skipif(system.is_installed(), reason="Ray is installed")
def test_without_ray_the_message_says_what_to_install():
    with pytest.raises(ConfigError, match=r"pip install '\.\[ray\]'"):
        provider("ray:2", GAME, 60.0)


async def test_a_node_whose_port_is_closed_does_not_answer(unused_tcp_port):
    assert not await Node("a", "127.0.0.1", unused_tcp_port).answers()


def test_a_claim_that_waits_is_looked_at_often():
    backoff = Backoff(0.5, 30.0)
    for _ in range(5):
        backoff.pause(ProviderError("", remote="0", stage="start"))
    for _ in range(2):
        assert backoff.pause(NoRoom("", remote="0", stage="start")) <= 0.5 * (1 + JITTER)


def test_where_it_listens_is_not_an_option():
    remotes = FarProvider(1, GAME, serving=Serving(host="0.0.0.0", fps=5), host="127.0.0.1")
    request = remotes._request("password")
    assert request.serving.host == "127.0.0.1"
    assert request.serving.fps == 5
    assert "password" not in repr(request)


def test_an_address_where_nothing_listens_is_no_cluster(unused_tcp_port, monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", f"127.0.0.1:{unused_tcp_port}")
    assert system.known_address() is None


def test_the_address_of_the_environment_is_known(tmp_path, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        monkeypatch.setenv("RAY_ADDRESS", address)
        assert system.known_address() == address
        monkeypatch.delenv("RAY_ADDRESS")
        monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
        assert system.known_address() is None
        (tmp_path / "ray").mkdir()
        (tmp_path / "ray" / "ray_current_cluster").write_text(address)
        assert system.known_address() == address
