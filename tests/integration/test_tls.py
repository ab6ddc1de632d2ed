"""Environments over `vncs://`: rewards and pixels over TLS, servers that are not trusted, and the command lines."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import msgspec
import pytest

from tests.support.network.certificates import Authority
from tests.support.remotes.agent import is_done, one_step, until, until_running
from tests.support.remotes.serve_command import serve_command
from tests.support.remotes.served import Counting
from tests.support.system.processes import command_line, descendants
from tests.support.vnc import viewers
from tests.support.vnc.rfb import Peer
from tests.support.vnc.vencrypt import Talk, breaking_off
from tests.support.vnc.xvnc import logo, secure_xvnc
from universe_client.core.event_loop.loop import LoopThread
from universe_client.errors import AuthError
from universe_client.providers import RemoteAddress
from universe_client.providers.address import parse
from vnc.tls import Identity

PASSWORD = "canary-5d1e"
LAST = 20


@pytest.fixture
def serve_over_tls(serve_runtime: Callable[..., RemoteAddress]) -> Callable[..., RemoteAddress]:
    """Serve a game with a password and TLS until the end of the test; the address contains neither."""

    def begin(identity: Identity, **options: object) -> RemoteAddress:
        return serve_runtime(Counting(LAST), password=PASSWORD, identity=identity, **options)

    return begin


def trusting(where: RemoteAddress, authority: Authority) -> RemoteAddress:
    (address,) = parse(f"vncs://{where}?ca_file={quote(str(authority.certificate))}&password={PASSWORD[:8]}")
    return RemoteAddress(
        replace(address.vnc, password=PASSWORD), replace(address.rewarder, password=PASSWORD)
    )


def test_a_whole_episode_with_its_rewards_is_played_over_tls(
    serve_over_tls, open_env, authority, identity, caplog
):
    address = trusting(serve_over_tls(identity), authority)
    env = open_env(address)
    env.reset()
    until_running(env)
    env.reset()
    until(env, lambda step: step.observation is None)
    played = until(env, is_done)
    assert sum(step.reward or 0 for step in played) == sum(range(1, LAST + 1))
    assert played[-1].info["error"] is None
    assert PASSWORD not in caplog.text + repr(address) + repr(env.remotes)


def test_an_xvnc_without_rewards_is_watched_over_tls(open_env, far_side, tmp_path, authority, identity):
    with xvnc(far_side, tmp_path, identity) as port:
        env = open_env(*parse(f"vncs://127.0.0.1:{port}?password=pass+wor&ca_file={authority.certificate}"))
        env.reset()
        assert until_running(env).observation["vision"].shape == (200, 320, 3)


@contextmanager
def xvnc(loop: LoopThread, directory: Path, identity: Identity) -> Iterator[int]:
    """TigerVNC's server on a loop that runs beside the test; its port."""
    stack = AsyncExitStack()

    async def start() -> int:
        port, display = await stack.enter_async_context(
            secure_xvnc(directory, identity, "X509Vnc", "pass wor")
        )
        await stack.enter_async_context(logo(display))
        return port

    try:
        yield loop.run(start(), 60)
    finally:
        loop.run(stack.aclose(), 60)


# -- rewarders that are not the one that was meant (F35): VNC is as it should be


def showing(identity: Identity) -> Talk:
    async def talk(peer: Peer) -> None:
        with suppress(OSError):
            await peer.writer.start_tls(identity.context())
        await peer.idle()

    return talk


def another_authority(authority: Authority, directory: Path) -> Talk:
    directory.mkdir()
    return showing(Authority(directory).identity("127.0.0.1"))


@pytest.mark.parametrize(
    ("impostor", "words"),
    [
        (lambda authority, path: another_authority(authority, path / "other"), "certificate is refused: .*"),
        (lambda authority, path: showing(authority.identity("elsewhere")), "is refused: .*'127.0.0.1'"),
        (lambda authority, path: showing(authority.identity("127.0.0.1", days=0)), "is refused: .*expired"),
        (lambda authority, path: breaking_off(b"HTTP/1.1 400 Bad Request\r\n\r\n"), "is not TLS"),
    ],
    ids=["another authority", "another host", "expired", "no tls"],
)
def test_f35_a_rewarder_that_is_not_trusted_is_told_of_once_and_disturbs_nobody(
    serve_over_tls, evil, open_env, authority, identity, tmp_path, impostor, words
):
    good = trusting(serve_over_tls(identity), authority)
    stranger, attempts = evil(impostor(authority, tmp_path))
    bad = RemoteAddress(good.vnc, replace(good.rewarder, port=stranger.vnc.port))
    env = open_env(bad, trusting(serve_over_tls(identity), authority))
    env.reset()
    errors = [step.info_n[0]["error"] for step in until(env, lambda step: step.done_n[1])]
    told = [str(error) for error in errors if error is not None]
    assert len(told) == 1
    assert re.search(rf"127\.0\.0\.1:{stranger.vnc.port}: .*{words}", told[0]) and PASSWORD not in told[0]
    assert type(env.remotes[0].error) is AuthError
    assert one_step(env).info_n[0]["env_status.reason"] == "closed"
    assert len(attempts) == 1, "a wrong certificate does not get better"


# -- the command lines


async def signed_by_itself(directory: Path) -> tuple[Path, Path]:
    """As docs/remotes/index.md has it made; certificate and key."""
    certificate, key = directory / "lab.pem", directory / "lab.key"
    await viewers.output(
        *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
        *("-days", "365", "-subj", "/CN=lab.example"),
        *("-addext", "subjectAltName=DNS:lab.example,IP:127.0.0.1"),
        *("-keyout", str(key), "-out", str(certificate)),
    )
    return certificate, key


def first_line(path: str) -> str:
    return Path(path).read_text().partition("\n")[0]


@pytest.mark.parametrize("env_id", ["builtin.NeonDrive-v0", "process.xlogo"])
async def test_what_serve_prints_can_be_pasted(tmp_path, env_id):
    certificate, key = await signed_by_itself(tmp_path)
    files = ("--tls-certificate", str(certificate), "--tls-key", str(key))
    async with serve_command(env_id, *files) as (process, said):
        address = re.search(r"'(vncs://[^']+)'", said)[1]
        password = first_line(address.partition("password_file=")[2])
        by_authority = re.sub("fingerprint=[^&]+", f"ca_file={certificate}", address)
        pages = viewers.output(sys.executable, "-m", "universe_client", "view", "--print", by_authority)
        run = (sys.executable, "-m", "universe_client", "run", "--remotes", address)
        played, page = await asyncio.gather(viewers.output(*run, "--seconds", "2", "--json"), pages)
        (remote,) = msgspec.json.decode(played)["remotes"]
        assert remote["error"] is None and remote["episodes"] == 0
        assert re.fullmatch(r"https://127\.0\.0\.1:\d+/viewer/#watch=\S+", page.decode().strip())
        assert password not in " ".join(command_line(process.pid))
        for descendant in descendants(process.pid):
            assert password[:8] not in " ".join(command_line(descendant))
