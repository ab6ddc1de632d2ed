"""The tasks of `desktop.` remotes, by env id."""

from __future__ import annotations

from rewarder.runtimes.desktop.tasks import editing, files, targets, windows
from rewarder.runtimes.desktop.tasks.task import Task

_CLASSES: tuple[type[Task], ...] = (
    files.CopyFile,
    files.MoveFile,
    files.RenameFile,
    files.DeleteFile,
    files.MakeFolders,
    files.SortFiles,
    files.FindSecret,
    editing.OpenFile,
    editing.WriteNote,
    editing.FixWord,
    targets.ClickTargets,
    targets.ClickColour,
    targets.FollowSquare,
    windows.CloseWindow,
    windows.MoveWindow,
    windows.ResizeWindow,
    windows.MaximizeWindow,
    windows.ArrangeWindows,
)
TASKS: dict[str, type[Task]] = {f"desktop.{task.__name__}-v0": task for task in _CLASSES}
