"""`universe-client serve` in another process."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


@asynccontextmanager
async def serve_command(*arguments: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """Start the process; yield it and its output; stop it and check its exit status."""
    command = (sys.executable, "-m", "universe_client", "serve", *arguments)
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        said = ""
        async with asyncio.timeout(60):
            while "its password" not in said:
                line = await process.stdout.readline()
                assert line, said
                said += line.decode()
        yield process, said
    finally:
        process.terminate()
        assert await asyncio.wait_for(process.wait(), 60) == 0
