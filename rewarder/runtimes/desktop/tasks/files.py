"""Tasks in a terminal: files and folders."""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar

from rewarder.runtimes.desktop.tasks.task import GOING, SOLVED, WORDS, Outcome, Task, content, failed


class FileTask(Task):
    """A task with a terminal and files of random words."""

    def file(self, name: str, text: str | None = None) -> Path:
        """Write a file with `text`, or with random words."""
        path = self.desk.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if text is not None else " ".join(self.random.sample(WORDS, 5)) + "\n")
        return path

    def names(self, count: int) -> list[str]:
        """Choose `count` different words."""
        return self.random.sample(WORDS, count)

    def prepare(self) -> str:
        """Set up the files, then the terminal."""
        instruction = self.set_up()
        self.desk.terminal()
        return instruction

    def set_up(self) -> str:
        """Make the files; return the instruction."""
        raise NotImplementedError


class _OneFile(FileTask):
    """A task about one file, whose content must not be lost."""

    def set_up(self) -> str:
        source, target, *others = self.names(5)
        for name in others[1:]:
            self.file(f"{name}.txt")
        self._source = self.file(f"{source}.txt")
        self._text = self._source.read_text()
        self._folder = self.desk.home / others[0]
        self._target = self._folder / self._source.name
        return self.describe(target)

    def describe(self, name: str) -> str:
        """Return the instruction; `name` is free for a new file."""
        raise NotImplementedError

    def has_text(self, path: Path) -> bool:
        """Return whether `path` has the file's content."""
        return content(path) == self._text

    def lost_or_going(self) -> Outcome:
        """Return the outcome of an unsolved task: failed if no file has the content any more."""
        if any(self.has_text(path) for path in self.desk.home.rglob("*")):
            return GOING
        return failed(f"the content of {self._source.name} is lost")


class CopyFile(_OneFile):
    """Copy a file into a folder."""

    def describe(self, name: str) -> str:
        """Return the instruction."""
        self._folder.mkdir()
        return f"Copy the file {self._source.name} into the folder {self._folder.name}."

    def check(self, elapsed: float) -> Outcome:
        """Succeed when both files have the content."""
        solved = self.has_text(self._source) and self.has_text(self._target)
        return SOLVED if solved else self.lost_or_going()


class MoveFile(_OneFile):
    """Move a file into a folder."""

    def describe(self, name: str) -> str:
        """Return the instruction."""
        self._folder.mkdir()
        return f"Move the file {self._source.name} into the folder {self._folder.name}."

    def check(self, elapsed: float) -> Outcome:
        """Succeed when the content is in the folder and the old file is gone."""
        solved = self.has_text(self._target) and not os.path.lexists(self._source)
        return SOLVED if solved else self.lost_or_going()


class RenameFile(_OneFile):
    """Give a file another name."""

    def describe(self, name: str) -> str:
        """Return the instruction."""
        self._target = self.desk.home / f"{name}.txt"
        return f"Rename the file {self._source.name} to {self._target.name}."

    def check(self, elapsed: float) -> Outcome:
        """Succeed when the content has the new name and the old file is gone."""
        solved = self.has_text(self._target) and not os.path.lexists(self._source)
        return SOLVED if solved else self.lost_or_going()


class DeleteFile(FileTask):
    """Delete one file, and no other."""

    def set_up(self) -> str:
        """Make six files."""
        self._doomed, *self._others = [self.file(f"{name}.txt") for name in self.names(6)]
        return f"Delete the file {self._doomed.name}, and no other."

    def check(self, elapsed: float) -> Outcome:
        """Succeed when the file is gone; fail when another one is."""
        for path in self._others:
            if not os.path.exists(path):
                return failed(f"{path.name} was deleted")
        return GOING if os.path.lexists(self._doomed) else SOLVED


class MakeFolders(FileTask):
    """Make a folder in a folder in a folder."""

    def set_up(self) -> str:
        """Choose the names."""
        self._path = Path(*self.names(3))
        return f"Make the folders {self._path}, each inside the one before."

    def check(self, elapsed: float) -> Outcome:
        """Succeed when all folders exist."""
        return SOLVED if os.path.isdir(self.desk.home / self._path) else GOING


class SortFiles(FileTask):
    """Sort files into folders by their kind; each one counts."""

    seconds: ClassVar[float] = 90.0
    kinds: ClassVar[dict[str, str]] = {"txt": "texts", "csv": "tables", "log": "logs"}

    def set_up(self) -> str:
        """Make two files of each kind."""
        names = self.names(2 * len(self.kinds))
        self._left: dict[Path, Path] = {}
        self._count = len(names)
        for index, name in enumerate(names):
            kind, folder = list(self.kinds.items())[index % len(self.kinds)]
            path = self.file(f"{name}.{kind}")
            (self.desk.home / folder).mkdir(exist_ok=True)
            self._left[path] = self.desk.home / folder / path.name
        rules = ", ".join(f"*.{kind} into {folder}" for kind, folder in self.kinds.items())
        return f"Move the files into the folders: {rules}."

    def check(self, elapsed: float) -> Outcome:
        """Reward each file once when it is in its folder."""
        sorted_now = [
            path
            for path, target in self._left.items()
            if os.path.isfile(target) and not os.path.lexists(path)
        ]
        for path in sorted_now:
            del self._left[path]
        return Outcome(len(sorted_now) / self._count, not self._left, None if self._left else "solved")


class FindSecret(FileTask):
    """Find a code in one of many files, and write it into a file."""

    seconds: ClassVar[float] = 90.0

    def set_up(self) -> str:
        """Hide the code."""
        self._code = f"{self.random.choice(WORDS)}-{self.random.randrange(1000, 10000)}"
        folders = self.names(4)
        hiding = self.random.choice(folders)
        for folder in folders:
            for name in self.names(3):
                self.file(f"{folder}/{name}.txt")
            if folder == hiding:
                self.file(f"{folder}/{self.names(1)[0]}-note.txt", f"the secret code is {self._code}\n")
        return "A file in one of the folders has a secret code. Write the code, nothing else, into the file answer.txt."

    def check(self, elapsed: float) -> Outcome:
        """Succeed when the answer is the code; fail when it is another whole line."""
        answer = content(self.desk.home / "answer.txt") or ""
        if not answer.endswith("\n"):
            return SOLVED if answer == self._code else GOING
        return SOLVED if answer.strip() == self._code else failed("answer.txt has another code")
