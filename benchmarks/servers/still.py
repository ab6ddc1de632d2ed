"""The rewarder of a remote that stands still."""

from __future__ import annotations

from rewarder.protocol.episode import EpisodeId
from rewarder.protocol.messages import Describe
from rewarder.server.server import ResetRequest, RewarderServer


async def still_rewarder() -> RewarderServer:
    """Start a rewarder, without a password, that answers every reset at once."""

    def answer(request: ResetRequest) -> None:
        server.describe(episode, Describe("benchmark.Still-v0", "running", 60.0))
        server.reply_reset(request, episode)

    episode = EpisodeId.parse(1)
    server = RewarderServer(password=None, on_reset=answer)
    await server.start()
    return server
