"""Texts of a remote whose control characters would act on a terminal, a log or a page (F44)."""

from __future__ import annotations

import asyncio
import logging
import struct
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from websockets.datastructures import Headers as HTTPHeaders

from rewarder.client import RewarderAddress, RewarderClient
from rewarder.errors import RewarderError
from rewarder.protocol.buffer import RewardBuffer
from rewarder.protocol.codec import decode, encode
from rewarder.protocol.episode import EpisodeId
from rewarder.protocol.features import Offer
from rewarder.protocol.messages import SERVER_MESSAGES, Describe, Headers, Message, UnknownMessage
from rewarder.version import peer_version
from rewarder.viewer.site import viewer_path
from tests.rewarder.remotes import Scripted, served
from tests.support.remotes.agent import Step, failed, until, until_running
from tests.support.remotes.remote import ScriptedRemote, frame
from tests.support.system.headless import page
from tests.support.system.viewer_page import CONNECTED
from tests.support.vnc.rfb import Peer, raw
from universe_client.core.event_loop.loop import LoopThread

ROW = pytest.mark.fault("F44", "control characters in texts of a remote")
HARMFUL = "\x1b]52;c;Zm9v\x07|\x1b[31m|\x9b2J|\x08|\x7f|\u202e|\u2066|\u200f|\u2028|\U000e0041|\r"
LINES = "one\ntwo\tthree"
WORDS = f"{HARMFUL}|{LINES}"
READ_BY_AGENTS = {"info", "observation", "text", "value", "low", "high"}
"""Fields with data, in which lines may end."""


def is_harmless(text: str, *, lines: bool = False) -> bool:
    return all(each.isprintable() or (lines and each in "\n\t") for each in text)


def strings(value: Any, *, is_data: bool) -> Iterator[tuple[str, bool]]:
    """Yield all strings in a value, and whether they may contain line ends; keys are names."""
    if isinstance(value, str):
        yield value, is_data
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key, False
            yield from strings(inner, is_data=is_data)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner, is_data=is_data)


def texts(kind: type[Message]) -> Iterator[Message]:
    """Yield messages of a kind with a hostile string in each field, and inside values of any type."""
    for field in msgspec.structs.fields(kind):
        for value in (WORDS, {WORDS: WORDS}, [[WORDS]], {"deep": [{WORDS: [WORDS]}]}):
            message = kind(**{field.name: value})
            try:
                msgspec.json.decode(msgspec.json.encode(message), type=kind)
            except msgspec.ValidationError:  # this field does not accept such a value
                continue
            yield message


@ROW
@pytest.mark.parametrize("kind", SERVER_MESSAGES, ids=lambda kind: kind.method)
def test_f44_no_field_of_any_message_keeps_what_acts(measure, kind):
    harmful = 0
    for sent in texts(kind):
        received = decode(encode(Headers(1, 2.0), sent)).message
        for name in received.__struct_fields__:
            is_data = name in READ_BY_AGENTS
            for text, lines in strings(getattr(received, name), is_data=is_data):
                harmful += not is_harmless(text, lines=lines)
                if lines and "one" in text:
                    assert LINES in text, "an agent reads the lines as they were"
    measure("harmful strings in all fields of all messages", harmful, equals=0)


@ROW
def test_f44_escaped_or_not_makes_no_difference():
    for words in (WORDS, msgspec.json.encode(WORDS).decode()[1:-1]):
        data = f'{{"method": "{words}"}}'
        try:
            message = decode(data).message
        except RewarderError as error:  # JSON allows no unescaped control characters
            assert is_harmless(str(error))
        else:
            assert isinstance(message, UnknownMessage) and is_harmless(message.method)


@ROW
def test_f44_an_error_has_harmless_words_whoever_makes_it():
    kinds = [RewarderError, *RewarderError.__subclasses__()]
    assert len(kinds) > 5
    for kind in kinds:
        error = kind(1000, WORDS) if kind.__name__ == "PeerLost" else kind(WORDS)
        for text in (str(error), getattr(error, "reason", ""), getattr(error, "message", "")):
            assert is_harmless(text)


def say_everything(remote: ScriptedRemote) -> None:
    """Return every message about an episode."""

    def run() -> None:
        episode = EpisodeId((remote.episode,))
        remote.rewarder.describe(episode, Describe(WORDS, "running", 60.0))
        remote.reward(1.0, info={WORDS: WORDS, "list": [{"key": WORDS}]})
        remote.text({"task": WORDS})
        remote.env_observation([WORDS])

    remote.script(run)


def end_with_words(remote: ScriptedRemote, far_side: LoopThread) -> None:
    """The reason is in a message and in the close frame."""
    far_side.run(remote.rewarder.close(1001, WORDS), 60)
    remote.rewarder = None


def assert_harmless(seen: list[Step], caplog: pytest.LogCaptureFixture) -> None:
    assert seen
    for step in seen:
        for name, value in step.info.items():
            for text, lines in strings(value, is_data=name.startswith(("remote.", "text"))):
                assert is_harmless(text, lines=lines), f"{name}: {text!r}"
            assert is_harmless(name)
    for record in caplog.records:
        assert is_harmless(record.getMessage(), lines=True), record.getMessage()


@ROW
def test_f44_nothing_that_a_step_brings_nor_a_log_has_them(scripted, playing, far_side, caplog, measure):
    caplog.set_level(logging.DEBUG)
    remote = scripted()
    env = playing(remote)
    say_everything(remote)
    seen = until(env, lambda step: step.observation and step.observation["text"])
    assert any(step.info.get("remote.list") for step in seen)
    assert any("one" in str(step.info["env_status.env_id"]) for step in seen)
    texts = [text for step in seen if step.observation for text in step.observation["text"]]
    assert LINES in texts[-1]["task"], "the task is as it was"
    end_with_words(remote, far_side)
    seen += until(env, failed)
    assert "one" in seen[-1].info["error"]
    assert_harmless(seen, caplog)
    harmful = sum(not is_harmless(record.getMessage(), lines=True) for record in caplog.records)
    measure("harmful lines of the log", harmful, equals=0)


@ROW
def test_f44_nor_has_the_refusal_of_a_reset(scripted, open_env, caplog):
    caplog.set_level(logging.DEBUG)
    env = open_env(scripted(on_reset=lambda remote, request: remote.refuse(request, WORDS)))
    env.reset()
    seen = until(env, failed)
    assert "one" in seen[-1].info["error"]
    assert_harmless(seen, caplog)


async def refuse_connection(peer: Peer) -> None:
    await peer.greet()
    peer.write(b"\0" + text(WORDS))
    await peer.idle()


async def refuse_password(peer: Peer) -> None:
    await peer.greet()
    peer.write(b"\x01\x01")
    await peer.read(1)
    peer.write(struct.pack(">I", 1) + text(WORDS))
    await peer.idle()


async def say_no_banner(peer: Peer) -> None:
    peer.write(WORDS.encode()[:12])
    await peer.idle()


def text(words: str) -> bytes:
    encoded = words.encode()
    return struct.pack(">I", len(encoded)) + encoded


@ROW
@pytest.mark.parametrize("talk", [refuse_connection, refuse_password, say_no_banner])
def test_f44_nor_have_the_reasons_of_a_vnc_server(evil, open_env, caplog, talk):
    caplog.set_level(logging.DEBUG)
    address, _ = evil(talk)
    env = open_env(address)
    env.reset()
    assert_harmless(until(env, failed), caplog)


@ROW
def test_f44_nor_has_the_name_of_a_desktop(evil, open_env):
    async def talk(peer: Peer) -> None:
        await peer.open(name=WORDS.encode())
        while True:
            await peer.request()
            peer.update(raw(1))

    address, _ = evil(talk)
    env = open_env(address)
    env.reset()
    until_running(env)
    name = env.remotes[0].link.session.name
    assert "three" in name and is_harmless(name)


@ROW
@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 403 Go \x9b2J away\r\nServer: universe-client/1\x9b2J\r\nContent-Length: 4\r\n\r\n\x1b[2J",
        b"HTTP/1.1 101 \x9b2J\r\nUpgrade: \x9b2J\r\nConnection: Upgrade\r\n\r\n",
        b"\x1b[2J nothing like it\r\n\r\n",
    ],
    ids=["refusal", "header", "no HTTP"],
)
async def test_f44_nor_have_the_refusals_of_an_upgrade(caplog, answer):
    caplog.set_level(logging.DEBUG)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    address = RewarderAddress("127.0.0.1", server.sockets[0].getsockname()[1])
    with pytest.raises(RewarderError) as caught:
        await RewarderClient.connect(address, buffer=RewardBuffer())
    server.close()
    assert is_harmless(str(caught.value))
    for record in caplog.records:
        assert is_harmless(record.getMessage(), lines=True)


@ROW
def test_f44_what_a_rewarder_says_of_itself_is_harmless():
    (name,) = Offer.read(HTTPHeaders({"Universe-Calls": "get_\x9b2J"})).calls  # as HTTP decodes it
    assert "get_" in name and is_harmless(name)
    assert is_harmless(peer_version(f"universe-client/{WORDS}") or "")


@ROW
def test_f44_a_terminal_shows_none_of_them(scripted, far_side):
    """Run the command line; return its output and log."""
    remote = scripted()
    remote.script(lambda: remote.vnc.present(frame(1)))
    host = f"127.0.0.1:{remote.address.vnc.port}+{remote.address.rewarder.port}"
    command = [sys.executable, "-m", "universe_client", "run", "--remotes", f"vnc://{host}"]
    with subprocess.Popen(
        [*command, "--seconds", "4", "--log-level", "debug"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        try:
            remote.next_reset(60)
            say_everything(remote)
            end_with_words(remote, far_side)
            remote.restart_rewarder()
            shown = process.communicate(timeout=60)[0].decode()
        finally:
            process.kill()
    assert "three" in shown, "its words were shown"
    assert is_harmless(shown, lines=True)


@ROW
async def test_f44_a_page_shows_none_of_them(tmp_path):
    """The title of the viewer's page is the desktop name of the VNC server."""
    runtime = Scripted()
    runtime.env_ids = (WORDS,)
    with page(tmp_path / "profile") as browser:
        async with served(runtime) as (ports, _):
            url = f"http://127.0.0.1:{ports.rewarder_port}{viewer_path(ports.tokens.watch, acting=False)}"

            def look() -> object:
                browser.open(url)
                browser.until(CONNECTED)
                return browser.evaluate("[document.title, document.getElementById('name').textContent]")

            titles = await asyncio.to_thread(look)
    assert isinstance(titles, list)
    for title in titles:
        assert "three" in title and is_harmless(title)
