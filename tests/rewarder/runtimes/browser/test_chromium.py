"""The start of Chromium under difficult conditions."""

import os
import shutil

import pytest

from rewarder.display.xdisplay import XDisplay
from rewarder.runtimes.browser import chromium
from rewarder.runtimes.browser.browser import BrowserFailed, on_display

GAME = "browser.Slalom-v0"


def test_where_the_kernel_allows_no_sandbox_it_runs_without_and_says_so(monkeypatch, tmp_path, caplog):
    picky = tmp_path / "chromium"
    picky.write_text(
        f"""#!/bin/sh
        case " $* " in *" --no-sandbox "*) exec {shutil.which("chromium")} "$@";; esac
        echo "[1:1:ERROR:zygote_host_impl_linux.cc] No usable sandbox! If this is a Debian system" >&2; exit 1"""
    )
    picky.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(chromium.os, "geteuid", lambda: 1000)
    with on_display(GAME, XDisplay(64, 48)) as runtime:
        runtime.open()
        assert runtime.reset(GAME, 1).text
        runtime.close()
    assert "without its sandbox" in caplog.text


def test_a_browser_that_does_not_start_is_an_error_with_its_last_words(monkeypatch, tmp_path):
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\necho 'the disk is full' >&2; exit 1")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with on_display(GAME, XDisplay(64, 48)) as runtime:
        runtime.open()
        with pytest.raises(
            BrowserFailed, match=r"chromium did not start; its last output:\n +the disk is full"
        ):
            runtime.reset(GAME, 1)
        runtime.close()


def test_without_chromium_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(chromium.shutil, "which", lambda name: None)
    with pytest.raises(ValueError, match="apt install chromium"), on_display(GAME, XDisplay(64, 48)):
        pass
