"""VNC Authentication (RFC 6143 section 7.2.2): the response to a challenge, and its check by a server."""

from __future__ import annotations

import enum
import hmac
import warnings
from dataclasses import dataclass, field

CHALLENGE_BYTES = 16
PASSWORD_BYTES = 8
"""The length of a DES key; the protocol ignores the bytes of a password after it."""

_FILE_KEY = bytes.fromhex("17526b06234e5807")
_REVERSED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


class Access(enum.Enum):
    """The rights of a client: input and pixels, or pixels only."""

    FULL = "full"
    VIEW_ONLY = "view-only"


def challenge_response(challenge: bytes, password: str) -> bytes:
    """Encrypt a challenge of 16 bytes with DES; the key is the password, with the bits of each byte reversed."""
    key = password.encode()[:PASSWORD_BYTES].ljust(PASSWORD_BYTES, b"\0").translate(_REVERSED)
    return _des(key, challenge)


def vnc_password(password: str | None) -> str | None:
    """Return the part of a password that VNC Authentication uses: whole characters of the first 8 bytes of UTF-8.

    A remote has one password for its two ports. Passing only this part of it to VNC avoids a warning.
    """
    return None if password is None else password.encode()[:PASSWORD_BYTES].decode("utf-8", "ignore")


def obfuscated(password: str) -> bytes:
    """Return the 8 bytes that VNC's password files hold: DES under a key that everybody knows.

    It hides nothing: such a file is as secret as its mode makes it.
    """
    content = password.encode()[:PASSWORD_BYTES].ljust(PASSWORD_BYTES, b"\0")
    return _des(_FILE_KEY.translate(_REVERSED), content)


def _des(key: bytes, blocks: bytes) -> bytes:
    # Here, because an agent with the native driver needs neither, and they take long to import.
    from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES
    from cryptography.hazmat.primitives.ciphers import Cipher, modes

    # TripleDES with three equal keys is DES, which libraries no longer offer on its own.
    encryptor = Cipher(TripleDES(key * 3), modes.ECB()).encryptor()
    return encryptor.update(blocks) + encryptor.finalize()


@dataclass(frozen=True, slots=True)
class Passwords:
    """The passwords that a server accepts. Without any, it requires no authentication.

    Raises:
        ValueError: a password is empty, or `view_only` is set and `full` is not.
    """

    full: str | None = field(default=None, repr=False)
    view_only: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.full is None and self.view_only is not None:
            raise ValueError("a view-only password needs a full password beside it")
        for password in (self.full, self.view_only):
            if password == "":
                raise ValueError("a vnc password must not be empty")
            if password is not None and len(password.encode()) > PASSWORD_BYTES:
                warnings.warn(
                    f"VNC uses only the first {PASSWORD_BYTES} bytes of a password and ignores the remaining ones",
                    stacklevel=4,
                )

    @property
    def required(self) -> bool:
        """Whether clients have to authenticate."""
        return self.full is not None

    def check(self, challenge: bytes, response: bytes) -> Access | None:
        """Return the access that a response grants, None if it is wrong; the time does not depend on the response."""
        granted = None
        for password, access in ((self.view_only, Access.VIEW_ONLY), (self.full, Access.FULL)):
            if password is None:
                continue
            if hmac.compare_digest(challenge_response(challenge, password), response):
                granted = access
        return granted
