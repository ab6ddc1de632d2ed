"""MCP over stdio: what it adds to the same call of `Computer`, on the desktop remote at 1024x768.

Each round has a remote of its own for `Computer` and for `universe-client mcp` with the official client, and calls the
two in turn. A picture is a JPEG. The time of a click has no waiting for the screen to be still in it.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable
from typing import Any

import numpy as np
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from rich.console import Console

from benchmarks.report import Report, Table
from universe_client.hands import Computer

ENV_ID = "desktop.WriteNote-v0"
CALLS = 100
_SERVER = ["-m", "universe_client", "mcp", "--remotes", "process:1", ENV_ID]

Times = dict[str, list[float]]


def measure(console: Console, rounds: int) -> Report:
    times: dict[str, Times] = {call: {"Computer": [], "MCP": []} for call in ("screenshot", "click")}
    with console.status("measuring"):
        for _ in range(rounds):
            asyncio.run(_round(times))
    table = Table("ms a call", ["call", "Computer p50", "p99", "MCP p50", "p99", "added p50", "p99"])
    for call, found in times.items():
        (low, high), (mcp_low, mcp_high) = (_percentiles(each) for each in found.values())
        cells = low, high, mcp_low, mcp_high, mcp_low - low, mcp_high - high
        table.rows.append([call, *(f"{cell * 1000:.1f}" for cell in cells)])
    return Report([table])


async def _round(times: dict[str, Times]) -> None:
    with Computer.open(ENV_ID, "process:1", max_size=(1568, 1568)) as computer:
        await asyncio.to_thread(computer.reset)
        async with Client(StdioServerParameters(command=sys.executable, args=_SERVER)) as client:
            await client.call_tool("screenshot", {})
            for count in range(CALLS):
                for call, found in times.items():
                    at = 300 + count % 9, 300
                    found["Computer"].append(await _timed(_direct(computer, call, *at)))
                    found["MCP"].append(await _timed(_mcp(client, call, *at)))


async def _timed(work: Awaitable[float]) -> float:
    """Return the seconds of `work`, without those that it has waited for the screen."""
    began = time.perf_counter()
    waited = await work
    return time.perf_counter() - began - waited


async def _direct(computer: Computer, call: str, x: int, y: int) -> float:
    if call == "screenshot":
        assert computer.screenshot().data
        return 0.0
    outcome = computer.click(x, y)
    assert outcome.picture is not None and outcome.picture.data
    return outcome.waited


async def _mcp(client: Client, call: str, x: int, y: int) -> float:
    result: Any = await client.call_tool(call, {"x": x, "y": y} if call == "click" else {})
    assert not result.is_error, result
    return float(result.meta["universe-client"].get("waited", 0.0))


def _percentiles(times: list[float]) -> tuple[float, float]:
    return statistics.median(times), float(np.percentile(times, 99))
