"""A run as a folder: a web page with what the model saw, said and did, the pictures, and the same as lines of JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

import msgspec

from universe_client.errors import ConfigError
from universe_client.hands.loop.play import Result
from universe_client.hands.loop.turn import Act, Shown, Spent, Turn

_HEAD = """<!doctype html>
<html lang="en"><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src 'self'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }}
section {{ border-top: 1px solid #ccc; margin-top: 2rem }}
figure {{ position: relative; display: inline-block; margin: 0 }}
img {{ max-width: 100%; display: block; border: 1px solid #888 }}
i {{ position: absolute; width: 14px; height: 14px; margin: -9px; border: 2px solid red; border-radius: 50%;
    box-shadow: 0 0 0 1px white }}
pre {{ white-space: pre-wrap; overflow-wrap: anywhere }}
.wrong {{ color: #b00 }} small {{ color: #666 }}
</style>
<h1>{title}</h1>
<p>{task}</p>
"""


class Transcript:
    """Writes `index.html`, `turns.jsonl` and the pictures as the run goes: what is there stays, whatever happens."""

    def __init__(self, folder: Path, title: str, size: tuple[int, int]) -> None:
        """Write into `folder`, which is made.

        Args:
            folder: must be empty or not exist.
            title: of the page.
            size: (width, height) of the pictures.

        Raises:
            ConfigError: there is something in the folder.
        """
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise ConfigError(f"{folder} is not empty: a transcript needs a folder of its own")
        self._folder, self._title, self._size = folder, title, size
        self._shown: str | None = None  # the name of the newest picture
        self._pictures = 0

    def begin(self, task: str, shown: Shown) -> None:
        """See `Watcher`."""
        self._page(_HEAD.format(title=escape(self._title), task=escape(task)))
        self._line({"task": task, "picture": self._save(shown)})

    def turn(self, number: int, turn: Turn, spent: Spent, reward: float) -> None:
        """See `Watcher`."""
        took = f"thought {turn.thought:.1f} s, acted {turn.acted:.1f} s, {turn.tokens} tokens, reward {reward:+g}"
        acts = "\n".join(_described(act) for act in turn.acts)
        said = f"<p>{escape(turn.text)}</p>\n" if turn.text else ""
        self._page(
            f"<section><h2>{number}</h2>\n{said}{self._figure(turn.acts)}\n<pre>{acts}</pre>\n<small>{took}</small></section>\n"
        )
        picture = None if turn.shown is None else self._save(turn.shown)
        self._line({"turn": number, **_plain(turn), "reward": reward, "picture": picture})

    def end(self, result: Result) -> None:
        """See `Watcher`."""
        figures = "\n".join(f"{name}: {value}" for name, value in msgspec.to_builtins(result).items())
        self._page(
            f"<section><h2>End</h2>\n{self._figure(())}\n<pre>{escape(figures)}</pre></section>\n</html>\n"
        )
        self._line({"result": msgspec.to_builtins(result)})

    def _save(self, shown: Shown) -> str:
        self._pictures += 1
        self._shown = f"{self._pictures:04}.{shown.media_type.rpartition('/')[2]}"
        (self._folder / self._shown).write_bytes(shown.data)
        return self._shown

    def _figure(self, acts: Sequence[Act]) -> str:
        """Return the newest picture, with marks where the acts were."""
        width, height = self._size
        marks = "".join(
            f'<i style="left:{100 * x / width:.2f}%;top:{100 * y / height:.2f}%"></i>'
            for act in acts
            for x, y in _points(act.arguments)
        )
        return f'<figure><img src="{self._shown}" alt="the screen">{marks}</figure>'

    def _page(self, text: str) -> None:
        with (self._folder / "index.html").open("a", encoding="utf-8") as file:
            file.write(text)

    def _line(self, value: object) -> None:
        with (self._folder / "turns.jsonl").open("ab") as file:
            file.write(msgspec.json.encode(value) + b"\n")


def _described(act: Act) -> str:
    problem = "" if act.problem is None else f'\n<span class="wrong">{escape(act.problem)}</span>'
    return escape(str(act)) + problem


def _plain(turn: Turn) -> dict[str, object]:
    acts = [{"name": act.name, "arguments": act.arguments, "problem": act.problem} for act in turn.acts]
    return {
        "text": turn.text,
        "acts": acts,
        "tokens": turn.tokens,
        "thought": turn.thought,
        "acted": turn.acted,
        "stop": turn.stop,
    }


def _points(arguments: Mapping[str, object]) -> Iterator[tuple[float, float]]:
    """Yield the places in the arguments of either vendor."""
    path = arguments.get("path")
    pairs = [arguments.get("start_coordinate"), arguments.get("coordinate")]
    for place in [arguments, *(path if isinstance(path, list) else [])]:
        if isinstance(place, Mapping):
            pairs.append([place.get("x"), place.get("y")])
    for pair in pairs:
        match pair:
            case [int() | float() as x, int() | float() as y]:
                yield x, y
