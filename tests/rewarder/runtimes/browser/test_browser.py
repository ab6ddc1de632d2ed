"""Real pages in a real Chromium on a real X display."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PIL import ImageGrab

from rewarder.display.xdisplay import DisplayError, XDisplay
from rewarder.runtimes.browser import browser
from rewarder.runtimes.browser.browser import BrowserFailed, BrowserRuntime, on_display
from rewarder.runtimes.browser.devtools import CallTimeout
from tests.support.remotes.ticks import TIMEOUT, play
from tests.support.system.processes import Obituary, command_line, descendants

CLICK = "browser.click-test"


@pytest.fixture(scope="module")
def runtime():
    before = descendants(os.getpid())
    with on_display(CLICK, XDisplay(640, 480)) as runtime:
        runtime.open()
        yield runtime
        runtime.close()
    assert descendants(os.getpid()) <= before, "processes are left"


def ticks(runtime, enough, seconds=TIMEOUT):
    return play(runtime, lambda seen: enough(seen[-1]), seconds)


def until_done(runtime, seconds=TIMEOUT):
    return ticks(runtime, lambda tick: tick.done, seconds)[-1]


def page(runtime, expression):
    return runtime._browser.run(expression, 5)


def press(runtime, element):
    """Press the left button on an element over VNC."""
    box = page(
        runtime, f"(b => [b.left + b.width / 2, b.top + b.height / 2])({element}.getBoundingClientRect())"
    )
    for kind in ("mousePressed", "mouseReleased"):
        where = {"type": kind, "x": box[0], "y": box[1], "button": "left", "clickCount": 1}
        runtime._browser.call("Input.dispatchMouseEvent", where)


def button(runtime):
    press(runtime, "document.querySelector('#subbtn')")


def test_an_episode_has_its_instruction_reward_and_end(runtime):
    assert runtime.reset(CLICK, 1).text == "Click the button."
    button(runtime)
    end = until_done(runtime)
    assert 0.5 < end.reward < 1 and not end.truncated
    assert end.info == {"raw_reward": 1, "reason": None}


def test_the_seed_decides_the_task(runtime):
    where = "document.querySelector('#subbtn').getAttribute('style')"
    styles = []
    for seed in (1, 2, 1):
        runtime.reset(CLICK, seed)
        styles.append(page(runtime, where))
    assert styles[0] == styles[2] != styles[1]


def test_a_reset_keeps_the_browser_and_is_quick(runtime):
    runtime.reset(CLICK, 1)
    pid, took = runtime._browser.pid, []
    for env_id in (CLICK, CLICK, "browser.enter-text", CLICK):
        before = time.monotonic()
        runtime.reset(env_id, None)
        took.append(time.monotonic() - before)
    assert runtime._browser.pid == pid
    assert min(took) < 1.0, took


def test_another_env_id_is_another_page(runtime):
    assert "into the text field" in runtime.reset("browser.enter-text", 1).text
    assert runtime.reset(CLICK, 1).text == "Click the button."


def test_the_instruction_is_only_words(runtime):
    """This page adds the solution to its instruction."""
    text = runtime.reset("browser.email-inbox-nl-turk", 1).text
    assert isinstance(text, str) and "{" not in text


def test_the_page_s_own_time_limit_ends_the_episode(runtime):
    runtime.reset(CLICK, 1)
    page(runtime, "core.EPISODE_MAX_TIME = 300, core.startEpisodeReal()")
    end = until_done(runtime)
    assert (end.reward, end.done, end.truncated, end.info["reason"]) == (-1.0, True, False, "timed out")


def test_what_is_left_of_an_aborted_episode_does_not_reach_the_next(runtime):
    """moving-items ends any episode 9.9 s after its own beginning: such pages are loaded again."""
    runtime.reset("browser.moving-items", 1)
    page(runtime, "setTimeout(() => core.endEpisode(-1), 50)")
    runtime.reset("browser.moving-items", 2)
    page(runtime, "new Promise(done => setTimeout(done, 200))")
    assert not runtime.tick([]).done


def test_an_end_is_reported_once(runtime):
    runtime.reset(CLICK, 1)
    button(runtime)
    until_done(runtime)
    page(runtime, "core.endEpisode(1)")
    assert runtime.tick([]).reward == 0
    runtime.reset(CLICK, 1)
    assert not runtime.tick([]).done


def test_the_screen_shows_the_episode_when_reset_returns(runtime):
    environment = dict(os.environ)
    os.environ.update(runtime._display.environment)
    try:
        for seed in range(8):
            runtime.reset(CLICK if seed % 2 else "browser.enter-text", seed)
            screen = ImageGrab.grab(xdisplay=runtime._display.name)
            assert screen.getpixel((155, 4))[:3] == (255, 255, 0), "the instruction's yellow is not there"
            assert screen.getpixel((639, 479))[:3] == (0x55, 0x55, 0x55), "the page does not fill the screen"
    finally:
        os.environ.clear()
        os.environ.update(environment)


@pytest.mark.parametrize(
    ("game", "last_life"),
    [("browser.Slalom-v0", "run.lives = 1"), ("browser.Fireflies-v0", "night.lives = 1")],
)
def test_a_game_nobody_plays_is_over_soon(runtime, game, last_life):
    assert len(runtime.reset(game, 5).text) > 20
    assert page(runtime, "document.title") in game
    page(runtime, last_life)
    end = until_done(runtime, 30)
    assert not end.truncated and end.info["score"] >= 0


def test_a_game_gives_rewards_while_it_goes_on(runtime):
    runtime.reset("browser.Fireflies-v0", 5)
    page(
        runtime,
        """new Promise(done => { const look = () => {
          const fly = night.flies.find(fly => !fly.red);
          fly ? done(click({ button: 0, clientX: fly.x * innerWidth / 640, clientY: fly.y * innerHeight / 480 }))
              : requestAnimationFrame(look);
        }; look(); })""",
    )
    assert ticks(runtime, lambda tick: tick.reward != 0)[-1].reward == 1


def test_games_run_at_60_frames_a_second(runtime):
    runtime.reset("browser.Slalom-v0", 5)
    frames = page(
        runtime,
        """new Promise(done => { let frames = 0; const began = performance.now(), count = now => {
          frames += 1; now - began < 500 ? requestAnimationFrame(count) : done(frames); };
          requestAnimationFrame(count); })""",
    )
    assert frames >= 20, "a busy machine may miss some of 30"


def test_a_crashed_page_ends_the_episode_and_the_next_is_fine(runtime):
    runtime.reset(CLICK, 1)
    with pytest.raises(CallTimeout):
        runtime._browser._devtools.call("Page.crash", session=runtime._browser._session, timeout=0.2)
    end = until_done(runtime)
    assert end.truncated and "crash" in end.info["error"]
    assert runtime.reset(CLICK, 1).text == "Click the button."


def test_a_killed_browser_ends_the_episode_and_the_next_is_fine(runtime):
    runtime.reset(CLICK, 1)
    os.kill(runtime._browser.pid, signal.SIGKILL)
    end = until_done(runtime)
    assert end.truncated and end.info["error"]
    assert runtime.reset(CLICK, 1).text == "Click the button."


def test_a_page_that_hangs_ends_the_episode(runtime, monkeypatch):
    monkeypatch.setattr(browser, "SILENCE", 1.0)
    runtime.reset(CLICK, 1)
    page(runtime, "setTimeout(() => { for (;;); }, 1)")
    end = until_done(runtime)
    assert end.truncated and "hangs" in end.info["error"]
    assert runtime.reset(CLICK, 1).text == "Click the button."


def test_a_page_that_forgets_its_time_limit_is_ended(runtime, monkeypatch):
    monkeypatch.setattr(browser, "OVERTIME", -9.5)
    runtime.reset(CLICK, 1)
    end = until_done(runtime)
    assert end.truncated and "time limit" in end.info["error"]


@pytest.mark.parametrize(
    ("leave", "why"),
    [
        ("location.href = 'about:blank'", "the page was left: it navigated to about:blank"),
        ("location.href = '/games/Slalom-v0.html'", "the page was left: it navigated to http"),
    ],
)
def test_a_page_that_is_left_ends_the_episode(runtime, leave, why):
    runtime.reset(CLICK, 1)
    page(runtime, f"setTimeout(() => {{ {leave}; }}, 1)")
    end = until_done(runtime)
    assert end.truncated and why in end.info["error"]


def test_a_second_window_is_closed_and_a_dialog_does_not_stop_the_page(runtime):
    runtime.reset(CLICK, 1)
    page(
        runtime, "setTimeout(() => { alert('hello'); window.open('about:blank'); window.passed = true; }, 1)"
    )
    deadline = time.monotonic() + TIMEOUT
    while len(pages(runtime)) != 1 or not passed(runtime):
        assert time.monotonic() < deadline
        assert not runtime.tick([]).done
    button(runtime)
    assert until_done(runtime).reward > 0


def pages(runtime):
    runtime.tick([])
    targets = runtime._browser._devtools.call("Target.getTargets")["targetInfos"]
    return [target for target in targets if target["type"] == "page"]


def passed(runtime):
    return page(runtime, "window.passed === true")


def test_keys_of_the_browser_do_nothing_and_those_of_text_fields_do(runtime):
    runtime.reset("browser.enter-text", 1)
    stopped = """(key => { const event = new KeyboardEvent('keydown', { cancelable: true, bubbles: true, ...key });
      document.querySelector('#tt').dispatchEvent(event); return event.defaultPrevented; })"""
    for key in ("{key: 'F12'}", "{key: 'o', ctrlKey: true}", "{key: 'ArrowLeft', altKey: true}"):
        assert page(runtime, stopped + f"({key})") is True, key
    for key in ("{key: 'a'}", "{key: 'A', ctrlKey: true}", "{key: 'Home'}", "{key: 'Tab'}"):
        assert page(runtime, stopped + f"({key})") is False, key


def test_no_name_is_looked_up(runtime):
    runtime.reset(CLICK, 1)
    fetched = "fetch('http://example.com/', {mode: 'no-cors'}).then(() => 'answered', error => error.message)"
    assert page(runtime, fetched) == "Failed to fetch"


def test_a_browser_that_cannot_show_the_page_is_given_up_in_the_end(monkeypatch):
    monkeypatch.setattr(browser, "MAX_FAILURES", 2)
    with on_display(CLICK, XDisplay(64, 48)) as runtime:
        runtime.open()
        runtime._server.__exit__(None, None, None)
        with pytest.raises(
            BrowserFailed, match=r"did not begin in 2 attempts; the last error: .*ERR_CONNECTION_REFUSED"
        ):
            runtime.reset(CLICK, 1)
        runtime.close()


def test_the_end_of_the_display_is_not_the_browser_s(monkeypatch):
    with XDisplay(64, 48) as display:
        runtime = BrowserRuntime(CLICK, display)
        runtime.open()
        runtime.reset(CLICK, 1)
        os.kill(display.pid, signal.SIGKILL)
        with pytest.raises(DisplayError):
            ticks(runtime, lambda tick: tick.done)
        runtime.close()


def test_nothing_outlives_a_killed_remote():
    program = f"""
import signal
from rewarder.runtimes.browser.browser import on_display
from rewarder.runtimes.browser.chromium import BrowserGone
from rewarder.runtimes.browser.devtools import CallTimeout
from rewarder.display.xdisplay import XDisplay
with on_display({CLICK!r}, XDisplay(64, 48)) as runtime:
    runtime.open()
    runtime.reset({CLICK!r}, 1)
    print("ready", flush=True)
    signal.pause()
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as remote:
        try:
            assert remote.stdout.readline() == b"ready\n"
            children = descendants(remote.pid)
            words = " ".join(word for child in children for word in command_line(child))
            profile = Path(re.findall(r"--user-data-dir=(\S+)", words)[0])
            assert len(children) > 4 and profile.is_dir()
            obituary = Obituary(children)
        finally:
            remote.kill()
    obituary.wait(60)
    obituary.close()
    deadline = time.monotonic() + TIMEOUT
    while profile.exists():
        assert time.monotonic() < deadline, "its profile is left"
