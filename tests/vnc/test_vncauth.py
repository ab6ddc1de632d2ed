"""VNC Authentication: a known vector, `vncpasswd`, and the access that a response grants."""

from __future__ import annotations

import subprocess

import pytest

from vnc.vncauth import Access, Passwords, challenge_response

# The fixed key every VNC password file is obfuscated with: 23 82 107 6 35 78 88 7.
FILE_KEY = "\x17Rk\x06#NX\x07"


def test_the_known_obfuscation_of_password() -> None:
    assert challenge_response(b"password", FILE_KEY).hex() == "dbd83cfd727a1458"


def test_tigervnc_agrees() -> None:
    made = subprocess.run(["vncpasswd", "-f"], input=b"neon42\n", capture_output=True, check=True, timeout=60)
    assert made.stdout == challenge_response(b"neon42\0\0", FILE_KEY)


def test_responses_grant_what_their_password_grants() -> None:
    passwords, challenge = Passwords("drive", "watch"), bytes(range(16))
    assert passwords.check(challenge, challenge_response(challenge, "drive")) is Access.FULL
    assert passwords.check(challenge, challenge_response(challenge, "watch")) is Access.VIEW_ONLY
    assert passwords.check(challenge, challenge_response(challenge, "Drive")) is None
    assert passwords.check(challenge, challenge_response(bytes(16), "drive")) is None


def test_passwords_that_cannot_work_are_refused() -> None:
    with pytest.raises(ValueError, match="beside it"):
        Passwords(None, "watch")
    with pytest.raises(ValueError, match="empty"):
        Passwords("")
    with pytest.warns(UserWarning, match="first 8 bytes"):
        Passwords("ninebytes")


def test_passwords_stay_out_of_repr() -> None:
    assert "canary" not in repr(Passwords("canary", "canary2"))
