"""The page with all remotes, in a real browser, and what it refuses."""

import http.client
import io
import json
import threading
from time import monotonic

import numpy as np
import pytest
from PIL import Image
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

import universe_client
from tests.support.remotes.agent import until_running, wait_until
from tests.support.system.headless import page
from universe_client import ConfigError
from universe_client.recording.reading import Recording
from vnc.keysyms import keysym
from wrappers import Record, Throttle, Watch

ENV_ID = "builtin.NeonDrive-v0"


@pytest.fixture
def watched():
    with Watch(universe_client.make(ENV_ID, remotes=2)) as env:
        env.reset()
        until_running(env)
        yield env


def socket_url(env, token=None):
    return f"ws://127.0.0.1:{env.server.port}/tiles?token={env.url.split('#')[1] if token is None else token}"


def test_a_browser_shows_every_remote_and_opens_one(tmp_path):
    over = threading.Event()

    def play(env):
        step = 0
        while not over.is_set():
            step += 1
            env.step([[("KeyEvent", "Left", True)]] * 4)

    with Watch(universe_client.make(ENV_ID, remotes=4)) as env, page(tmp_path / "profile") as browser:
        throttled = Throttle(env, step_rate=30)
        throttled.reset()
        agent = threading.Thread(target=play, args=(throttled,))
        agent.start()
        try:
            browser.open(env.url)
            browser.until("pictures > 40 && tiles.every(tile => tile.state.size[0] === 320)")
            browser.until('document.querySelector(".keys span")?.textContent === "Left"')
            assert browser.evaluate('document.querySelectorAll(".tile").length') == 4
            browser.until('document.getElementById("totals").textContent.startsWith("running4 of 4")')
            shown = browser.screenshot()
            browser.evaluate("choose(2)")
            browser.until("past.length > 3")
            browser.until(f'document.getElementById("name").textContent === "Remote 2: {ENV_ID}"')
            browser.evaluate("lookBack(1)")
            browser.until('document.getElementById("when").textContent.endsWith(" s ago")')
            browser.evaluate("lookBack(0)")
            browser.until('document.getElementById("when").textContent === "live"')
            browser.press("Escape", "Escape", 27)
            browser.until("open === -1 && !wall.hidden")
            browser.listen()
        finally:
            over.set()
            agent.join()
    assert browser.complaints == []
    assert shown.std() > 20  # not an empty page


def test_pictures_are_the_agents_frames(watched):
    with connect(socket_url(watched)) as socket:
        socket.send(json.dumps({"size": 1600, "large": 1600, "open": 1}))
        while isinstance(message := socket.recv(timeout=60), str) or message[:2] != b"\x00\x01":
            frame = watched.step([[], []])[0][1]["vision"]
    picture = np.asarray(Image.open(io.BytesIO(message[2:])))
    assert picture.shape == (240, 320, 3)
    assert np.abs(picture.astype(int) - frame).mean() < 25


def test_a_frame_that_stays_is_shown_once():
    with Watch(universe_client.make(ENV_ID)) as env:
        env.reset()
        until_running(env)
        for _ in range(500):  # faster than frames come
            env.step([[]])
        assert 0 < env._tiles[0].number <= env.unwrapped.remotes[0].view.taken


def test_it_can_be_closed_twice(watched):
    watched.close()
    watched.close()


def test_nobody_looks_nothing_is_encoded(watched):
    for _ in range(10):
        watched.step([[], []])
    assert not watched.server.is_watched and watched.server._encoded == {}


@pytest.mark.parametrize("token", ["", "wrong"])
def test_a_wrong_token_is_refused(watched, token):
    with pytest.raises(InvalidStatus, match="401"):
        connect(socket_url(watched, token))


def test_another_host_name_is_refused(watched):
    connection = http.client.HTTPConnection("127.0.0.1", watched.server.port)
    connection.request("GET", "/", headers={"Host": "evil.example"})
    assert connection.getresponse().status == 403
    connection.close()


def test_nonsense_ends_only_its_own_page(watched):
    with connect(socket_url(watched)) as one, connect(socket_url(watched)) as other:
        one.send('{"size": "large"}')
        with pytest.raises(ConnectionClosed):
            while True:
                one.recv(timeout=60)
        assert json.loads(next(message for message in other if isinstance(message, str)))["tiles"]


def test_a_port_that_is_taken_is_named(watched):
    with (
        universe_client.make(ENV_ID) as env,
        pytest.raises(ConfigError, match=f"port {watched.server.port}: "),
    ):
        Watch(env, port=watched.server.port)


def test_lent_frames_are_copied_for_the_page():
    with Watch(universe_client.make(ENV_ID, copy=False)) as env:
        env.reset()
        until_running(env)
        with connect(socket_url(env)) as socket:
            while isinstance(socket.recv(timeout=60), str):
                observation = env.step([[]])[0][0]
                if observation is not None and env.server.is_watched:
                    assert env._tiles[0].vision is not observation["vision"]


OPEN = {"size": 320, "large": 320, "open": 0}


def test_a_person_takes_over_and_gives_back(tmp_path):
    inner = Record(universe_client.make(ENV_ID, mode="lockstep"), tmp_path / "run")
    with Watch(inner, act=True) as env:
        env.reset(seed=1)
        until_running(env)
        [tile] = env._tiles
        env.step([[("KeyEvent", "Left", True)]])
        with connect(socket_url(env, env.url.split("#")[1].split("&")[0])) as socket:
            for message in (OPEN, {"take": True}, {"key": "Right", "down": True}, {"pointer": [5, 6, 1]}):
                socket.send(json.dumps(message))
            wait_until(lambda: len(tile.person._events) == 2)
            env.step([[("KeyEvent", "a", True)]])  # the agent is not heard
            assert tile.summary()["held"] == ["Right"] and tile.summary()["person"]
            socket.send(json.dumps({"take": False}))
            wait_until(lambda: not tile.person.acts)
            env.step([[("KeyEvent", "b", True)]])
        assert tile.summary()["held"] == ["b"] and tile.pointer == (5, 6, 0)
    [*_, episode] = Recording(tmp_path / "run").episodes
    left, right, b = map(keysym, ("Left", "Right", "b"))
    assert [events for _, events in episode.actions] == [
        [["KeyEvent", left, True]],
        [["KeyEvent", left, False], ["KeyEvent", right, True], ["PointerEvent", 5, 6, 1]],
        [["KeyEvent", right, False], ["PointerEvent", 5, 6, 0], ["KeyEvent", b, True]],
    ]
    assert [name for _, name in episode.actors] == ["person", "agent"]


def test_what_the_agent_has_planned_is_dropped_while_a_person_acts():
    with Watch(universe_client.make(ENV_ID), act=True) as env:
        env.reset()
        until_running(env)
        [tile] = env._tiles
        later = monotonic() + 1000
        env.play([[(later, [("KeyEvent", "Left", True)])]])
        assert env.step([[]])[3]["n"][0]["timed.waiting"] == 1
        with connect(socket_url(env, env.url.split("#")[1].split("&")[0])) as socket:
            for message in (OPEN, {"take": True}):
                socket.send(json.dumps(message))
            wait_until(lambda: tile.person.acts)
            assert env.step([[]])[3]["n"][0]["timed.cancelled"] == 1
            env.play([[(later, [("KeyEvent", "Left", True)])]])
            env.send([[("KeyEvent", "Left", True)]], at=later)
            assert env.recv()[3]["n"][0]["timed.waiting"] == 0


def test_a_page_that_is_closed_leaves_nothing_pressed(tmp_path):
    with Watch(universe_client.make(ENV_ID), act=True) as env:
        env.reset()
        until_running(env)
        [tile] = env._tiles
        with connect(socket_url(env, env.url.split("#")[1].split("&")[0])) as socket:
            for message in (OPEN, {"take": True}, {"key": "Right", "down": True}):
                socket.send(json.dumps(message))
            wait_until(lambda: len(tile.person._events) == 1)
            env.step([[]])
            assert tile.held
        wait_until(lambda: not tile.person.acts)
        env.step([[]])
        assert not tile.held


def test_a_page_that_may_only_watch_does_not_act(watched):
    with connect(socket_url(watched)) as socket:
        socket.send(json.dumps(OPEN))
        socket.send(json.dumps({"take": True}))
        with pytest.raises(ConnectionClosed):
            while True:
                socket.recv(timeout=60)
    assert not watched._tiles[0].person.acts


def test_keys_that_x11_does_not_have_are_ignored():
    with Watch(universe_client.make(ENV_ID), act=True) as env:
        env.reset()
        until_running(env)
        [tile] = env._tiles
        with connect(socket_url(env, env.url.split("#")[1].split("&")[0])) as socket:
            for message in (
                OPEN,
                {"take": True},
                {"key": "AudioVolumeUp", "down": True},
                {"key": "x", "down": True},
            ):
                socket.send(json.dumps(message))
            wait_until(lambda: len(tile.person._events) == 1)


def test_a_person_plays_in_a_browser(tmp_path):
    over = threading.Event()
    with Watch(universe_client.make(ENV_ID), act=True) as env, page(tmp_path / "profile") as browser:
        throttled = Throttle(env, step_rate=60)
        throttled.reset()
        sent = []

        def play():
            while not over.is_set():
                throttled.step([[]])
                sent.extend(env._tiles[0].held.values())

        agent = threading.Thread(target=play)
        agent.start()
        try:
            browser.open(env.url + "&play")
            browser.until("acting && pictures > 10")
            browser.call("Input.dispatchKeyEvent", type="keyDown", key="ArrowLeft", code="ArrowLeft")
            wait_until(lambda: "Left" in sent)
            browser.call("Input.dispatchKeyEvent", type="keyUp", key="ArrowLeft", code="ArrowLeft")
            wait_until(lambda: not env._tiles[0].held)
            browser.click(400, 400)
            wait_until(lambda: env._tiles[0].pointer is not None)
            button = {"x": 400, "button": "left", "clickCount": 1}
            browser.call("Input.dispatchMouseEvent", type="mousePressed", y=400, **button)
            wait_until(lambda: env._tiles[0].pointer[2] == 1)
            browser.call("Input.dispatchMouseEvent", type="mouseReleased", y=5, **button)
            wait_until(lambda: env._tiles[0].pointer[2] == 0)
            browser.until('document.getElementById("facts").textContent.includes("a person")')
        finally:
            over.set()
            agent.join()
    assert browser.complaints == []
