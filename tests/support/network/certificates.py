"""A certificate authority for tests, and certificates signed by it."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from vnc.tls import Identity

DAY = datetime.timedelta(days=1)
_SIGNS = x509.KeyUsage(
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)


class Authority:
    """Signs certificates; `certificate` is the file to trust."""

    def __init__(self, directory: Path, name: str = "authority") -> None:
        self._directory = directory
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name(name)
        signed = _builder(self._name, self._key.public_key(), self._name)
        signed = signed.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        self._identifier = x509.SubjectKeyIdentifier.from_public_key(self._key.public_key())
        signed = signed.add_extension(self._identifier, False).add_extension(_SIGNS, critical=True)
        self.certificate = directory / f"{name}.pem"
        self.certificate.write_bytes(_pem(signed.sign(self._key, hashes.SHA256())))

    def identity(self, *hosts: str, days: int = 2) -> Identity:
        """Create a certificate for these names and addresses, valid from yesterday for some days."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(_name("server"), key.public_key(), self._name, days)
        builder = builder.add_extension(
            x509.SubjectAlternativeName([_general(host) for host in hosts]), False
        )
        issuer = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(self._identifier)
        builder = builder.add_extension(issuer, False)
        stem = f"server{len(list(self._directory.iterdir()))}"
        files = Identity(self._directory / f"{stem}.pem", self._directory / f"{stem}.key")
        files.certificate.write_bytes(_pem(builder.sign(self._key, hashes.SHA256())))
        files.key.touch(mode=0o600)
        files.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return files


def _builder(
    subject: x509.Name, key: ec.EllipticCurvePublicKey, issuer: x509.Name, days: int = 2
) -> x509.CertificateBuilder:
    begin = datetime.datetime.now(datetime.UTC) - DAY
    return x509.CertificateBuilder(
        issuer, subject, key, x509.random_serial_number(), begin, begin + days * DAY
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _general(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def too_old() -> ssl.SSLContext:
    """Return the context of a client that supports TLS 1.1 and nothing newer."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning):
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    return context


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def identity(authority: Authority) -> Identity:
    """A certificate for the addresses of the tests' servers."""
    return authority.identity("127.0.0.1", "localhost")
