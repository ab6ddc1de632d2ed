"""The capture file: its contents, what it omits, and truncated files."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from tests.support.vnc import captures
from tests.support.vnc.captures import EMPTY_UPDATE, HEIGHT, WIDTH, written
from vnc.capture.capture import CaptureError, read_capture

path = captures.path  # fixtures


def test_a_file_is_never_overwritten(path: Path) -> None:
    written(path)
    with pytest.raises(FileExistsError):
        written(path)


def test_a_file_cut_anywhere_reads_up_to_its_last_whole_record(path: Path) -> None:
    written(path, EMPTY_UPDATE, EMPTY_UPDATE + b"2", EMPTY_UPDATE + b"3")
    content = path.read_bytes()
    ends = [len(content)]
    first = content.index(b"\n") + 1
    for size in range(first, len(content)):
        path.write_bytes(content[:size])
        capture = read_capture(path)
        ends.append(len(capture.updates))
        assert capture.truncated == (size not in _record_ends(content, first))
    assert ends[1:] == sorted(ends[1:])
    assert ends[-1] == 2


def _record_ends(content: bytes, at: int) -> set[int]:
    ends = {at}
    while at < len(content):
        at += 13 + struct.unpack_from(">I", content, at + 9)[0]
        ends.add(at)
    return ends


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not json\n",
        b'{"width": 1, "height": 1, "name": "", "format": "another", "version": 1}\n',
        b'{"width": 1, "height": 1, "name": "", "format": "universe-client capture", "version": 2}\n',
        b'{"width": 0, "height": 1, "name": "", "format": "universe-client capture", "version": 1}\n',
        b'{"width": 1, "height": 1, "name": "", "format": "universe-client capture", "version": 1}',
        b'{"width": 1, "height": 1, "name": ""}\n' + struct.pack(">BQI", 9, 0, 0),
        b'{"width": 1, "height": 1, "name": ""}\n' + struct.pack(">BQI", 2, 0, 3) + b"abc",
        b'{"width": 1, "height": 1, "name": ""}\n' + struct.pack(">BQI", 5, 0, 3) + b"abc",
    ],
)
def test_what_is_not_a_capture(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(CaptureError):
        read_capture(path)


def test_the_header_is_a_line_that_people_can_read(path: Path) -> None:
    written(path)
    assert json.loads(path.read_text()) == {
        "width": WIDTH, "height": HEIGHT, "name": "written", "created": 0.0, "format": "universe-client capture",
        "version": 1,
    }  # fmt: skip
