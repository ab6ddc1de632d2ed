"""Headers of the upgrade that announce and ask for features."""

from __future__ import annotations

from websockets.datastructures import Headers

from rewarder.protocol.features import LOCKSTEP, Offer, want, wanted


def test_an_offer_reads_back():
    offer = Offer(frozenset({LOCKSTEP, "later"}), frozenset({"b", "a"}))
    assert Offer.read(Headers(offer.headers())) == offer
    assert offer.headers()["Universe-Calls"] == "a, b"


def test_a_server_that_says_nothing_offers_nothing():
    assert Offer().headers() == {}
    assert Offer.read(Headers()) == Offer()


def test_a_want_reads_back_and_sloppy_spelling_is_read():
    assert wanted(Headers(want([LOCKSTEP]))) == {LOCKSTEP}
    assert want([]) == {}
    assert wanted(Headers({"universe-wants": " lockstep ,, other"})) == {LOCKSTEP, "other"}
