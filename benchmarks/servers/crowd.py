"""The rewarders of many remotes that stand still, in one process: `python -m benchmarks.servers.crowd COUNT`."""

from __future__ import annotations

import asyncio
import sys

from benchmarks.servers.still import still_rewarder


async def _main(count: int) -> None:
    rewarders = [await still_rewarder() for _ in range(count)]
    print(" ".join(str(each.port) for each in rewarders), flush=True)
    await asyncio.to_thread(sys.stdin.read)  # until the parent closes it


if __name__ == "__main__":
    asyncio.run(_main(int(sys.argv[1])))
