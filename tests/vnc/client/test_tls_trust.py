"""The core and OpenSSL trust the same certificates."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from tests.support.drivers import needs_native
from tests.support.vnc.rfb import Peer, listening
from tests.support.vnc.vencrypt import X509_NONE, honest
from vnc.client import native
from vnc.errors import VNCError
from vnc.session import Timeouts
from vnc.tls import TLS, Identity

pytestmark = [needs_native, pytest.mark.parametrize("driver", ["native"])]

PATIENT = Timeouts(probe_interval=120.0, update=120.0, handshake=120.0)
NOW = datetime.datetime.now(datetime.UTC)
DAY = datetime.timedelta(days=1)
SAN = x509.SubjectAlternativeName([x509.DNSName("localhost")])


class Maker:
    """Makes certificates, each with the key of its own."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def make(
        self,
        name: str,
        issuer: Made | None = None,
        *,
        ca: bool | None = None,
        san: x509.SubjectAlternativeName | None = SAN,
        begin: datetime.datetime = NOW - DAY,
        end: datetime.datetime = NOW + DAY,
        purpose: x509.ObjectIdentifier | None = None,
        key: Callable[[], ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey] = lambda: ec.generate_private_key(
            ec.SECP256R1()
        ),
    ) -> Made:
        own = key()
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        signer = issuer.key if issuer else own
        builder = x509.CertificateBuilder(
            issuer.certificate.subject if issuer else subject,
            subject,
            own.public_key(),
            x509.random_serial_number(),
            begin,
            end,
        )
        builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(own.public_key()), False)
        builder = builder.add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), False
        )
        if ca is not None:
            builder = builder.add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        if san is not None:
            builder = builder.add_extension(san, False)
        if purpose is not None:
            builder = builder.add_extension(x509.ExtendedKeyUsage([purpose]), False)
        return Made(self._directory / name, builder.sign(signer, hashes.SHA256()), own)


class Made:
    """A certificate and its key."""

    def __init__(self, stem: Path, certificate: x509.Certificate, key) -> None:
        self._stem, self.certificate, self.key = stem, certificate, key

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    def identity(self, *chain: Made) -> Identity:
        files = Identity(self._stem.with_suffix(".pem"), self._stem.with_suffix(".key"))
        files.certificate.write_bytes(self.pem + b"".join(each.pem for each in chain))
        files.key.touch(mode=0o600)
        files.key.write_bytes(
            self.key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return files


def rooted(make, **options) -> tuple[Identity, list[Made]]:
    root = make("root", ca=True, san=None)
    return make("leaf", root, **options).identity(), [root]


def with_intermediate(make, sent: bool, trusted: bool) -> tuple[Identity, list[Made]]:
    root = make("root", ca=True, san=None)
    middle = make("middle", root, ca=True, san=None)
    leaf = make("leaf", middle)
    return leaf.identity(*[middle] * sent), [root, *[middle] * trusted]


def itself(make, **options) -> tuple[Identity, list[Made]]:
    own = make("own", **options)
    return own.identity(), [own]


def namesake(make) -> tuple[Identity, list[Made]]:
    """Another authority with the same name."""
    leaf = make("leaf", make("root", ca=True, san=None)).identity()
    return leaf, [make("root", ca=True, san=None)]


def old_root(make) -> tuple[Identity, list[Made]]:
    root = make("root", ca=True, san=None, begin=NOW - 2 * DAY, end=NOW - DAY)
    return make("leaf", root).identity(), [root]


CASES = {
    "signed": (rooted, True),
    "RSA": (lambda make: rooted(make, key=lambda: rsa.generate_private_key(65537, 2048)), True),
    "P-521": (lambda make: rooted(make, key=lambda: ec.generate_private_key(ec.SECP521R1())), True),
    "intermediate sent": (lambda make: with_intermediate(make, sent=True, trusted=False), True),
    "intermediate trusted": (lambda make: with_intermediate(make, sent=False, trusted=True), True),
    "intermediate missing": (lambda make: with_intermediate(make, sent=False, trusted=False), False),
    "itself, an authority": (lambda make: itself(make, ca=True), True),
    "itself, no authority": (lambda make: itself(make, ca=False), True),
    "itself, expired": (lambda make: itself(make, ca=True, begin=NOW - 2 * DAY, end=NOW - DAY), False),
    "itself, another host": (
        lambda make: itself(make, ca=True, san=x509.SubjectAlternativeName([x509.DNSName("elsewhere")])),
        False,
    ),
    "not yet valid": (lambda make: rooted(make, begin=NOW + DAY, end=NOW + 2 * DAY), False),
    "expired": (lambda make: rooted(make, begin=NOW - 2 * DAY, end=NOW - DAY), False),
    "an authority that has expired": (old_root, False),
    "another authority of this name": (namesake, False),
    "a name in the subject only": (lambda make: rooted(make, san=None), False),
    "any subdomain": (
        lambda make: rooted(make, san=x509.SubjectAlternativeName([x509.DNSName("*.localhost")])),
        False,
    ),
    "an authority at the end": (lambda make: rooted(make, ca=True), True),
    "for clients": (lambda make: rooted(make, purpose=ExtendedKeyUsageOID.CLIENT_AUTH), False),
    "for servers": (lambda make: rooted(make, purpose=ExtendedKeyUsageOID.SERVER_AUTH), True),
}


async def no_login(peer: Peer) -> None:
    pass


async def outcome(opened, identity: Identity, tls: TLS) -> str:
    """Return the error of a session, without the port; "" if it opens."""
    async with listening(honest(identity.context(), X509_NONE, no_login)) as port:
        try:
            async with opened.on(port, timeouts=PATIENT, host="localhost", tls=tls):
                return ""
        except VNCError as error:
            return f"{type(error).__name__}: {error}".replace(str(port), "PORT")


@pytest.mark.parametrize("case", CASES)
async def test_openssl_has_the_same_opinion(opened, tmp_path, monkeypatch, case):
    make, is_trusted = CASES[case]
    identity, authorities = make(Maker(tmp_path).make)
    file = tmp_path / "authorities.pem"
    file.write_bytes(b"".join(each.pem for each in authorities))
    found = await outcome(opened, identity, TLS(ca_file=file))
    with monkeypatch.context() as patch:
        patch.setattr(native, "_trust", lambda host, tls: None)
        by_openssl = await outcome(opened, identity, TLS(ca_file=file))
    assert (found == "") == (by_openssl == "") == is_trusted, (found, by_openssl)
    assert found.partition(" ")[0] == by_openssl.partition(" ")[0]


async def test_the_systems_authorities_are_those_of_openssl(opened, tmp_path, monkeypatch):
    """Both in one file, and in a directory whose files have the names that OpenSSL looks for."""
    identity, (root,) = rooted(Maker(tmp_path).make)
    assert "certificate" in await outcome(opened, identity, TLS())
    file = tmp_path / "system.pem"
    file.write_bytes(root.pem)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    assert await outcome(opened, identity, TLS()) == ""
    assert len(TLS().authorities()) >= 1
