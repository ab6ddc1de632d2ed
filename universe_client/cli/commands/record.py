"""`universe-client record` and `replay`: write the bytes of a VNC session to a file, and serve the file to clients."""

from __future__ import annotations

import argparse
import asyncio
import time
from pathlib import Path

from rich.console import Console
from rich.filesize import decimal
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from rewarder.cli.option_types import count, host, port, positive
from rewarder.sdk.shutdown import until_stopped
from universe_client.errors import ConfigError
from universe_client.providers.address import parse
from vnc.capture.capture import MAX_BYTES, Capture, CaptureError, CaptureWriter, read_capture
from vnc.capture.record import Recorder, RecordOptions, record
from vnc.capture.replay import ReplayServer
from vnc.encodings import BY_NAME, LAST_RECT, jpeg
from vnc.errors import VNCError
from vnc.pixels.pixel_format import PixelFormat
from vnc.session import VNCAddress

DEFAULT_ENCODINGS = "tight,zrle,hextile,copyrect,raw"

_REFRESH = 8  # of the progress, per second
_RECORD = """\
Write what a VNC server sends, with times, to a file that `replay` serves again: to inspect what an agent saw, or to
measure clients with the same bytes. The command requests updates itself; with --port it waits for one client on this
machine and records the session of that client.

The file (mode 0600) contains what the screen showed, and no passwords, keys, clicks or clipboard texts.

With --run, write the folder of a recorded run instead, as `run --record` does: a video of each remote, and the rewards,
texts and episodes of remotes that others play on. Only those who play know their own input: it is not in the folder.
"""
_REPLAY = """\
Serve a recorded session to VNC clients on this machine, from its beginning for each connection. A client must accept
the recorded encodings and pixel format: agents can replay sessions that were recorded without --port; sessions that
were recorded with --port need the same kind of client.

The folder of a recorded run is served as a remote: its pictures, rewards and episodes. With --diff OTHER nothing is
served: for each episode of the two runs the command prints the first step at which they differ, and what differs:
pictures, actions, rewards or ends. Times are not compared. Exit status: 0 the runs are equal, 1 they differ.
"""


def configure_record(parser: argparse.ArgumentParser) -> None:
    """Add the description and the options of `record`."""
    parser.description = _RECORD
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "address",
        metavar="ADDRESS",
        help="vnc://host:port?password_file=FILE, vncs:// for TLS; with --run also several, and host:5900+15900",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="the file to create")
    parser.add_argument("--run", type=Path, metavar="DIR", help="the folder to create, instead of a file")
    parser.add_argument(
        "--seconds", type=positive, default=10.0, metavar="S", help="the duration; default: %(default)g"
    )
    parser.add_argument(
        "--encoding",
        default=DEFAULT_ENCODINGS,
        metavar="E,E",
        help=f"encodings in order of preference, out of {', '.join(BY_NAME)}; default: %(default)s",
    )
    parser.add_argument(
        "--quality", type=int, metavar="0-9", help="allow JPEG of this quality; default: lossless pixels"
    )
    parser.add_argument(
        "--max-bytes",
        type=count,
        default=MAX_BYTES,
        metavar="N",
        help="the largest size of the file; default: %(default)d",
    )
    parser.add_argument(
        "--port",
        type=port,
        metavar="N",
        help="record a client that connects to this port; 0 is any free port",
    )
    parser.set_defaults(command=_record)


def configure_replay(parser: argparse.ArgumentParser) -> None:
    """Add the description and the options of `replay`."""
    parser.description = _REPLAY
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE|DIR",
        help="a file that `record` wrote, or the folder that `run --record` or `play --record` wrote",
    )
    parser.add_argument(
        "--remote", type=int, default=0, metavar="I", help="of a folder: the recorded remote; default: 0"
    )
    parser.add_argument(
        "--diff", type=Path, metavar="OTHER", help="compare with the folder of another recorded run"
    )
    parser.add_argument(
        "--host", type=host, default="127.0.0.1", help="the address to listen on; default: %(default)s"
    )
    parser.add_argument("--port", type=port, default=0, metavar="N", help="default: any free port")
    parser.add_argument(
        "--speed",
        type=lambda text: None if text == "max" else positive(text),
        default=1.0,
        metavar="X|max",
        help="2 is twice as fast as recorded, max as fast as the client requests updates; default: 1",
    )
    parser.set_defaults(command=_replay_either)


def _replay_either(options: argparse.Namespace) -> int:
    if options.diff is not None:
        from universe_client.cli.commands.replay_run import print_differences

        return print_differences(options.file, options.diff)
    if not options.file.is_dir():
        return replay_command(options.file, options.host, options.port, options.speed)
    from universe_client.cli.commands.replay_run import replay_run

    return replay_run(options)


def encoding_numbers(names: str, quality: int | None) -> tuple[int, ...]:
    """Return the numbers of encodings to request from a server.

    Args:
        names: encodings in order of preference, such as "tight,copyrect".
        quality: of JPEG, 0 to 9; None requests lossless pixels.

    Raises:
        ConfigError: a name is unknown, or the quality is out of range.
    """
    unknown = [name for name in names.split(",") if name not in BY_NAME]
    if unknown:
        raise ConfigError(f"unknown encoding {unknown[0]!r}, known are {', '.join(BY_NAME)}")
    try:
        return (*(BY_NAME[name] for name in names.split(",")), LAST_RECT, *jpeg(quality))
    except ValueError as error:
        raise ConfigError(str(error)) from error


def _record(options: argparse.Namespace) -> int:
    """Record; return the exit status: 0, or 1 if the session failed."""
    if options.run is not None:
        from universe_client.cli.commands.record_run import record_run

        return record_run(options)
    if options.out is None:
        raise ConfigError("say where to record to: --out FILE, or --run DIR")
    remotes = parse(options.address)
    if len(remotes) != 1:
        raise ConfigError(f"the address has {len(remotes)} servers: record one at a time")
    encodings = encoding_numbers(options.encoding, options.quality)
    console = Console(stderr=True, markup=False)
    try:
        if options.port is None:
            written = asyncio.run(_record_own(options, remotes[0].vnc, encodings, console))
        else:
            written = asyncio.run(_record_client(options, remotes[0].vnc, console))
    except VNCError as error:
        console.print(str(error), style="red", highlight=False, soft_wrap=True)
        return 1
    except KeyboardInterrupt:
        console.print(f"{options.out} contains the session until now", highlight=False)
        raise
    _print_result(console, written)
    return 0


async def _record_own(
    options: argparse.Namespace,
    address: VNCAddress,
    encodings: tuple[int, ...],
    console: Console,
) -> CaptureWriter:
    with _progress(console, options.seconds) as progress:
        task = progress.add_task(f"recording {address}", total=options.seconds, figures="")
        began = time.monotonic()

        def show(file: CaptureWriter) -> None:
            progress.update(task, completed=time.monotonic() - began, figures=_figures(file))

        return await record(
            address,
            options.out,
            seconds=options.seconds,
            encodings=encodings,
            options=RecordOptions(max_bytes=options.max_bytes),
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


async def _record_client(options: argparse.Namespace, address: VNCAddress, console: Console) -> CaptureWriter:
    recorder = await Recorder.open(
        address, options.out, port=options.port, options=RecordOptions(max_bytes=options.max_bytes)
    )
    console.print(
        f"connect one client to 127.0.0.1:{recorder.port} (no password); {options.seconds:g} s are recorded"
    )
    try:
        async with asyncio.timeout(options.seconds):
            await recorder.run()
    except TimeoutError:
        pass
    finally:
        await recorder.close()
    return recorder.file


def _print_result(console: Console, file: CaptureWriter) -> None:
    console.print(
        f"{file.path}: {_figures(file)}{' (full)' if file.full else ''}", highlight=False, soft_wrap=True
    )


def replay_command(path: Path, host: str, port: int, speed: float | None) -> int:
    """Serve a recorded session until Ctrl-C; return the exit status.

    Args:
        path: the file.
        host: the address to listen on.
        port: the TCP port; 0 is any free port.
        speed: 2 is twice as fast as recorded; None is as fast as the client requests updates.

    Raises:
        ConfigError: the file is not a recorded session.
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
        f"  connect   any client that accepts {_form(server.capture.pixel_format)} to {host}::{server.port}"
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
