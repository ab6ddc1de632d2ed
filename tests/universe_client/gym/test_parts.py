"""The small parts of Gymnasium's faces: tiles, pace, texts, infos, arguments."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from universe_client.core.info import SCHEMA, blank
from universe_client.gym.arguments import observation_space, remotes_argument, reset_mask
from universe_client.gym.batch import infos as gym_infos
from universe_client.gym.tile import tile
from universe_client.spaces.pixel_box import PixelBox
from universe_client.spaces.text_space import TextSpace


@pytest.mark.parametrize(
    ("n", "grid"), [(1, [[0]]), (2, [[0, 1]]), (3, [[0, 1], [2, -1]]), (5, [[0, 1, 2], [3, 4, -1]])]
)
def test_tiles_lie_in_reading_order_on_black(n, grid):
    frames = np.broadcast_to(np.arange(1, n + 1, dtype=np.uint8)[:, None, None, None], (n, 4, 6, 3))
    tiled = tile(frames)
    assert tiled.shape == (4 * len(grid), 6 * len(grid[0]), 3)
    assert (tiled[::4, ::6, 0].astype(int) - 1).tolist() == grid
    assert tiled.reshape(len(grid), 4, len(grid[0]), 6, 3).var(axis=(1, 3)).max() == 0


def test_texts_are_a_space():
    space = TextSpace()
    assert space.sample() in space
    assert ["a", {"b": 1}] in space
    assert "a" not in space
    assert pickle.loads(pickle.dumps(space)) == space
    assert not space.is_np_flattenable


def test_infos_keep_their_dtypes_whatever_is_known():
    full = {
        key: {bool: True, int: 3, float: 0.5, object: "x"}[dtype] for key, dtype in gym_infos.DTYPES.items()
    }
    for rows in ([blank(), blank()], [full, blank()], [None, full], [None, None]):
        batched = gym_infos.batch(rows)
        assert list(batched) == [name for key in gym_infos.DTYPES for name in (key, f"_{key}")]
        for key, dtype in gym_infos.DTYPES.items():
            assert batched[key].dtype == dtype
            assert batched[f"_{key}"].tolist() == [bool(row) and row.get(key) is not None for row in rows]
    assert gym_infos.DTYPES.keys() == {*SCHEMA, "resetting"}


def test_what_a_remote_sends_gets_a_dtype_where_it_can():
    rows = [
        {"remote.n": 1, "remote.mixed": 1},
        None,
        {"remote.n": 4, "remote.mixed": "x", "remote.list": [1, 2]},
    ]
    batched = gym_infos.batch(rows)
    assert (batched["remote.n"].tolist(), batched["remote.n"].dtype) == ([1, 0, 4], np.int64)
    assert batched["remote.mixed"].tolist() == [1, None, "x"]
    assert batched["remote.list"][2] == [1, 2]
    assert batched["_remote.list"].tolist() == [False, False, True]


def test_num_envs_fills_in_what_remotes_leaves_open():
    assert remotes_argument(None, 3) == 3
    assert remotes_argument("process", 2) == "process:2"
    assert remotes_argument("embedded:4", 1) == "embedded:4"
    assert remotes_argument("vnc://a,b", 1) == "vnc://a,b"
    assert remotes_argument(5, 1) == 5


def test_a_reset_mask_is_copied_and_defaults_to_all():
    mask = np.array([True, False])
    taken = reset_mask({"reset_mask": mask}, 2)
    taken[1] = True
    assert mask.tolist() == [True, False]
    assert reset_mask(None, 2).all()
    assert reset_mask({}, 2).all()


def test_observation_spaces_by_name():
    assert observation_space("pixels", (3, 4, 3), None) == PixelBox((3, 4, 3))
    assert observation_space("dict", (3, 4, 3), None)["vision"] == PixelBox((3, 4, 3))
