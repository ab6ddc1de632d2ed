"""Changed: news for more than one."""

from __future__ import annotations

import threading

from universe_client.core.changed import Changed


def test_followers_are_set_with_it_and_cleared_by_themselves():
    changed, follower, other = Changed(), threading.Event(), threading.Event()
    changed.followers += [follower, other]
    changed.set()
    assert (changed.is_set(), follower.is_set(), other.is_set()) == (True, True, True)
    changed.clear()
    assert follower.is_set()
    follower.clear()
    changed.set()
    assert follower.is_set()
