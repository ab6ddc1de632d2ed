"""Tasks with the text editor."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from rewarder.runtimes.desktop.tasks.task import GOING, SOLVED, WORDS, Outcome, Task, content, failed

EDITOR = "Xedit"


class OpenFile(Task):
    """Open the right file in the editor, from a terminal."""

    def prepare(self) -> str:
        """Write some files."""
        names = [f"{name}.txt" for name in self.random.sample(WORDS, 4)]
        for name in names:
            (self.desk.home / name).write_text(f"this is {name}\n")
        self._name = names[0]
        self._editors: set[int] = set()
        self.desk.terminal()
        return f"Open the file {self._name} in the editor: its command is xedit."

    def check(self, elapsed: float) -> Outcome:
        """Succeed when an editor of the file has a window; fail when it is of another file."""
        editors = {window.id for window in self.desk.windows() if window.kind == EDITOR}
        if editors <= self._editors:  # listing all processes takes too long for every tick
            return GOING
        self._editors = editors
        opened = [
            command[-1] for command in self.desk.commands() if command[0].endswith("xedit") and command[1:]
        ]
        if self._name in [Path(name).name for name in opened]:
            return SOLVED
        return failed(f"another file was opened: {opened[0]}") if opened else GOING


class _Editing(Task):
    """A task to change the content of a file that is open in the editor."""

    seconds: ClassVar[float] = 90.0
    _wanted: str
    _path: Path

    def open_editor(self, name: str, content: str, wanted: str) -> None:
        """Open a file with `content`; the task is solved when the file contains `wanted`."""
        self._path, self._wanted = self.desk.home / name, wanted
        self._path.write_text(content)
        self.desk.editor(name)

    def check(self, elapsed: float) -> Outcome:
        """Succeed when the file has the content, except for white space at its end."""
        text = content(self._path)  # None while an editor replaces it
        return SOLVED if text is not None and text.rstrip() == self._wanted.rstrip() else GOING


class WriteNote(_Editing):
    """Type a sentence and save it."""

    def prepare(self) -> str:
        """Open an empty file."""
        sentence = " ".join(self.random.sample(WORDS, 4))
        self.open_editor("note.txt", "", sentence)
        return f"Type this line into the editor and save the file: {sentence}"


class FixWord(_Editing):
    """Replace one word of a text and save it."""

    def prepare(self) -> str:
        """Open a text of five lines."""
        words = self.random.sample(WORDS, 21)
        lines = [words[start : start + 4] for start in range(0, 20, 4)]
        text = "\n".join(map(" ".join, lines)) + "\n"
        old, new = self.random.choice(words[:20]), words[20]
        self.open_editor("text.txt", text, text.replace(old, new))
        return f"In the text, replace the word {old} with {new}, and save the file."
