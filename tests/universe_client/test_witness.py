"""A frame counts when all that was said before it has been heard."""

from __future__ import annotations

import asyncio
import threading

from universe_client.loop import LoopThread
from universe_client.witness import Turns, Witness


async def turn(times: int = 1) -> None:
    for _ in range(times):
        await asyncio.sleep(0)


async def test_a_frame_is_heard_some_turns_of_the_loop_after_it_came():
    witness = Witness(Turns())
    witness.frame(3)
    assert not witness.heard(3, 0)
    await turn()
    assert not witness.heard(3, 0), "one turn only finds the socket readable"
    await turn(5)
    assert witness.heard(3, 0) and witness.heard(2, 0) and not witness.heard(4, 0)


async def test_a_flood_of_frames_holds_none_of_them_back():
    witness = Witness(Turns())
    for number in range(1, 100):
        witness.frame(number)
        await turn()
        assert number < 8 or witness.heard(number - 7, 0)


async def test_a_session_that_counts_anew_is_not_taken_at_the_word_of_the_last():
    witness = Witness(Turns())
    witness.frame(9)
    await turn(6)
    assert witness.heard(9, 0)
    witness.forget()
    assert not witness.heard(1, 0)
    witness.frame(1)
    await turn(6)
    assert witness.heard(1, 0) and not witness.heard(2, 0)


async def test_links_share_the_counting_of_turns():
    turns = Turns()
    first, second = Witness(turns), Witness(turns)
    first.frame(1)
    await turn(2)
    second.frame(1)
    await turn(3)
    assert first.heard(1, 0) and not second.heard(1, 0)
    await turn(3)
    assert second.heard(1, 0)


def test_another_thread_waits_until_it_is_heard():
    loop = LoopThread()
    witness = Witness(Turns())
    heard = threading.Thread(target=witness.heard, args=(1, 10.0))
    heard.start()
    loop.call(witness.frame, 1)
    heard.join(5.0)
    assert not heard.is_alive()
    loop.stop(asyncio.sleep(0))
