"""VNC Authentication (RFC 6143 section 7.2.2): the challenge, its response, and who gave it."""

from __future__ import annotations

import enum
import hmac
import warnings
from dataclasses import dataclass, field

from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES
from cryptography.hazmat.primitives.ciphers import Cipher, modes

CHALLENGE_BYTES = 16
PASSWORD_BYTES = 8
"""DES keys have no room for more; the protocol ignores the rest of a longer password."""

_FILE_KEY = bytes.fromhex("17526b06234e5807")
_REVERSED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


class Access(enum.Enum):
    """What a client may do."""

    FULL = "full"
    VIEW_ONLY = "view-only"


def challenge_response(challenge: bytes, password: str) -> bytes:
    """Encrypt a 16-byte challenge with the password, as VNC does: DES, each key byte's bits reversed."""
    key = password.encode()[:PASSWORD_BYTES].ljust(PASSWORD_BYTES, b"\0").translate(_REVERSED)
    # Three times the same key: TripleDES is DES, and no library offers plain DES any more.
    encryptor = Cipher(TripleDES(key * 3), modes.ECB()).encryptor()
    return encryptor.update(challenge) + encryptor.finalize()


def vnc_password(password: str | None) -> str | None:
    """Return the part of a password that VNC Authentication uses: whole characters of the first 8 bytes of UTF-8.

    Our remotes have one password for both ports; passing VNC only this part avoids a warning.
    """
    return None if password is None else password.encode()[:PASSWORD_BYTES].decode("utf-8", "ignore")


def obfuscated(password: str) -> bytes:
    """Return the 8 bytes that VNC's password files hold: DES under a key that everybody knows.

    It hides nothing: such a file is as secret as its mode makes it.
    """
    encryptor = Cipher(TripleDES(_FILE_KEY.translate(_REVERSED) * 3), modes.ECB()).encryptor()
    return encryptor.update(password.encode()[:PASSWORD_BYTES].ljust(PASSWORD_BYTES, b"\0"))


@dataclass(frozen=True, slots=True)
class Passwords:
    """The secrets a server accepts; without any it asks for none.

    Raises:
        ValueError: a password is empty, or there is only one for watching.
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
                    f"vnc passwords count to {PASSWORD_BYTES} bytes only, the rest is ignored", stacklevel=4
                )

    @property
    def required(self) -> bool:
        """Whether clients have to authenticate."""
        return self.full is not None

    def check(self, challenge: bytes, response: bytes) -> Access | None:
        """What this response to `challenge` gives access to; takes the same time whatever it is."""
        granted = None
        for password, access in ((self.view_only, Access.VIEW_ONLY), (self.full, Access.FULL)):
            if password is None:
                continue
            if hmac.compare_digest(challenge_response(challenge, password), response):
                granted = access
        return granted
