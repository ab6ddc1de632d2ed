"""The container of docs/guides/kubernetes.md, run as a process, is a remote for the agent of a claim, over TLS."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import socket
import ssl
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.network.certificates import Authority
from tests.support.remotes.agent import until_running, wait_until
from universe_client.core.event_loop.loop import LoopThread
from universe_client.providers.kubernetes import Access, SandboxProvider
from universe_client.providers.kubernetes.fake import FakeCluster, Pod
from vnc.tls import TLS

PAGE = Path(__file__).parents[4] / "docs" / "guides" / "kubernetes.md"
PASSWORD = "the-password-of-the-pool"


@pytest.fixture(name="driver")
def one_driver() -> str:
    return "auto"


def test_the_documented_container_plays(
    authority: Authority, tmp_path: Path, far_side: LoopThread, open_env: Callable[..., Any]
):
    identity = authority.identity("nobody.example")
    secret, own = tmp_path / "secret", tmp_path / "own"
    secret.mkdir()
    own.mkdir()
    for name, content in {
        "password": PASSWORD,
        "tls.crt": identity.certificate.read_text(),
        "tls.key": identity.key.read_text(),
    }.items():
        (secret / name).write_text(content)
    vnc_port, rewarder_port = _free_port(), _free_port()
    script = _script().replace("/tmp", str(own)).replace("/secret/", f"{secret}/")
    script = script.replace("--rewarder-port 15900", f"--rewarder-port {rewarder_port}")
    script = script.replace("--vnc-port 5900", f"--vnc-port {vnc_port}")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    with subprocess.Popen(["sh", "-euc", script], env=os.environ | {"PATH": path}) as container:
        try:
            wait_until(lambda: _listens(rewarder_port), what="the container")
            api = FakeCluster([Pod("127.0.0.1", vnc_port, rewarder_port)])
            far_side.run(api.start(), 60)
            api.write_kubeconfig(tmp_path / "kubeconfig")
            der = ssl.PEM_cert_to_DER_cert(identity.certificate.read_text())
            options = {
                "warm_pool": api.warm_pool,
                "access": Access(api.namespace, tmp_path / "kubeconfig"),
                "password": PASSWORD,
                "tls": TLS(fingerprint=hashlib.sha256(der).digest()),
                "vnc_port": vnc_port,
                "rewarder_port": rewarder_port,
            }
            asyncio.run(_acquire_twice(SandboxProvider(1, **options)))
            env = open_env(SandboxProvider(1, **options))
            env.reset()
            until_running(env)
            env.close()
            far_side.run(api.close(), 60)
        finally:
            container.terminate()


async def _acquire_twice(provider: SandboxProvider) -> None:
    """The second call asks the remote for a sign of life."""
    try:
        assert await provider.acquire(0) == await provider.acquire(0)
    finally:
        await provider.close()


def _script() -> str:
    found = re.search(r"^ +args:\n +- \|\n(.*?)^ +ports:", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert found is not None
    return textwrap.dedent(found[1])


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def _listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0
