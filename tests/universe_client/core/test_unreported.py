"""What is collected once."""

from __future__ import annotations

from rewarder.protocol.episode import EpisodeId
from rewarder.protocol.messages import Describe
from universe_client.core.unreported import Unreported
from universe_client.errors import PeerLost


def lost(text: str) -> PeerLost:
    return PeerLost(text, remote="0", stage="run")


def test_a_loss_is_an_error_and_a_truncation_in_one():
    unreported = Unreported()
    feed = unreported.buffer.connect()
    feed.describe(EpisodeId((1,)), Describe(None, "running", None))
    unreported.lose(lost("first"), ends_endless=False)
    unreported.lose(lost("second"), ends_endless=False)
    popped, error, endless_end = unreported.collect()
    assert (error.args[0], popped.end_reason, endless_end) == ("second", "lost", None)
    popped, error, _ = unreported.collect()
    assert (error, popped.end_reason) == (None, None)


def test_an_endless_episode_ends_once_and_for_the_first_reason():
    unreported = Unreported()
    unreported.end_endless("time_limit")
    unreported.end_endless("other")
    assert [unreported.collect()[2] for _ in range(2)] == ["time_limit", None]


def test_a_loss_is_the_reason_even_if_the_agent_has_ended_the_episode():
    unreported = Unreported()
    unreported.end_endless("time_limit")
    unreported.lose(lost("gone"), ends_endless=True)
    assert unreported.collect()[2] == "lost"
