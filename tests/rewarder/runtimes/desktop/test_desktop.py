"""The desktop's tasks on a real display, solved and failed with keys and clicks that come over VNC alone."""

import os
import re
import signal
import time

import pytest

from rewarder.display.xdisplay import DisplayError, XDisplay
from rewarder.runtimes import env_ids, opened
from rewarder.runtimes.desktop.desktop import DesktopRuntime, on_display
from rewarder.runtimes.desktop.tasks import TASKS
from tests.support.remotes.hand import Hand
from tests.support.remotes.ticks import TIMEOUT, play
from tests.support.system.processes import descendants
from universe_client.spaces import actions

ID = "desktop.CopyFile-v0"
SEEDS = range(3)


@pytest.fixture(scope="module")
def runtime():
    before = descendants(os.getpid())
    with on_display(ID, XDisplay(1024, 768)) as runtime:
        runtime.open()
        yield runtime
        runtime.close()
    assert descendants(os.getpid()) <= before, "processes are left"


@pytest.fixture(scope="module")
def hand(runtime):
    with Hand(runtime._display.port) as hand:
        yield hand


def begin(runtime, task, seed=None):
    """Return the instruction."""
    return runtime.reset(f"desktop.{task}-v0", seed).text


def until_done(runtime, seconds=TIMEOUT):
    return play(runtime, lambda seen: seen[-1].done, seconds)[-1]


def assert_solved(runtime):
    end = until_done(runtime)
    assert (end.reward, end.truncated, end.info["reason"]) == (1.0, False, "solved")


def assert_failed(runtime, reason):
    end = until_done(runtime)
    assert (end.reward, end.truncated) == (-1.0, False)
    assert re.search(reason, end.info["reason"])


def window(runtime, title):
    return next(each for each in runtime._desk.windows() if each.title == title)


def close(hand, shown):
    hand.click(shown.x + shown.width - 8, shown.y - 10)


def title_bar(shown):
    return shown.x + shown.width // 2, shown.y - 10


# -- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("task", "pattern", "command"),
    [
        ("CopyFile", r"file (\S+) into the folder (\S+)\.", "cp {} {}"),
        ("MoveFile", r"file (\S+) into the folder (\S+)\.", "mv {} {}"),
        ("RenameFile", r"file (\S+) to (\S+)\.", "mv {} {}"),
        ("DeleteFile", r"file (\S+), and no other", "rm {}"),
        ("MakeFolders", r"folders (\S+), each", "mkdir -p {}"),
        ("SortFiles", "", "mv *.txt texts; mv *.csv tables; mv *.log logs"),
        ("FindSecret", "", "grep -rho '[a-z]*-[0-9]*$' . > answer.txt"),
        ("OpenFile", r"file (\S+) in the editor", "xedit {}"),
    ],
)
def test_a_task_in_the_terminal_is_solved_by_typing(runtime, hand, task, pattern, command, seed):
    text = begin(runtime, task, seed)
    words = re.search(pattern, text)
    assert words, text
    assert not runtime.tick([]).done
    hand.type(command.format(*words.groups()) + "\n")
    seen = play(runtime, lambda seen: seen[-1].done)
    assert sum(tick.reward for tick in seen) == pytest.approx(1.0)
    assert seen[-1].info["reason"] == "solved" and not seen[-1].truncated


@pytest.mark.parametrize(
    ("task", "command", "reason"),
    [
        ("CopyFile", "rm *.txt", "content .* is lost"),
        ("MoveFile", "for f in *.txt; do echo > $f; done", "content .* is lost"),
        ("RenameFile", "rm -r *", "content .* is lost"),
        ("DeleteFile", "rm *", "was deleted"),
        ("FindSecret", "echo basil-0000 > answer.txt", "another code"),
        ("OpenFile", "echo x > other.md; xedit other.md", "another file"),
    ],
)
def test_a_task_in_the_terminal_can_be_failed(runtime, hand, task, command, reason):
    begin(runtime, task, 1)
    hand.type(command + "\n")
    assert_failed(runtime, reason)


def total(seen):
    return sum(tick.reward for tick in seen)


def test_each_sorted_file_is_rewarded_at_once(runtime, hand):
    begin(runtime, "SortFiles", 2)
    rewards = []
    for kind, folder in (("txt", "texts"), ("log", "logs")):
        hand.type(f"mv *.{kind} {folder}\n")
        rewards.append(total(play(runtime, lambda seen: total(seen) > 0.3)))
    assert rewards == [pytest.approx(1 / 3)] * 2


# -- the editor -------------------------------------------------------------------------------------------------------


def save(hand):
    hand.chord("Control_L", "x")
    hand.chord("Control_L", "s")


@pytest.mark.parametrize("seed", SEEDS)
def test_a_note_is_typed_and_saved(runtime, hand, seed):
    line = begin(runtime, "WriteNote", seed).rpartition(": ")[2]
    hand.click(400, 300)
    hand.type(line)
    assert not runtime.tick([]).done, "nothing is saved yet"
    save(hand)
    assert_solved(runtime)


def test_a_word_is_replaced_and_saved(runtime, hand):
    old, new = re.search(r"word (\S+) with (\S+),", begin(runtime, "FixWord", 1)).groups()
    text = (runtime._desk.home / "text.txt").read_text()
    before = text.partition(old)[0]
    for _ in range(before.count("\n")):
        hand.chord("Down")
    for _ in before.rpartition("\n")[2]:
        hand.chord("Right")
    for _ in old:
        hand.chord("Control_L", "d")
    hand.type(new)
    save(hand)
    assert_solved(runtime)


# -- squares ----------------------------------------------------------------------------------------------------------


def middle(runtime, square):
    shown = runtime._desk._client._window(square)
    return shown.x + shown.width // 2, shown.y + shown.height // 2


def test_targets_are_rewarded_as_they_are_clicked(runtime, hand):
    begin(runtime, "ClickTargets", 4)
    hits = []
    for _ in range(9):
        clicked = time.monotonic()
        hand.click(*middle(runtime, runtime._task._square))
        assert play(runtime, lambda seen: seen[-1].reward)[-1].reward == pytest.approx(0.1)
        hits.append(time.monotonic() - clicked)
    hand.click(*middle(runtime, runtime._task._square))
    end = until_done(runtime)
    assert end.reward == pytest.approx(0.1) and not end.truncated
    assert min(hits) < 0.15, "a reward comes when it was earned"


def test_a_target_that_is_not_clicked_goes_without_a_reward(runtime, hand, monkeypatch):
    monkeypatch.setattr(TASKS["desktop.ClickTargets-v0"], "patience", 0.05)
    begin(runtime, "ClickTargets", 4)
    seen = play(runtime, lambda seen: seen[-1].done)
    assert sum(tick.reward for tick in seen) == 0 and not seen[-1].truncated


@pytest.mark.parametrize("right", [True, False])
def test_the_colour_decides(runtime, hand, right):
    wanted = re.search(r"Click the (\w+) square", begin(runtime, "ClickColour", 5))[1]
    square = next(id for id, colour in runtime._task._colours.items() if (colour == wanted) is right)
    hand.click(*middle(runtime, square))
    assert_solved(runtime) if right else assert_failed(runtime, "square was clicked")


def test_a_moving_square_can_be_followed(runtime, hand, monkeypatch):
    monkeypatch.setattr(TASKS["desktop.FollowSquare-v0"], "duration", 1.0)
    begin(runtime, "FollowSquare", 6)
    rewards, last = [], None
    while last is None or not last.done:
        x, y = middle(runtime, runtime._task._square)
        hand.do(actions.move(x, y))
        time.sleep(1 / runtime.fps)  # its own pace
        last = runtime.tick([])
        rewards.append(last.reward)
    assert 0.8 < sum(rewards) <= 1.0 + 1e-9 and not last.truncated


# -- windows ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("right", [True, False])
def test_the_right_window_is_to_be_closed(runtime, hand, right):
    name = re.search(r"window (\w+), and no other", begin(runtime, "CloseWindow", 7))[1]
    shown = next(each for each in runtime._desk.windows() if (each.title == name) is right)
    close(hand, shown)
    assert_solved(runtime) if right else assert_failed(runtime, "was closed")


@pytest.mark.parametrize("seed", SEEDS)
def test_a_window_is_dragged_to_its_place(runtime, hand, seed):
    begin(runtime, "MoveWindow", seed)
    task, shown = runtime._task, window(runtime, "clock")
    x, y = title_bar(shown)
    hand.drag((x, y), (x + task._x - shown.x, y + task._y - shown.y))
    assert_solved(runtime)


def test_a_window_in_the_hand_is_not_there_yet(runtime, hand):
    begin(runtime, "MoveWindow", 1)
    task, shown = runtime._task, window(runtime, "clock")
    x, y = title_bar(shown)
    hand.hold((x, y), (x + task._x - shown.x, y + task._y - shown.y))
    play(runtime, lambda seen: task.right(window(runtime, "clock")))
    assert not runtime.tick([]).done
    hand.do(actions.move(x + task._x - shown.x, y + task._y - shown.y))
    assert_solved(runtime)


def test_a_window_is_resized_at_its_corner(runtime, hand):
    begin(runtime, "ResizeWindow", 8)
    task, shown = runtime._task, window(runtime, "clock")
    x, y = shown.x + shown.width, shown.y + shown.height + 2
    hand.drag((x, y), (x + task._width - shown.width, y + task._height - shown.height))
    assert_solved(runtime)


@pytest.mark.parametrize("how", ["button", "double click"])
def test_a_window_is_maximized(runtime, hand, how):
    begin(runtime, "MaximizeWindow", 9)
    shown = window(runtime, "clock")
    x, y = title_bar(shown)
    if how == "button":
        hand.click(shown.x + shown.width - 26, y)
    else:
        hand.click(x, y, count=2)
    assert_solved(runtime)


def test_windows_are_arranged(runtime, hand):
    left, right = re.search(
        r"window (\w+) into the left.* and (\w+) into", begin(runtime, "ArrangeWindows", 10)
    ).groups()
    for name, target in ((left, 100), (right, 700)):
        shown = window(runtime, name)
        x, y = title_bar(shown)
        hand.drag((x, y), (x + target - shown.x, y))
    assert_solved(runtime)


@pytest.mark.parametrize("task", ["MoveWindow", "ArrangeWindows"])
def test_a_closed_window_cannot_be_arranged(runtime, hand, task):
    begin(runtime, task, 1)
    close(hand, runtime._desk.windows()[0])
    assert_failed(runtime, "window was closed")


def test_the_first_window_of_a_new_desk_is_not_slept_over(caplog):
    """The window manager is asked to map it while it starts."""
    for _ in range(4):
        with on_display("desktop.WriteNote-v0", XDisplay(800, 600)) as runtime:
            runtime.open()
            runtime.reset("desktop.WriteNote-v0", 1)
            runtime.close()
    assert [record.getMessage() for record in caplog.records if "attempt" in record.getMessage()] == []


# -- every task -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("env_id", TASKS)
def test_the_seed_decides_and_resets_are_quick(runtime, env_id):
    texts, took = [], []
    for seed in (1, 2, 1):
        began = time.monotonic()
        texts.append((runtime.reset(env_id, seed).text, files(runtime), places(runtime)))
        took.append(time.monotonic() - began)
        assert runtime.tick([]).done is False
    assert texts[0] == texts[2] != texts[1]
    assert min(took) < 2.0, took


def files(runtime):
    home = runtime._desk.home
    return {str(path.relative_to(home)): path.read_text() for path in home.rglob("*.txt")}


def places(runtime):
    windows = [(each.title, each.x, each.y, each.width, each.height) for each in runtime._desk.windows()]
    squares = [runtime._desk._client._window(each) for each in sorted(runtime._desk._squares)]
    if "_phase" in vars(runtime._task):
        return sorted(windows), runtime._task._phase
    return sorted(windows), [(each.x, each.y, each.width) for each in squares]


def test_a_task_that_is_not_solved_in_time_is_truncated(runtime, monkeypatch):
    monkeypatch.setattr(TASKS["desktop.ClickColour-v0"], "seconds", 0.1)
    begin(runtime, "ClickColour", 1)
    end = until_done(runtime)
    assert (end.reward, end.truncated, end.info) == (0.0, True, {"reason": "time limit"})


def test_nothing_is_left_for_the_next_episode(runtime, hand):
    begin(runtime, "CopyFile", 1)
    home = runtime._desk.home
    hand.type("setsid sleep 1000 & setsid xclock -title stray & cd /; touch $HOME/left\n")
    play(runtime, lambda seen: {"Terminal", "stray"} <= {each.title for each in runtime._desk.windows()})
    play(runtime, lambda seen: ["sleep", "1000"] in runtime._desk.commands())
    begin(runtime, "ClickColour", 1)
    assert runtime._desk.windows() == [] and runtime._desk.commands() == []
    assert not home.exists() and list(runtime._desk.home.iterdir()) == []


def test_a_window_manager_that_was_killed_is_started_again(runtime):
    begin(runtime, "MoveWindow", 1)
    os.kill(runtime._desk._manager.pid, signal.SIGKILL)
    end = until_done(runtime)
    assert end.truncated and end.info == {"error": "the window manager has ended"}
    begin(runtime, "MoveWindow", 1)
    assert runtime._desk._client.managed()
    assert not runtime.tick([]).done


def test_the_pointer_starts_in_the_middle(runtime, hand):
    hand.do(actions.move(3, 3))
    play(runtime, lambda seen: runtime._desk.pointer().x == 3)
    begin(runtime, "ClickColour", 1)
    assert (runtime._desk.pointer().x, runtime._desk.pointer().y) == (512, 384)


def test_what_is_not_installed_is_said(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with (
        pytest.raises(ValueError, match="apt install openbox x11-apps xterm"),
        on_display(ID, XDisplay(1024, 768)),
    ):
        pass


def test_a_screen_that_is_too_small_is_refused():
    with (
        pytest.raises(ValueError, match="needs a screen of at least 800x600, not 640x480"),
        on_display(ID, XDisplay(640, 480)),
    ):
        pass


def test_an_unknown_task_is_refused():
    with pytest.raises(
        ValueError, match=r"unknown env_id 'desktop\.Nap-v0', the tasks are desktop\.CopyFile-v0"
    ):
        DesktopRuntime("desktop.Nap-v0", XDisplay(1024, 768))


def test_the_catalogue_has_it():
    assert "desktop.<task>" in env_ids()
    with opened(ID) as (runtime, display):
        assert display and isinstance(runtime, DesktopRuntime)
        assert runtime.env_ids[0] == ID and set(runtime.env_ids) == set(TASKS)


def test_a_lost_display_is_an_error():
    with on_display(ID, XDisplay(800, 600)) as runtime:
        runtime.open()
        runtime.reset(ID, 1)
        os.kill(runtime._display.pid, signal.SIGKILL)
        with pytest.raises(DisplayError, match="is gone"):
            play(runtime, lambda seen: False)
        directory = runtime._desk._directory
        runtime.close()
    assert not directory.exists()
