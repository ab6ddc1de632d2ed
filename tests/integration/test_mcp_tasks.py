"""Twenty tasks through `universe-client mcp` and the official client, solved by a scripted model."""

from __future__ import annotations

import asyncio
import base64
import io
import os
import sys

import numpy as np
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from PIL import Image

from tests.support.remotes.solutions import TASKS, solve


class Model:
    """Calls tools, and remembers what they answered last."""

    def __init__(self, client):
        self.client, self.calls = client, 0

    async def call(self, tool, **arguments):
        self.calls += 1
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result.content[0].text
        self.facts = result.meta["universe-client"]
        images = [block for block in result.content if block.type == "image"]
        if images:
            self.picture = np.asarray(Image.open(io.BytesIO(base64.b64decode(images[0].data))))

    async def ends(self, tool, **arguments):
        """Call a tool; return whether the episode has ended. The end may arrive with any answer."""
        await self.call(tool, **arguments)
        return self.facts["done"]

    async def solve(self, env_id, seed):
        """Begin the task, look, and take the turns of the script; return the reward of the episode."""
        await self.call("reset", env_id=env_id, seed=seed)
        await self.call("screenshot", format="png")
        text = self.facts["task"]
        async with asyncio.timeout(120):  # on a busy machine a window may slip from the pointer
            while True:
                for batch in solve(env_id, text, lambda: self.picture):
                    if await self.ends("do", actions=batch):
                        return self.facts["episode_reward"]
                    # Its policies look for exact colours.
                    if env_id.startswith("browser.") and await self.ends("screenshot", format="png"):
                        return self.facts["episode_reward"]
                for tool, arguments in (
                    ("wait_until_still", {"quiet": 1.0}),
                    ("screenshot", {"format": "png"}),
                ):
                    if await self.ends(tool, **arguments):
                        return self.facts["episode_reward"]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", ["desktop", "browser"])
async def test_a_scripted_model_earns_the_rewards_of_ten_tasks(kind):
    tasks = [env_id for env_id in TASKS if env_id.startswith(kind)]
    assert len(tasks) == 10
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "universe_client", "mcp", "--remotes", "process:1", tasks[0]],
        cwd=os.getcwd(),
    )
    rewards = {}
    async with Client(parameters) as client:
        for env_id in tasks:
            rewards[env_id] = await Model(client).solve(env_id, seed=1)
    assert [env_id for env_id, reward in rewards.items() if reward <= 0] == []
    assert kind == "browser" or set(rewards.values()) == {1.0}, rewards
