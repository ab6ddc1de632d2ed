"""What shows over TLS that a server is the one that was meant: to those who ask, and of our own servers."""

from __future__ import annotations

import hashlib
import ssl
import stat
from dataclasses import dataclass
from pathlib import Path

_ANONYMOUS = "ADH:AECDH:!eNULL:@SECLEVEL=0"
_NOT_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG")
"""What OpenSSL, from version to version, calls an answer in the clear."""
_DIGEST_BYTES = hashlib.sha256().digest_size


@dataclass(frozen=True, slots=True)
class TLS:
    """Encryption, by VeNCrypt; the server's certificate must be of a known authority and for its host, unless ...

    At most one of these is set.

    Raises:
        ValueError: more than one is, or the fingerprint has not 32 bytes.
    """

    ca_file: Path | None = None
    """... these authorities (PEM) are trusted instead of the system's."""
    fingerprint: bytes | None = None
    """... it must have this SHA-256 fingerprint, whoever signed it and for whichever host."""
    insecure: bool = False
    """... any will do, or none (VeNCrypt's TLS* sub-types): nobody can listen, but anybody can be the server."""

    def __post_init__(self) -> None:
        if (self.ca_file is not None) + (self.fingerprint is not None) + self.insecure > 1:
            raise ValueError("of ca_file, fingerprint and insecure only one makes sense")
        if self.fingerprint is not None and len(self.fingerprint) != _DIGEST_BYTES:
            raise ValueError(f"a fingerprint of {len(self.fingerprint)} bytes; SHA-256 has {_DIGEST_BYTES}")

    def context(self, *, certificate: bool = True) -> ssl.SSLContext:
        """Return what Python's ssl needs to know.

        Args:
            certificate: whether the server shows one; TLS 1.3 has no sessions without.

        Raises:
            ValueError: the authorities cannot be read, or this Python's ssl does nothing without a certificate.
        """
        if not certificate:
            return _anonymous()
        try:
            context = ssl.create_default_context(cafile=self.ca_file)
        except OSError as error:  # ssl.SSLError is one
            raise ValueError(f"no certificates of authorities in {self.ca_file}: {error}") from error
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        if self.fingerprint is not None or self.insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context

    def check(self, certificate: bytes | None) -> None:
        """Hold the certificate (DER) of a finished TLS handshake against the fingerprint.

        Raises:
            ValueError: it has another.
        """
        if self.fingerprint is None:
            return
        found = hashlib.sha256(certificate or b"").digest()
        if found != self.fingerprint:
            raise ValueError(
                f"the server's certificate has the fingerprint {found.hex(':')}, which is not the pinned one"
            )

    @staticmethod
    def is_cut_off(error: OSError | ValueError) -> bool:
        """Whether a TLS handshake came to nothing because the connection ended: the server may be the right one."""
        return isinstance(error, ssl.SSLEOFError) or not isinstance(error, ssl.SSLError | ValueError)

    @staticmethod
    def refusal(error: OSError | ValueError) -> str:
        """Say why a TLS handshake came to nothing: a failure of it, of `context` or of `check`."""
        match error:
            case ssl.SSLCertVerificationError():
                return f"the server's certificate is refused: {error.verify_message}"
            case ssl.SSLEOFError():
                return "TLS failed: the server closed the connection"
            case ssl.SSLError() if error.reason in _NOT_TLS:
                return f"TLS failed: what the server said is not TLS ({error.reason})"
            case ssl.SSLError():
                return f"TLS failed: {error.reason or error}"
            case OSError():
                return "TLS failed: the server closed the connection"
        return str(error)


@dataclass(frozen=True, slots=True)
class Identity:
    """What a server of ours shows over TLS: a certificate, followed by those that it depends on, and its key (PEM)."""

    certificate: Path
    key: Path

    def context(self) -> ssl.SSLContext:
        """Return what Python's ssl needs to know.

        Raises:
            ValueError: the files cannot be read, the key is open to others or encrypted, or is another certificate's.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        # TigerVNC's viewer takes a session ticket for an empty read, and overlooks the pixels that came with it.
        context.num_tickets = 0
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            mode = self.key.stat().st_mode
            context.load_cert_chain(self.certificate, self.key, _no_passphrase)
        except OSError as error:  # ssl.SSLError is one
            raise ValueError(f"certificate {self.certificate} with key {self.key}: {error}") from error
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise ValueError(f"key {self.key} is open to group or others: chmod 600 {self.key}")
        return context

    @property
    def fingerprint(self) -> bytes:
        """SHA-256 of the certificate.

        Raises:
            OSError, ValueError: there is none in its file.
        """
        _, begin, rest = self.certificate.read_text("ascii", "replace").partition(ssl.PEM_HEADER)
        first, end, _ = rest.partition(ssl.PEM_FOOTER)
        return hashlib.sha256(ssl.PEM_cert_to_DER_cert(begin + first + end)).digest()


def _no_passphrase() -> str:
    raise ValueError("the key is encrypted, nobody is asked for its passphrase")


def _anonymous() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.set_ciphers(_ANONYMOUS)
    except ssl.SSLError as error:
        raise ValueError(f"{ssl.OPENSSL_VERSION} has no TLS without a certificate") from error
    return context
