"""What a server is asked for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from vnc import encodings
from vnc.encodings import COPY_RECT, RAW, SHARED_FRAMES, TIGHT, ZRLE, jpeg, preference


def asked_first(*arguments: object) -> int:
    copy_rect, first, *_ = (number for number in preference(*arguments) if number != SHARED_FRAMES)
    assert copy_rect == COPY_RECT
    return first


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_auto_is_raw_on_this_host(host):
    assert asked_first("auto", None, host) == RAW


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1", "fe80::1%eth0", "localhost.example"])
def test_auto_is_tight_for_others(host):
    assert asked_first("auto", None, host) == TIGHT


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        (("auto", None, "127.0.0.1"), True),
        (("auto", None, "192.0.2.1"), False),
        (("auto", 8, "127.0.0.1"), False),
        (("raw", None, "127.0.0.1"), False),
    ],
)
def test_auto_is_shared_frames_on_this_host_if_pixels_are_to_be_exact(arguments, asked):
    assert (preference(*arguments)[0] == SHARED_FRAMES) == asked


def test_a_quality_is_a_wish_for_tight_anywhere():
    assert asked_first("auto", 8, "localhost") == TIGHT
    assert preference("auto", 8, "localhost")[-1] == -24
    assert not set(range(-32, -22)) & set(preference("auto", None, "localhost")), "exact pixels by default"


def test_every_encoding_is_asked_for_once_whichever_is_preferred():
    numbers = preference("zrle", None, "localhost")
    assert numbers[1] == ZRLE
    assert len(set(numbers)) == len(numbers)
    assert set(numbers) == set(preference("tight", None, "localhost"))


def test_compressed_encodings_are_not_listed_beside_raw():
    numbers = preference("raw", None, "localhost")
    assert [number for number in numbers if number >= 0] == [COPY_RECT, RAW]


@pytest.mark.parametrize(("encoding", "quality"), [("rre", None), ("", None), ("tight", 10), ("auto", -1)])
def test_what_there_is_not_is_refused(encoding, quality):
    with pytest.raises(ValueError, match=r"rre|''|10|-1"):
        preference(encoding, quality, "localhost")


def test_the_ends_of_the_jpeg_scale():
    assert (jpeg(None), jpeg(0), jpeg(9)) == ((), (-32,), (-23,))


def test_the_rust_core_has_the_same_numbers():
    source = Path(encodings.__file__).parent / "core" / "rfb" / "src" / "encodings.rs"
    numbers = {
        name: int(n, 0) for name, n in re.findall(r"pub const (\w+): i32 = (-?\w+);", source.read_text())
    }
    assert {"RAW", "TIGHT", "LAST_RECT"} <= numbers.keys()
    assert numbers == {name: getattr(encodings, name) for name in numbers}
