"""Passwords in HTTP headers, and loggers that hide them."""

from __future__ import annotations

import base64
import binascii
import logging
import re

from rewarder.sanitize import clean

SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie"})
_TYPED = re.compile(r"^(BINARY |TEXT '\{\"method\":\"v1\.env\.input\").*", re.DOTALL)
"""Frames with what people type: RFB of the viewer's page, and reports of it."""
_TOKEN = re.compile(r"(token=)[^&\s]+")


def authorization(password: str) -> str:
    """Return the `Authorization` value with `password` as Universe sends it: Basic, in the user field."""
    return "Basic " + base64.b64encode(f"{password}:".encode()).decode("ascii")


def password_of(header: str | None) -> str | None:
    """Return the password in an `Authorization` header, Basic or Bearer; None if it has none."""
    scheme, _, value = (header or "").strip().partition(" ")
    value = value.strip()
    if scheme.lower() == "bearer":
        return value or None
    if scheme.lower() != "basic":
        return None
    try:
        user, colon, _ = base64.b64decode(value, validate=True).decode().rpartition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return user if colon else None


class _HideSecrets(logging.Filter):
    """Removes credentials, what people type and control characters from the log messages of the WebSocket library."""

    def filter(self, record: logging.LogRecord) -> bool:
        args = record.args
        if isinstance(args, tuple) and len(args) == 2 and str(args[0]).lower() in SECRET_HEADERS:
            record.args = (args[0], "[hidden]")
        elif isinstance(args, tuple):
            record.args = tuple(arg if isinstance(arg, int | float) else _shown(str(arg)) for arg in args)
        # Port scanners and health checks disconnect early; this is not an error of the server.
        if record.msg == "opening handshake failed":
            record.levelno, record.levelname = logging.DEBUG, "DEBUG"
            record.exc_info = record.exc_text = None
            return logging.getLogger(record.name).isEnabledFor(logging.DEBUG)
        return True


def _shown(text: str) -> str:
    return _TYPED.sub("[hidden]", _TOKEN.sub(r"\1[hidden]", clean(text)))


def wire_logger(name: str) -> logging.Logger:
    """Return a logger for the WebSocket library that never prints a credential."""
    logger = logging.getLogger(name)
    if not any(isinstance(each, _HideSecrets) for each in logger.filters):
        logger.addFilter(_HideSecrets())
    return logger
