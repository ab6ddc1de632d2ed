"""Videos that are being written, and files that are no videos."""

import numpy as np
import pytest

from universe_client.recording.video import Encoder, count, frames


def test_pictures_are_counted_without_decoding(tmp_path):
    path = tmp_path / "remote-0.mp4"
    encoder = Encoder(path, (16, 32))
    for number in range(7):
        encoder.add(np.full((16, 32, 3), 30 * number, np.uint8), number * 20_000_000)
    encoder.close()
    assert count(path) == len(list(frames(path))) == 7


def test_a_file_without_a_picture_is_no_video_yet(tmp_path):
    path = tmp_path / "remote-0.mp4"
    path.touch()
    assert count(path) == 0
    with pytest.raises(OSError, match="not a video"):
        next(frames(path))
