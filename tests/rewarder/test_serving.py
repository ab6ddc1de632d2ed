"""The options of a remote as a value, and as JSON."""

from __future__ import annotations

import msgspec
import pytest

from rewarder.serving import MAX_REQUEST, Request, Serving


def test_options_that_are_set_take_precedence_over_others():
    image = Serving(runtime="lamp:Lamp", idle_timeout=60.0, fps=10)
    assert Serving(fps=30, seed=1).over(image) == Serving(
        runtime="lamp:Lamp", idle_timeout=60.0, fps=30, seed=1
    )
    assert Serving().over(image) == image


def test_a_request_survives_its_encoding():
    asked = Request(
        env_id="process.xterm",
        serving=Serving(program=["xterm", "-e", "top"], screen_size=(640, 480)),
        password="sesame",
    )
    encoded = msgspec.json.encode(asked)
    assert msgspec.json.decode(encoded, type=Request) == asked
    assert b"host" not in encoded and len(encoded) < MAX_REQUEST


@pytest.mark.parametrize(
    "serving",
    [{"fps": 0}, {"idle_timeout": -1}, {"vnc_port": 70000}, {"screen_size": [0, 1]}, {"xvnc": "1x1"}],
)
def test_values_out_of_bounds_and_unknown_options_are_refused(serving):
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(serving, Serving)


def test_no_password_is_in_the_repr_of_a_request():
    asked = Request(env_id="x", password="sesame", view_only_password="sesame")
    assert "sesame" not in repr(asked)
