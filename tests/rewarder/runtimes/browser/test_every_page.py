"""Conformance of the installed MiniWoB++: every page of the catalogue starts an episode."""

import pytest

from rewarder.display.xdisplay import XDisplay
from rewarder.runtimes.browser.browser import on_display
from rewarder.runtimes.browser.pages import catalogue


@pytest.fixture(scope="module")
def runtime():
    with on_display("browser.click-test", XDisplay(640, 480)) as runtime:
        runtime.open()
        yield runtime
        runtime.close()


@pytest.mark.parametrize("env_id", sorted(catalogue()))
def test_a_page_starts_with_an_instruction(runtime, env_id):
    assert runtime.reset(env_id, 7).text.strip()
    assert not runtime.tick([]).done
