"""The certificate of a node's remotes: self-signed, made for one session, and kept in memory."""

from __future__ import annotations

import datetime
import hashlib
import os
from dataclasses import dataclass

_DAY = datetime.timedelta(days=1)
_LIFETIME = 365 * _DAY
"""Clients compare the fingerprint, not the dates."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate and its private key, both PEM."""

    certificate: str
    key: str
    fingerprint: bytes
    """SHA-256 of the certificate (DER), which clients pin; see `vnc.tls.TLS`."""

    def __repr__(self) -> str:
        """Return the fingerprint alone: the key is a secret."""
        return f"Certificate({self.fingerprint.hex()})"


def self_signed() -> Certificate:
    """Return a new certificate with a new key (ECDSA, P-256)."""
    # Here, because they take long to import, and every environment imports this module.
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "universe-client remotes")])
    begin = datetime.datetime.now(datetime.UTC) - _DAY  # the clocks of two machines may differ
    builder = x509.CertificateBuilder(
        name, name, key.public_key(), x509.random_serial_number(), begin, begin + _LIFETIME
    )
    signed = builder.sign(key, hashes.SHA256())
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return Certificate(
        signed.public_bytes(serialization.Encoding.PEM).decode(),
        private.decode(),
        hashlib.sha256(signed.public_bytes(serialization.Encoding.DER)).digest(),
    )


class MemoryFile:
    """A file of mode 0600 in memory, which child processes of this user can open by its path. Linux only.

    It ends with this process, however that ends.
    """

    def __init__(self, text: str) -> None:
        self._file = os.memfd_create("universe-client")
        os.fchmod(self._file, 0o600)
        os.write(self._file, text.encode())
        self.path = f"/proc/{os.getpid()}/fd/{self._file}"

    def close(self) -> None:
        """Free the memory."""
        os.close(self._file)
