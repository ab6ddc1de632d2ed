"""TigerVNC's server and x11vnc for tests, and pictures on them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from vnc.tls import Identity
from vnc.vncauth import obfuscated


@asynccontextmanager
async def xvnc_server(
    directory: Path, password: str | None = None, *options: str
) -> AsyncIterator[tuple[int, str]]:
    """Run Xvnc with a screen of 320x200; yield its port and its display."""
    security = ["-SecurityTypes", "None"] if password is None else _vnc_auth(directory, password)
    free = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port = free.sockets[0].getsockname()[1]
    free.close()
    process = await asyncio.create_subprocess_exec(
        "Xvnc", "-displayfd", "1", "-rfbport", str(port), "-localhost", *security, "-geometry", "320x200",
        "-depth", "24", "-UseBlacklist=0", "-AlwaysShared", "-nolisten", "tcp", *options,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        assert process.stdout
        number = (await asyncio.wait_for(process.stdout.readline(), 60)).decode().strip()
        assert number.isdecimal(), f"Xvnc did not start: it names the display {number!r}"
        yield port, f":{number}"
    finally:
        process.kill()
        await process.wait()


@asynccontextmanager
async def secure_xvnc(
    directory: Path, identity: Identity, types: str, password: str | None = None
) -> AsyncIterator[tuple[int, str]]:
    """Run Xvnc with TLS, the certificate `identity` and these security types."""
    files = ["-X509Cert", str(identity.certificate), "-X509Key", str(identity.key)]
    async with xvnc_server(directory, password, *files, "-SecurityTypes", types) as server:
        yield server


@asynccontextmanager
async def x11vnc_server() -> AsyncIterator[tuple[int, str]]:
    """Run x11vnc on a screen of 320x200; yield its port and its display."""
    async with _process(
        "Xvfb", "-displayfd", "1", "-screen", "0", "320x200x24", "-nolisten", "tcp"
    ) as screen:
        display = f":{await _first_line(screen)}"
        options = (
            "-localhost",
            "-nopw",
            "-forever",
            "-shared",
            "-noipv6",
            "-quiet",
            "-speeds",
            "lan",
            "-autoport",
            "5950",
        )
        async with _process("x11vnc", *options, "-display", display) as server:
            name, _, port = (await _first_line(server)).partition("=")
            assert name == "PORT"
            yield int(port), display


@asynccontextmanager
async def _process(*command: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.kill()
        await process.wait()


async def _first_line(process: asyncio.subprocess.Process) -> str:
    assert process.stdout
    return (await asyncio.wait_for(process.stdout.readline(), 60)).decode().strip()


def _vnc_auth(directory: Path, password: str) -> list[str]:
    secret = directory / "vncpasswd"
    secret.write_bytes(obfuscated(password))
    secret.chmod(0o600)
    return ["-SecurityTypes", "VncAuth", "-PasswordFile", str(secret)]


@asynccontextmanager
async def logo(display: str, *options: str) -> AsyncIterator[None]:
    """Show a window that fills the screen, or has the given options."""
    process = await asyncio.create_subprocess_exec(
        "xlogo", *(options or ("-geometry", "320x200+0+0")), env=os.environ | {"DISPLAY": display}
    )
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
