"""The events file of a recording, in the format MCAP (https://mcap.dev/spec).

Each kind of event of each remote is a channel, such as `/remote/0/reward`; events of the whole run are in `/run/...`. A
message is JSON. Its log time is the agent's clock, its publish time the remote's clock, as far as it is known; both are
nanoseconds since 1970. Messages are written one by one, not in chunks, so that a process that is killed loses nothing
that it has handed over.
"""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from mcap.exceptions import EndOfFile, McapError
from mcap.reader import NonSeekingReader
from mcap.writer import Writer

from universe_client.core.background import lower_priority
from universe_client.errors import ConfigError
from vnc.events import Event as InputEvent
from vnc.events import KeyEvent
from vnc.private_file import create_private

_PAUSE = 0.1
"""Seconds between two looks at the queue."""
KINDS = {
    "action": "the events that were sent, [name, ...] each; `dropped` counts those of another episode. With `by`: "
    "'viewer', a person sent them through a viewer of the remote, in `episode_id`; `dropped` counts missing ones",
    "frame": "a picture in the video: `video`, `index` in it from 0; its time is when the pixels arrived. In real time "
    "`refresh`: the number of the connection, and the newest refresh whose pixels are all in it",
    "playing": "frames show `episode_id` from `refresh` on; null: later ones need not",
    "skipped": "`frames` that are missing in the video, because the encoder was too slow",
    "reward": "the sum of `count` messages of the rewarder, and the `info` of the remote",
    "text": "texts of the remote, and its `instruction`",
    "observation": "the `value` of the environment observation, as the rewarder's protocol packs it",
    "state": "`running`, or the `reason` why there is no picture; the `episode_id` and the `env_id`",
    "end": "of an episode: its id, why, its `return`, and how many further episodes ended unseen",
    "error": "an error of the remote",
    "lag": "times in seconds: reaction_time, rtt and lags; once a second",
    "actor": "`name` of who acts from now on: agent or person",
    "reset": "a reset by the agent, with its options",
    "begin": "of the recording: versions and what was opened",
}
"""Kind: what its messages contain."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event.

    Attributes:
        kind: a key of `KINDS`.
        time: of the agent's clock, in nanoseconds since 1970.
        remote_time: of the remote's clock; equal to `time` if it is unknown.
        remote: the index of the remote; None for the whole run.
        body: what the kind contains.
    """

    kind: str
    time: int
    remote_time: int
    remote: int | None
    body: dict[str, Any]

    @property
    def topic(self) -> str:
        """The name of the channel."""
        return f"/run/{self.kind}" if self.remote is None else f"/remote/{self.remote}/{self.kind}"


class EventWriter:
    """Writes events on a thread of its own, those of a tenth of a second at a time."""

    def __init__(self, path: Path, failed: Callable[[Exception], None]) -> None:
        """Create the file, readable by its owner only.

        Args:
            path: a file that does not exist.
            failed: called once, on the thread, when nothing more can be written.

        Raises:
            OSError: the file cannot be created.
        """
        self._file = create_private(path)
        self._writer = Writer(self._file, use_chunking=False, enable_data_crcs=False)
        self._writer.start(profile="", library="universe-client")
        self._channels: dict[str, int] = {}
        self._schemas: dict[str, int] = {}
        self._failed = failed
        self._queue: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        self._closes = threading.Event()
        self._thread = threading.Thread(target=self._run, name="record-events", daemon=True)
        self._thread.start()

    def write(self, event: Event) -> None:
        """Hand an event over; it is written soon."""
        self._queue.put(event)

    def close(self) -> None:
        """Write what is left, and finish the file."""
        self._queue.put(None)
        self._closes.set()
        self._thread.join()

    def _run(self) -> None:
        lower_priority()
        try:
            with self._file:
                while (event := self._queue.get()) is not None:
                    self._add(event)
                    if self._queue.empty():
                        self._file.flush()
                        self._closes.wait(_PAUSE)  # to wake for each event would cost more than to write it
                self._writer.finish()  # type: ignore[no-untyped-call]
        except (OSError, msgspec.MsgspecError, TypeError) as error:
            self._failed(error)

    def _add(self, event: Event) -> None:
        channel = self._channels.get(event.topic)
        if channel is None:
            channel = self._channels[event.topic] = self._register(event)
        data = msgspec.json.encode(event.body, enc_hook=_plain)
        self._writer.add_message(channel, event.time, data, event.remote_time)

    def _register(self, event: Event) -> int:
        if event.kind not in self._schemas:
            schema = {"type": "object", "description": KINDS[event.kind]}
            self._schemas[event.kind] = self._writer.register_schema(
                f"universe.{event.kind}", "jsonschema", json.dumps(schema).encode()
            )
        return self._writer.register_channel(event.topic, "json", self._schemas[event.kind])


class EventReader:
    """Reads an events file, also one whose process was killed.

    Attributes:
        cut: whether the file has no end; known after the iteration.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.cut = False

    def __iter__(self) -> Iterator[Event]:
        """Return the events in the order in which they were written.

        Raises:
            ConfigError: the file is no events file, or it is damaged before its end.
        """
        with self.path.open("rb") as file:
            try:
                for _, channel, message in NonSeekingReader(file).iter_messages(log_time_order=False):
                    yield _event(channel.topic, message.log_time, message.publish_time, message.data)
            except EndOfFile:
                self.cut = True
            except (McapError, ValueError, msgspec.DecodeError) as error:
                raise ConfigError(f"{self.path} is not the events file of a recording: {error}") from error


def as_json(events: Iterable[InputEvent]) -> list[list[Any]]:
    """Return input events as an `action` contains them."""
    return [
        ["KeyEvent", event.keysym, event.down]
        if isinstance(event, KeyEvent)
        else ["PointerEvent", event.x, event.y, event.button_mask]
        for event in events
    ]


def _event(topic: str, time: int, remote_time: int, data: bytes) -> Event:
    match topic.split("/"):
        case ["", "run", kind]:
            return Event(kind, time, remote_time, None, msgspec.json.decode(data, type=dict[str, Any]))
        case ["", "remote", index, kind]:
            body = msgspec.json.decode(data, type=dict[str, Any])
            return Event(kind, time, remote_time, int(index), body)
    raise ValueError(f"unknown channel {topic!r}")


def _plain(value: object) -> object:
    """Return NumPy's scalars and arrays, which texts and infos of gym environments may contain, as JSON values."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value)
