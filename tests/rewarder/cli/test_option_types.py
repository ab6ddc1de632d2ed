"""What the values of options may be."""

from __future__ import annotations

from argparse import ArgumentTypeError

import pytest

from rewarder.cli.option_types import count, host, port, positive, size


def test_what_makes_sense_is_read():
    assert (positive("0.5"), count("3"), port("0"), port("65535")) == (0.5, 3, 0, 65535)
    assert (host("127.0.0.1"), size("1024x768")) == ("127.0.0.1", (1024, 768))


@pytest.mark.parametrize(
    ("read", "values", "complaint"),
    [
        (positive, ["0", "-1", "nan", "inf", "soon", ""], "is not a number above 0"),
        (count, ["0", "-1", "1.5", "²", ""], "is not a whole number above 0"),
        (port, ["-1", "65536", "ssh", ""], "is not a port: 0 to 65535"),
        (size, ["1024", "0x768", "1024x", "16385x1", "ax2"], "is not a size such as 1024x768"),
        (host, ["127.0.0.256"], ": "),
    ],
)
def test_what_makes_no_sense_is_named(read, values, complaint):
    for value in values:
        with pytest.raises(ArgumentTypeError) as raised:
            read(value)
        assert str(raised.value).startswith(f"{value!r}") and complaint in str(raised.value)
