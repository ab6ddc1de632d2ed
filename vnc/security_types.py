"""Security types by number and by name (RFC 6143 section 7.1.2, rfbproto), VeNCrypt's sub-types included."""

from __future__ import annotations

from collections.abc import Sequence

NONE, VNC_AUTH, VENCRYPT = 1, 2, 19
VENCRYPT_VERSION = bytes([0, 2])
TLS_NONE, TLS_VNC, TLS_PLAIN, X509_NONE, X509_VNC, X509_PLAIN = range(257, 263)

_NAMES = {
    **dict.fromkeys([*range(3, 16), *range(128, 256)], "RealVNC"),
    **dict.fromkeys([5, 6, 129, 130], "RealVNC, encrypted"),
    **dict.fromkeys(range(30, 36), "Apple"),
    NONE: "None",
    VNC_AUTH: "VNC authentication",
    16: "Tight",
    17: "UltraVNC",
    18: "TLS",
    VENCRYPT: "VeNCrypt",
    20: "SASL",
    21: "MD5",
    22: "xvp",
    23: "Secure Tunnel",
    24: "Integrated SSH",
    113: "UltraVNC, MS-Logon",
}
SUB_TYPE_NAMES = {
    TLS_NONE: "TLSNone",
    TLS_VNC: "TLSVnc",
    TLS_PLAIN: "TLSPlain",
    X509_NONE: "X509None",
    X509_VNC: "X509Vnc",
    X509_PLAIN: "X509Plain",
}
"""The sub-types of VeNCrypt. Those of TLS* have no certificate."""


def described(offered: Sequence[int]) -> str:
    """Return the types in words, as the Rust core does: `security types 2 (VNC authentication), 30 (Apple)`."""
    types = ", ".join(f"{number} ({_NAMES.get(number, 'unknown')})" for number in offered)
    return f"security type{'s' * (len(offered) != 1)} {types}"
