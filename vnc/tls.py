"""TLS settings: which certificates of a server a client trusts, and the certificate that a server presents."""

from __future__ import annotations

import binascii
import hashlib
import re
import ssl
import stat
from dataclasses import dataclass
from pathlib import Path

_ANONYMOUS = "ADH:AECDH:!eNULL:@SECLEVEL=0"
_NOT_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG")
"""The reasons that OpenSSL gives, depending on its version, for an answer that is not TLS."""
_PEM = re.compile(rb"-----BEGIN (X509 )?CERTIFICATE-----(.*?)-----END (X509 )?CERTIFICATE-----", re.DOTALL)
_HASHED = re.compile(r"[0-9a-f]{8}\.\d+")
"""The names that `openssl rehash` gives the files of a directory with certificate authorities."""
_DIGEST_BYTES = hashlib.sha256().digest_size


@dataclass(frozen=True, slots=True)
class TLS:
    """Encryption by TLS 1.2 or 1.3, and which server certificates the client trusts.

    By default an authority that the system trusts must have signed the certificate, for the host of the connection. At
    most one of the fields changes this.

    Raises:
        ValueError: more than one field is set, or the fingerprint does not have 32 bytes.
    """

    ca_file: Path | None = None
    """A PEM file with the certificate authorities to trust instead of the system's."""
    fingerprint: bytes | None = None
    """The SHA-256 fingerprint that the certificate must have; its signature and host are not checked."""
    insecure: bool = False
    """Trust any certificate, or none (VeNCrypt's TLS* sub-types). This prevents eavesdropping, but any server on the
    path can impersonate the right one."""

    def __post_init__(self) -> None:
        if (self.ca_file is not None) + (self.fingerprint is not None) + self.insecure > 1:
            raise ValueError("ca_file, fingerprint and insecure exclude each other: set one of them")
        if self.fingerprint is not None and len(self.fingerprint) != _DIGEST_BYTES:
            raise ValueError(
                f"the fingerprint has {len(self.fingerprint)} bytes; SHA-256 has {_DIGEST_BYTES}"
            )

    def context(self, *, certificate: bool = True) -> ssl.SSLContext:
        """Return the SSL context of a client.

        Args:
            certificate: whether the server presents one; without, TLS 1.2 is used, because TLS 1.3 requires one.

        Raises:
            ValueError: `ca_file` cannot be read, or this OpenSSL does not support TLS without a certificate.
        """
        if not certificate:
            return _anonymous()
        try:
            context = ssl.create_default_context(cafile=self.ca_file)
        except OSError as error:  # ssl.SSLError is one
            raise ValueError(f"cannot read certificate authorities from {self.ca_file}: {error}") from error
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        if self.fingerprint is not None or self.insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context

    def authorities(self) -> list[bytes]:
        """Return the certificates (DER) that `context` trusts.

        Raises:
            OSError, ValueError: as `context`; or the system's certificates cannot be read.
        """
        context = self.context()
        if self.ca_file is not None:
            return _certificates(self.ca_file.read_bytes())
        found = context.get_ca_certs(binary_form=True)
        # OpenSSL looks for the files of this directory when it needs them, so the context does not list them.
        directory = ssl.get_default_verify_paths().capath
        for path in sorted(Path(directory).iterdir()) if directory else ():
            if _HASHED.fullmatch(path.name):
                found += _certificates(path.read_bytes())
        return list(dict.fromkeys(found))

    def check(self, certificate: bytes | None) -> None:
        """Compare the certificate (DER) of a finished TLS handshake with the fingerprint.

        Raises:
            ValueError: the certificate has another fingerprint.
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
        """Whether a TLS handshake failed because the connection ended, which says nothing about the certificate."""
        return isinstance(error, ssl.SSLEOFError) or not isinstance(error, ssl.SSLError | ValueError)

    @staticmethod
    def refusal(error: OSError | ValueError) -> str:
        """Return the text for a failed TLS handshake, from an error of the handshake, `context` or `check`."""
        match error:
            case ssl.SSLCertVerificationError():
                return f"the server's certificate is refused: {error.verify_message}"
            case ssl.SSLEOFError():
                return "TLS failed: the server closed the connection"
            case ssl.SSLError() if error.reason in _NOT_TLS:
                return f"TLS failed: the server's answer is not TLS ({error.reason})"
            case ssl.SSLError():
                return f"TLS failed: {error.reason or error}"
            case OSError():
                return "TLS failed: the server closed the connection"
        return str(error)


@dataclass(frozen=True, slots=True)
class Identity:
    """The certificate that a server presents in TLS, and its private key, both in PEM files."""

    certificate: Path
    """The certificate, followed by the intermediate certificates of its chain."""
    key: Path
    """Its private key, not encrypted and readable by its owner only."""

    def context(self) -> ssl.SSLContext:
        """Return the SSL context of a server.

        Raises:
            ValueError: the files cannot be read, or the key is readable by others, encrypted, or of another
                certificate.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        # TigerVNC's viewer treats a session ticket as an empty read and ignores the pixels that arrived with it.
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
        """The SHA-256 fingerprint of the certificate, 32 bytes.

        Raises:
            OSError, ValueError: the file cannot be read, or contains no certificate.
        """
        _, begin, rest = self.certificate.read_text("ascii", "replace").partition(ssl.PEM_HEADER)
        first, end, _ = rest.partition(ssl.PEM_FOOTER)
        return hashlib.sha256(ssl.PEM_cert_to_DER_cert(begin + first + end)).digest()


def _certificates(pem: bytes) -> list[bytes]:
    """Return the certificates of a PEM file (DER)."""
    return [binascii.a2b_base64(match[2]) for match in _PEM.finditer(pem)]


def _no_passphrase() -> str:
    raise ValueError("the key is encrypted; use a key without a passphrase")


def _anonymous() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.set_ciphers(_ANONYMOUS)
    except ssl.SSLError as error:
        raise ValueError(f"{ssl.OPENSSL_VERSION} does not support TLS without a certificate") from error
    return context
