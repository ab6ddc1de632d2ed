"""`universe-client record` and `replay`, as commands and as the program they are."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from pathlib import Path

import pytest

from universe_client.cli.commands.record import encoding_numbers
from universe_client.cli.main import main
from universe_client.errors import ConfigError
from vnc.capture.capture import read_capture
from vnc.capture.record import record
from vnc.server.server import VNCServer
from vnc.session import VNCAddress

PASSWORD = "sesame!1"

# A shell ignores the signal for what it runs in the background, and what these tests start there would, too.
INTERRUPTIBLE = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from universe_client.cli.main import main
sys.exit(main())
"""


async def record_main(path: Path, *options: str, password: str = PASSWORD) -> int:
    """Run `record` in a thread, against our server on this loop."""
    server = VNCServer(32, 16, password=PASSWORD)
    await server.start()
    secret = path.with_suffix(".password")
    descriptor = os.open(secret, os.O_WRONLY | os.O_CREAT, 0o600)
    os.write(descriptor, password.encode())
    os.close(descriptor)
    address = f"vnc://127.0.0.1:{server.port}?password_file={secret}"
    try:
        return await asyncio.to_thread(main, ["record", address, "--out", str(path), *options])
    finally:
        await server.close()


async def test_record_writes_what_can_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "session.capture"
    assert await record_main(path, "--seconds", "0.2", "--encoding", "zrle") == 0
    capture = read_capture(path)
    assert capture.uses == {16}
    assert capture.encodings == (16, -224)
    told = capsys.readouterr().err
    assert "1 updates" in told
    assert PASSWORD not in told


async def test_a_wrong_password_is_told_and_ends_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await record_main(tmp_path / "session.capture", "--seconds", "1", password="wrong") == 1
    assert "authentication failed" in capsys.readouterr().err


async def test_a_file_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "session.capture"
    assert await record_main(path, "--seconds", "0.1") == 0
    assert await record_main(path, "--seconds", "0.1") == 2
    assert f"{path}: File exists" in capsys.readouterr().err


def test_encodings_have_names() -> None:
    assert encoding_numbers("tight,copyrect", None) == (7, 1, -224)
    assert encoding_numbers("tight", 8) == (7, -224, -24)


@pytest.mark.parametrize(("names", "quality"), [("tight,best", None), ("tight", 10), ("", None)])
def test_unknown_encodings_and_qualities(names: str, quality: int | None) -> None:
    with pytest.raises(ConfigError):
        encoding_numbers(names, quality)


@pytest.mark.parametrize(
    ("path", "complaint"),
    [
        ("/dev/null", "/dev/null is not a capture"),
        ("no such file", "no such file: No such file or directory"),
    ],
)
def test_replay_of_nothing(path: str, complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", path]) == 2
    assert capsys.readouterr().err.startswith(f"universe-client: {complaint}")


async def test_replay_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    path, again = tmp_path / "first.capture", tmp_path / "second.capture"
    assert await record_main(path, "--seconds", "0.2", "--encoding", "raw") == 0
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", INTERRUPTIBLE, "replay", str(path), "--speed", "max",
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        said = b""
        while (found := re.search(rb"127\.0\.0\.1::(\d+)", said)) is None:
            line = await asyncio.wait_for(process.stdout.readline(), 60)
            assert line, said
            said += line
        await record(
            VNCAddress("127.0.0.1", int(found[1])), again, seconds=10, encodings=(0, -224), max_updates=1
        )
        first, second = (bytes(read_capture(file).updates[0].data) for file in (path, again))
        assert first == second
        process.send_signal(signal.SIGINT)
        assert await asyncio.wait_for(process.wait(), 60) == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
