import asyncio
import os
import signal
import socket
import ssl
import stat
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from rewarder.display.x11 import XClient
from rewarder.display.xdisplay import DisplayError, XDisplay
from tests.support.network.certificates import too_old
from tests.support.system.processes import Obituary, command_line, descendants
from vnc.client.portable import connect
from vnc.errors import AuthError
from vnc.events import KeyEvent
from vnc.session import VNCAddress
from vnc.tls import TLS, Identity


@pytest.fixture(scope="module")
def display():
    with XDisplay(320, 200, password="s3cret-and-longer", view_only_password="watch") as display:
        yield display


def private_files(display):
    return Path(display.environment["XAUTHORITY"]).parent


async def open_session(display, password):
    return await connect(VNCAddress("127.0.0.1", display.port, password), on_change=lambda: None)


@pytest.mark.parametrize("password", ["s3cret-a", "watch"])
async def test_both_passwords_let_in(display, password):
    session = await open_session(display, password)
    assert session.shape == (200, 320, 3)
    await session.close()


async def test_a_wrong_password_is_refused(display):
    with pytest.raises(AuthError):
        await open_session(display, "wrong")


async def test_no_lock_out_after_many_failures(display):
    for _ in range(7):
        with pytest.raises(AuthError):
            await open_session(display, "wrong")
    session = await open_session(display, "s3cret-a")
    await session.close()


def test_it_listens_on_loopback_only(display):
    tables = [Path(f"/proc/net/{name}").read_text() for name in ("tcp", "tcp6")]
    rows = [line.split() for table in tables for line in table.splitlines()[1:]]
    listening = [row[1] for row in rows if row[3] == "0A" and row[1].endswith(f":{display.port:04X}")]
    assert listening == [f"0100007F:{display.port:04X}"]


def test_secrets_are_in_private_files_and_not_in_arguments(display):
    directory = private_files(display)
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    for name in ("passwords", "authority"):
        assert stat.S_IMODE((directory / name).stat().st_mode) == 0o600
    arguments = " ".join(command_line(display.pid))
    assert "s3cret" not in arguments and "watch" not in arguments
    assert "s3cret" not in repr(vars(display))


@pytest.mark.parametrize("password", ["s3cret-and-longer", None])
async def test_with_an_identity_nobody_gets_in_without_tls(authority, identity, password):
    with XDisplay(64, 48, password=password, identity=identity) as display:
        where = VNCAddress("127.0.0.1", display.port, password)
        with pytest.raises(AuthError, match="the server asks for TLS, and none is configured"):
            await connect(where, on_change=lambda: None)
        session = await connect(
            replace(where, tls=TLS(ca_file=authority.certificate)), on_change=lambda: None
        )
        assert session.shape == (48, 64, 3)
        await session.close()
        with pytest.raises(ssl.SSLError):
            await speak_tls_1_1(display.port)
        assert "s3cret" not in " ".join(command_line(display.pid))


async def speak_tls_1_1(port):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"RFB 003.008\n\x13\0\2")
    *_, count = await reader.readexactly(12 + 2 + 2 + 2)
    writer.write(await reader.readexactly(4 * count))
    assert await reader.readexactly(1) == b"\1"
    try:
        await writer.start_tls(too_old(), server_hostname="127.0.0.1")
    finally:
        writer.transport.abort()


def test_an_identity_that_is_none_is_told_of_before_a_client_comes(tmp_path):
    with pytest.raises(ValueError, match=r"certificate .*a\.pem with key .*a\.key: "):
        XDisplay(64, 64, identity=Identity(tmp_path / "a.pem", tmp_path / "a.key"))


def test_an_x_client_needs_the_cookie(display):
    path = f"/tmp/.X11-unix/X{display.name[1:]}"
    with pytest.raises(PermissionError, match="refused"):
        XClient(path, bytes(16))


def test_the_options_keep_clients_apart_from_the_display(display):
    arguments = command_line(display.pid)
    assert {"-localhost", "-AlwaysShared", "-UseBlacklist=0", "-AcceptSetDesktopSize=0"} <= set(arguments)
    assert {"-FrameRate=60", "-SendCutText=0", "-AcceptCutText=0", "-RawKeyboard=1"} <= set(arguments)


def test_two_displays_at_once_and_nothing_left_after():
    with XDisplay(64, 64, password="x") as first, XDisplay(64, 64, password="x") as second:
        assert first.name != second.name and first.port != second.port
        left = Obituary([first.pid, second.pid, first.guard.pid, second.guard.pid])
        directories = private_files(first), private_files(second)
    assert left.alive() == []
    left.close()
    assert not any(directory.exists() for directory in directories)
    first.close()  # idempotent


def test_without_xvnc_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DisplayError, match="apt install tigervnc-standalone-server"):
        XDisplay(64, 64).__enter__()


def test_a_taken_port_is_an_error_with_its_number():
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(DisplayError, match=f"{port}: Address already in use"):
            XDisplay(64, 64, vnc_port=port).__enter__()


def test_a_failed_start_quotes_xvnc_and_leaves_nothing():
    before = descendants(os.getpid())
    with pytest.raises(DisplayError, match=r"did not start; its last output:\n(.*\n)*.*add screen"):
        XDisplay(0, 0).__enter__()
    assert descendants(os.getpid()) == before


def test_the_end_of_xvnc_is_noticed():
    with XDisplay(64, 64) as display:
        display.check()
        display.check_answers()
        end = Obituary([display.pid])
        os.kill(display.pid, signal.SIGKILL)
        end.wait(60)
        end.close()
        with pytest.raises(DisplayError, match=f"Xvnc {display.name} is gone"):
            display.check()


def test_a_stopped_xvnc_does_not_answer_and_is_ended_all_the_same():
    with XDisplay(64, 64) as display:
        end = Obituary([display.pid])
        os.kill(display.pid, signal.SIGSTOP)
        display.check()
        with pytest.raises(DisplayError, match="did not answer within 1 s"):
            display.check_answers()
    assert end.alive() == []
    end.close()


PARENT = """
import sys
from rewarder.display.xdisplay import XDisplay
with XDisplay(64, 64, password="x") as display:
    print(display.pid, display.guard.pid, display.environment["XAUTHORITY"], flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("setpriv", [True, False])
def test_it_ends_with_a_parent_that_is_killed(tmp_path, setpriv):
    """Tested with the kernel's signal and with the guard alone."""
    path = os.environ["PATH"] if setpriv else str(_path_without_setpriv(tmp_path))
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PATH": path},
    )
    with parent:
        xvnc, guard, authority = parent.stdout.readline().split()
        left = Obituary([int(xvnc), int(guard)])
        parent.kill()
        left.wait(60)
        left.close()
    assert not Path(authority.decode()).parent.exists()


def _path_without_setpriv(directory):
    for name in ("Xvnc", "rm", "sh", "xkbcomp"):
        found = next(Path(p, name) for p in os.environ["PATH"].split(":") if Path(p, name).exists())
        (directory / name).symlink_to(found)
    return directory


@pytest.fixture
def window():
    """The colour window, which reports every key press; see tests/integration/colour_window.py."""
    program = Path(__file__).parents[2] / "integration" / "colour_window.py"
    with XDisplay(64, 64, password="full", view_only_password="watch") as display:
        command, environment = [sys.executable, str(program)], dict(display.environment)
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as window:
            assert b"hello" in window.stdout.readline()
            yield display, window.stdout
            window.kill()


async def test_a_watcher_cannot_act_and_an_agent_can(window):
    display, output = window
    for password, key in (("watch", "w"), ("full", "a")):
        session = await open_session(display, password)
        session.send([KeyEvent(ord(key), True), KeyEvent(ord(key), False)])
        await _round_trip(session)
        await session.close()
    report = output.readline()
    assert b'"presses": 1' in report and b'"keycode": 38' in report  # the key `a`, and it was the first


async def _round_trip(session):
    """Wait until the server has read everything: it answers a later request."""
    generation = session.refresh()
    deadline = time.monotonic() + 60
    while session.generation < generation:
        assert session.error is None and time.monotonic() < deadline
        await asyncio.sleep(0.005)
