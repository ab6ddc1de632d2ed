"""TigerVNC's Xvnc as a context manager: an X display with a VNC server, for one remote."""

from __future__ import annotations

import os
import secrets
import select
import shutil
import socket
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Self

from rewarder.display.guard import Guard
from rewarder.display.spare_keys import SpareKeys
from rewarder.display.task_user import task_user
from rewarder.display.x11 import COOKIE, XClient
from rewarder.server.exposure import check_reach
from vnc.private_file import create_private
from vnc.tls import Identity
from vnc.vncauth import Passwords, obfuscated, vnc_password

START_TIMEOUT = 15.0
STOP_TIMEOUT = 1.0
SYNC_TIMEOUT = 1.0
LOG_LINES = 10

_MISSING = "Xvnc is not installed: apt install tigervnc-standalone-server"
_FAMILY_WILD = 0xFFFF
_TLS_VERSIONS = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"
_OPTIONS = (
    *("-depth", "24"),
    *("-nolisten", "tcp"),
    "-noreset",  # do not reset the display when the last program disconnects
    "-FrameRate=60",
    "-AlwaysShared",
    "-UseBlacklist=0",
    "-AcceptSetDesktopSize=0",
    "-SendCutText=0",
    "-AcceptCutText=0",
    "-RawKeyboard=1",
    "-AllowOverride=desktop",  # programs on the display may change the title, and no other parameter
)


class DisplayError(OSError):
    """Xvnc could not be started, or has ended. The message contains its last output."""


class XDisplay:
    """A context manager that runs Xvnc. Xvnc ends with this process, even after `kill -9`.

    Attributes:
        name: of the display, such as `:5`.
        port: of the VNC server.
        pid: the process id of Xvnc.
        guard: kills programs of the display after the end of this process.
        client: a connection to the X server.
        cookie: the MIT-MAGIC-COOKIE-1 with which X clients log in.
    """

    name: str
    port: int
    pid: int
    guard: Guard
    client: XClient
    cookie: bytes

    def __init__(
        self,
        width: int,
        height: int,
        *,
        host: str = "127.0.0.1",
        vnc_port: int = 0,
        password: str | None = None,
        view_only_password: str | None = None,
        identity: Identity | None = None,
        private_network: bool = False,
    ) -> None:
        """Prepare a display, which `__enter__` starts.

        Args:
            width, height: of the screen in pixels.
            host: the address that the VNC server listens on.
            vnc_port: the port of the VNC server; 0 picks a free one.
            password: of the VNC server, which uses its first 8 bytes; None: clients need no password.
            view_only_password: with which a VNC client can watch, but not act.
            identity: certificate and key; VNC clients must then use TLS (X509Vnc, or X509None without a password).
            private_network: allow a `host` off loopback without TLS, because only trusted machines reach it.

        Raises:
            ValueError: other machines reach `host` without a password or TLS, or `identity` is invalid.
        """
        check_reach(host, password, encrypted=identity is not None, private_network=private_network)
        if identity is not None:
            identity.context()  # report invalid files now; Xvnc reports them at the first client
        self._identity = identity
        self.width, self.height = width, height
        self._host, self._vnc_port = host, vnc_port
        self._passwords = Passwords(vnc_password(password), vnc_password(view_only_password))
        self._open = ExitStack()

    def __enter__(self) -> Self:
        """Start Xvnc; return when VNC and X clients can connect.

        Raises:
            DisplayError: Xvnc is not installed, or did not start.
        """
        if shutil.which("Xvnc") is None:
            raise DisplayError(_MISSING)
        self._directory = Path(tempfile.mkdtemp(prefix="universe-client-"))
        self.guard = Guard(self._directory)
        with ExitStack() as stack:
            stack.callback(self.guard.close)
            self._shared = task_user().readable(self._directory)
            stack.callback(shutil.rmtree, self._shared, ignore_errors=True)
            self._start(stack)
            self._open = stack.pop_all()
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment variables with which a program uses the display."""
        return {"DISPLAY": self.name, "XAUTHORITY": str(self._authority)}

    def check(self) -> None:
        """Read events of the X server without waiting.

        Raises:
            DisplayError: Xvnc has ended.
        """
        try:
            self.client.drain()
        except OSError as error:
            raise self._failure(f"Xvnc {self.name} is gone: {error}") from None

    def check_answers(self) -> None:
        """Wait for an answer of the X server.

        Raises:
            DisplayError: Xvnc has ended or does not answer.
        """
        try:
            self.client.sync(SYNC_TIMEOUT)
        except OSError as error:
            raise self._failure(f"Xvnc {self.name} is gone: {error}") from None

    def close(self) -> None:
        """Kill Xvnc and the programs that the guard knows. Idempotent."""
        self._open.close()

    # -- starting -----------------------------------------------------------------------------------------------

    @property
    def _authority(self) -> Path:
        return self._shared / "authority"

    @property
    def socket(self) -> str:
        """The path of the X server's Unix socket."""
        return f"/tmp/.X11-unix/X{self.name.removeprefix(':')}"

    @property
    def _log(self) -> Path:
        return self._directory / "log"

    def _start(self, stack: ExitStack) -> None:
        self.cookie = secrets.token_bytes(16)
        with create_private(self._authority) as file:
            file.write(_authority_entry(self.cookie))
        task_user().publish(self._authority)
        deadline = time.monotonic() + START_TIMEOUT
        with _reserved(self._host, self._vnc_port) as self.port:
            reading, writing = os.pipe()
            with open(reading, "rb", buffering=0) as pipe:
                process = self._spawn(writing)
                stack.callback(self._stop, process)
                number = self._display_number(pipe.fileno(), deadline)
        self.name = f":{number}"
        try:
            self.client = XClient(self.socket, self.cookie)
        except OSError as error:
            raise self._failure(f"Xvnc {self.name} refuses the connection: {error}") from error
        stack.callback(self.client.close)
        stack.callback(SpareKeys(self.socket, self.cookie).close)

    def _stop(self, process: subprocess.Popen[bytes]) -> None:
        process.terminate()
        try:
            process.wait(STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self.guard.remove(process.pid)

    def _spawn(self, display_pipe: int) -> subprocess.Popen[bytes]:
        command = [
            *_dying_with_parent(),
            "Xvnc",
            *("-displayfd", str(display_pipe)),
            *("-geometry", f"{self.width}x{self.height}"),
            *("-auth", str(self._authority)),
            *("-rfbport", str(self.port)),
            *_interface(self._host),
            *self._security(),
            *_OPTIONS,
        ]
        try:
            with self._log.open("wb") as log:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    pass_fds=(display_pipe,),
                    start_new_session=True,
                )
        finally:
            os.close(display_pipe)
        self.pid = process.pid
        self.guard.add(process.pid)
        return process

    def _security(self) -> list[str]:
        known = [one for one in (self._passwords.full, self._passwords.view_only) if one is not None]
        options = []
        if known:
            path = self._directory / "passwords"
            with create_private(path) as file:
                file.writelines(map(obfuscated, known))
            options.append(f"-PasswordFile={path}")
        if self._identity is None:
            return [f"-SecurityTypes={'VncAuth' if known else 'None'}", *options]
        return [
            f"-SecurityTypes={'X509Vnc' if known else 'X509None'}",
            f"-X509Cert={self._identity.certificate.absolute()}",
            f"-X509Key={self._identity.key.absolute()}",
            f"-GnuTLSPriority={_TLS_VERSIONS}",
            *options,
        ]

    def _display_number(self, pipe: int, deadline: float) -> int:
        """Read the display number, which Xvnc writes when both its ports are open."""
        line = b""
        while not line.endswith(b"\n"):
            remaining = deadline - time.monotonic()
            if remaining <= 0 or not select.select([pipe], [], [], remaining)[0]:
                raise self._failure(f"Xvnc is not ready after {START_TIMEOUT:g} s")
            piece = os.read(pipe, 16)
            if not piece:
                raise self._failure("Xvnc did not start")
            line += piece
        return int(line)

    def _failure(self, what: str) -> DisplayError:
        lines = [line for line in self._log.read_text("utf-8", "replace").splitlines() if line.strip()]
        words = "".join(f"\n    {line}" for line in lines[-LOG_LINES:])
        return DisplayError(f"{what}; its last output:{words or ' none'}")


def _authority_entry(cookie: bytes) -> bytes:
    """Return an Xauthority entry for any display: 2 bytes family, then length and bytes of four fields."""
    fields = (b"", b"", COOKIE, cookie)  # address, display number, name, data
    return struct.pack(">H", _FAMILY_WILD) + b"".join(struct.pack(">H", len(data)) + data for data in fields)


def _dying_with_parent() -> list[str]:
    """Return a command prefix that kills Xvnc at the end of the calling thread, in addition to the guard."""
    return ["setpriv", "--pdeathsig", "KILL", "--"] if shutil.which("setpriv") else []


def _interface(host: str) -> list[str]:
    if host in ("127.0.0.1", "localhost"):
        return ["-localhost", "-UseIPv6=0"]
    if host == "::1":
        return ["-localhost", "-UseIPv4=0"]
    return ["-localhost=0", "-interface", host]


@contextmanager
def _reserved(host: str, port: int) -> Iterator[int]:
    """Bind a port without listening, so that no other program gets it while Xvnc starts, and yield it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as reservation:
        reservation.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            reservation.bind((host, port))
        except OSError as error:
            raise DisplayError(f"vnc port {host}:{port}: {error.strerror}") from error
        yield reservation.getsockname()[1]
