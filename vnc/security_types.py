"""The names of security types (RFC 6143 section 7.1.2 and the rfbproto registry), in the words of the Rust core."""

from __future__ import annotations

from collections.abc import Sequence

_NAMES = {
    **dict.fromkeys([*range(3, 16), *range(128, 256)], "RealVNC"),
    **dict.fromkeys([5, 6, 129, 130], "RealVNC, encrypted"),
    **dict.fromkeys(range(30, 36), "Apple"),
    1: "None",
    2: "VNC authentication",
    16: "Tight",
    17: "UltraVNC",
    18: "TLS",
    19: "VeNCrypt",
    20: "SASL",
    21: "MD5",
    22: "xvp",
    23: "Secure Tunnel",
    24: "Integrated SSH",
    113: "UltraVNC, MS-Logon",
}


def described(offered: Sequence[int]) -> str:
    """Return what a server offers, in words: `security types 2 (VNC authentication), 30 (Apple)`."""
    types = ", ".join(f"{number} ({_NAMES.get(number, 'unknown')})" for number in offered)
    return f"security type{'s' * (len(offered) != 1)} {types}"
