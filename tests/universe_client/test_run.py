"""What `universe-client run` hands to an agent."""

from __future__ import annotations

from universe_client.info import SCHEMA
from universe_client.run import Until, run


def test_the_first_call_has_infos_to_look_into(open_env, scripted):
    calls = []

    def agent(*call):
        calls.append(call)
        return [[]] * 2

    run(open_env(scripted(), scripted()), agent, None, Until(steps=1), None, True)
    observation_n, reward_n, done_n, info = calls[0]
    assert (observation_n, reward_n, done_n) == ([None] * 2, [0.0] * 2, [False] * 2)
    assert [set(slot) for slot in info["n"]] == [set(SCHEMA)] * 2
