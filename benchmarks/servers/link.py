"""A slow link to a server on this machine: `python -m benchmarks.servers.link PORT MBIT_PER_SECOND DELAY_MS`.

It prints its own port and ends when stdin is closed.
"""

from __future__ import annotations

import asyncio
import sys
from asyncio import StreamReader, StreamWriter

_PIECE = 4096
_CATCH_UP = 0.005
"""Seconds by which a sleep may be too long without reducing the rate."""


async def _carry(reader: StreamReader, writer: StreamWriter, rate: float, delay: float) -> None:
    """Forward `rate` bytes per second, each `delay` seconds late; further bytes wait at the sender."""
    loop = asyncio.get_running_loop()
    free = 0.0
    try:
        while data := await reader.read(_PIECE):
            free = max(free, loop.time() - _CATCH_UP) + len(data) / rate
            await asyncio.sleep(free - loop.time())
            loop.call_later(delay, _write, writer, data)
    except ConnectionError:
        pass  # the other direction ends too
    finally:
        loop.call_later(delay, writer.transport.abort)


def _write(writer: StreamWriter, data: bytes) -> None:
    if not writer.transport.is_closing():
        writer.write(data)


async def main(port: int, rate: float, delay: float) -> None:
    async def serve(reader: StreamReader, writer: StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(_carry(far_reader, writer, rate, delay), _carry(reader, far_writer, rate, delay))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), float(sys.argv[2]) * 1e6 / 8, float(sys.argv[3]) / 1000))
