"""The DevTools client against a scripted browser, over a real socket."""

import threading

import msgspec
import pytest
from websockets.sync.server import serve

from rewarder.runtimes.browser.devtools import (
    CallFailed,
    CallTimeout,
    DevTools,
    DevToolsError,
    Disconnected,
    ScriptError,
)
from tests.support.timing import best_of

EVENT = {"method": "Page.loadEventFired", "params": {"timestamp": 1}, "sessionId": "page"}


def answer(socket, request):
    """The browser's answers, by method."""
    reply = {"id": request["id"], "result": {"params": request["params"]}}
    match request["method"]:
        case "Test.echo":
            socket.send(msgspec.json.encode(reply | {"sessionId": request.get("sessionId")}).decode())
        case "Test.eventFirst":
            socket.send(msgspec.json.encode(EVENT).decode())
            socket.send(msgspec.json.encode(reply).decode())
        case "Test.late":
            socket.send(msgspec.json.encode(EVENT).decode())
        case "Test.refuse":
            error = {"id": request["id"], "error": {"code": -32601, "message": "'Test.refuse' wasn't found"}}
            socket.send(msgspec.json.encode(error).decode())
        case "Test.close":
            socket.close()
        case "Test.garbage":
            socket.send("<html>")
        case "Runtime.evaluate":
            evaluate(socket, request)


def evaluate(socket, request):
    if request["params"]["expression"] == "throw":
        thrown = {"text": "Uncaught", "exception": {"description": "TypeError: no"}}
        result = {"result": {}, "exceptionDetails": thrown}
    else:
        result = {"result": {"type": "object", "value": {"a": [1, 2.5, "x"]}}}
    socket.send(msgspec.json.encode({"id": request["id"], "result": result}).decode())


def browser(socket):
    for message in socket:
        answer(socket, msgspec.json.decode(message))


@pytest.fixture
def devtools():
    with serve(browser, "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        connection = DevTools(f"ws://127.0.0.1:{server.socket.getsockname()[1]}/devtools/browser/1")
        yield connection
        connection.close()
        server.shutdown()
        thread.join()


def test_a_call_returns_its_own_result(devtools):
    for number in range(3):
        assert devtools.call("Test.echo", {"number": number}) == {"params": {"number": number}}


def test_events_that_come_before_the_answer_are_kept(devtools):
    devtools.call("Test.eventFirst")
    (event,) = devtools.events()
    assert (event.method, event.session_id, event.params) == ("Page.loadEventFired", "page", {"timestamp": 1})
    assert devtools.events() == []


def test_wait_takes_one_event_and_only_of_that_session(devtools):
    devtools.call("Test.eventFirst")
    devtools.call("Test.eventFirst")
    with pytest.raises(CallTimeout, match=r"no Page\.loadEventFired within 0\.05 s"):
        devtools.wait("Page.loadEventFired", session="another", timeout=0.05)
    assert devtools.wait("Page.loadEventFired", session="page", timeout=1).params == {"timestamp": 1}
    assert len(devtools.events()) == 1


def test_events_does_not_wait(devtools):
    assert best_of(5, devtools.events, 0.1) < 0.1
    assert devtools.events() == []


def test_a_refused_call_says_why(devtools):
    with pytest.raises(CallFailed, match=r"Test\.refuse: 'Test\.refuse' wasn't found \(-32601\)"):
        devtools.call("Test.refuse")


def test_a_call_without_an_answer_times_out_and_the_next_is_not_confused(devtools):
    with pytest.raises(CallTimeout, match=r"Test\.late was not answered within 0\.05 s"):
        devtools.call("Test.late", timeout=0.05)
    assert devtools.call("Test.echo", {"number": 1}) == {"params": {"number": 1}}


def test_evaluate_returns_json_values(devtools):
    assert devtools.evaluate("object", session="page") == {"a": [1, 2.5, "x"]}


def test_a_script_that_throws_is_an_error(devtools):
    with pytest.raises(ScriptError, match="TypeError: no"):
        devtools.evaluate("throw", session="page")


def test_a_browser_that_goes_is_noticed_by_every_method(devtools):
    with pytest.raises(Disconnected):
        devtools.call("Test.close")
    for method in (devtools.events, lambda: devtools.call("Test.echo")):
        with pytest.raises(Disconnected):
            method()


def test_garbage_is_an_error(devtools):
    with pytest.raises(DevToolsError, match="an invalid devtools message"):
        devtools.call("Test.garbage")


def test_nobody_there_is_an_error():
    with pytest.raises(Disconnected, match="no connection to devtools at ws://127"):
        DevTools("ws://127.0.0.1:1/devtools/browser/1")
