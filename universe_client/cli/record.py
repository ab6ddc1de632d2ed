"""`universe-client record` and `replay`: the wire of a VNC session to a file, and from the file to any client."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.filesize import decimal
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from rewarder.sdk.shutdown import until_stopped
from universe_client.errors import ConfigError
from universe_client.providers.address import parse
from vnc.capture.capture import Capture, CaptureError, CaptureWriter, read_capture
from vnc.capture.record import Recorder, RecordOptions, record
from vnc.capture.replay import ReplayServer
from vnc.encodings import BY_NAME, LAST_RECT, jpeg
from vnc.errors import VNCError
from vnc.pixel_format import PixelFormat
from vnc.session import VNCAddress

DEFAULT_ENCODINGS = "tight,zrle,hextile,copyrect,raw"

_REFRESH = 8  # of the progress, per second


@dataclass(frozen=True, slots=True)
class RecordCommand:
    """What is to be recorded, in which form, and for how long."""

    address: str
    out: Path
    seconds: float
    encodings: str
    quality: int | None
    max_bytes: int
    port: int | None


def encoding_numbers(names: str, quality: int | None) -> tuple[int, ...]:
    """Return what to ask a server for, from names like "tight,copyrect" and a JPEG quality of 0 to 9.

    Raises:
        ConfigError: a name or the quality is unknown.
    """
    unknown = [name for name in names.split(",") if name not in BY_NAME]
    if unknown:
        raise ConfigError(f"unknown encoding {unknown[0]!r}, known are {', '.join(BY_NAME)}")
    try:
        return (*(BY_NAME[name] for name in names.split(",")), LAST_RECT, *jpeg(quality))
    except ValueError as error:
        raise ConfigError(str(error)) from error


def record_command(command: RecordCommand) -> int:
    """Record; return the exit status: 0, or 1 if the session failed."""
    remotes = parse(command.address)
    if len(remotes) != 1:
        raise ConfigError(f"one server can be recorded at a time, not {len(remotes)}")
    encodings = encoding_numbers(command.encodings, command.quality)
    console = Console(stderr=True, markup=False)
    options = RecordOptions(max_bytes=command.max_bytes)
    try:
        if command.port is None:
            written = asyncio.run(_pull(command, remotes[0].vnc, encodings, options, console))
        else:
            written = asyncio.run(_stand_between(command, remotes[0].vnc, options, console))
    except VNCError as error:
        console.print(str(error), style="red", highlight=False, soft_wrap=True)
        return 1
    except KeyboardInterrupt:
        console.print(f"{command.out} has what came until now", highlight=False)
        raise
    _tell(console, written)
    return 0


async def _pull(
    command: RecordCommand,
    address: VNCAddress,
    encodings: tuple[int, ...],
    options: RecordOptions,
    console: Console,
) -> CaptureWriter:
    with _progress(console, command.seconds) as progress:
        task = progress.add_task(f"recording {address}", total=command.seconds, figures="")
        began = time.monotonic()

        def show(file: CaptureWriter) -> None:
            progress.update(task, completed=time.monotonic() - began, figures=_figures(file))

        return await record(
            address,
            command.out,
            seconds=command.seconds,
            encodings=encodings,
            options=options,
            on_progress=show,
        )


def _progress(console: Console, seconds: float) -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn(f"of {seconds:g} s  {{task.fields[figures]}}"),
        console=console,
        refresh_per_second=_REFRESH,
        transient=True,
    )


def _figures(file: CaptureWriter) -> str:
    return f"{file.updates} updates, {decimal(file.bytes)}"


async def _stand_between(
    command: RecordCommand, address: VNCAddress, options: RecordOptions, console: Console
) -> CaptureWriter:
    recorder = await Recorder.open(address, command.out, port=command.port or 0, options=options)
    console.print(
        f"connect one client to 127.0.0.1:{recorder.port} (no password); {command.seconds:g} s are recorded"
    )
    try:
        async with asyncio.timeout(command.seconds):
            await recorder.run()
    except TimeoutError:
        pass
    finally:
        await recorder.close()
    return recorder.file


def _tell(console: Console, file: CaptureWriter) -> None:
    console.print(
        f"{file.path}: {_figures(file)}{' (full)' if file.full else ''}", highlight=False, soft_wrap=True
    )


def replay_command(path: Path, host: str, port: int, speed: float | None) -> int:
    """Serve a capture until Ctrl-C, as fast as `ReplayServer` does at that speed.

    Raises:
        ConfigError: the file is no capture.
    """
    try:
        server = ReplayServer(read_capture(path), speed=speed)
    except CaptureError as error:
        raise ConfigError(str(error)) from error
    asyncio.run(until_stopped(_replay(server, path, host, port)))
    return 0


async def _replay(server: ReplayServer, path: Path, host: str, port: int) -> None:
    await server.start(host, port)
    console = Console(soft_wrap=True, highlight=False, markup=False)
    console.print(
        f"{path}: {_summary(server.capture)}; Ctrl-C ends it.\n"
        f"  connect   any client that wants {_form(server.capture.pixel_format)} to {host}::{server.port}"
    )
    try:
        await asyncio.get_running_loop().create_future()  # until cancelled
    finally:
        await server.close()


def _form(pixel_format: PixelFormat) -> str:
    shifts = ", ".join(str(shift) for _, shift in pixel_format.channels)
    return f"{pixel_format.bits_per_pixel}-bit pixels with red, green and blue at bits {shifts}"


def _summary(capture: Capture) -> str:
    header = capture.header
    cut = ", cut short" if capture.truncated else ""
    used = ", ".join(name for name, number in BY_NAME.items() if number in capture.uses)
    return (
        f"{header.width}x{header.height}, {len(capture.updates)} updates in {capture.seconds:.1f} s, "
        f"{used}{cut}"
    )
