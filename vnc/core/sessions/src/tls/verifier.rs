//! Which server certificates a session accepts.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme};
use webpki::EndEntityCert;

/// The errors of OpenSSL 3 for a chain that does not end at a trusted authority.
const SELF_SIGNED: &str = "self-signed certificate";
const NO_ISSUER: &str = "unable to get local issuer certificate";

/// Which certificates of a server are accepted.
pub enum Accepted {
    /// Any. This prevents eavesdropping, but the server may be another one.
    Any,
    /// The one with this SHA-256 fingerprint.
    Fingerprint([u8; 32]),
    /// Those that one of these authorities (DER) has signed, for the host of the connection.
    Authorities(Vec<Vec<u8>>),
}

/// Refusals for which rustls has no error.
#[derive(Debug)]
pub(crate) enum Words {
    Fingerprint(String),
    Issuer(&'static str),
}

impl Display for Words {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fingerprint(text) => formatter.write_str(text),
            Self::Issuer(text) => formatter.write_str(text),
        }
    }
}

impl std::error::Error for Words {}

impl From<Words> for Error {
    fn from(words: Words) -> Self {
        CertificateError::Other(OtherError(Arc::new(words))).into()
    }
}

#[derive(Debug)]
enum Check {
    Nothing,
    Fingerprint([u8; 32]),
    Authorities(Vec<CertificateDer<'static>>),
}

#[derive(Debug)]
pub(crate) struct Verifier {
    check: Check,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Verifier {
    pub fn new(accepted: Accepted, algorithms: WebPkiSupportedAlgorithms) -> Self {
        let check = match accepted {
            Accepted::Any => Check::Nothing,
            Accepted::Fingerprint(fingerprint) => Check::Fingerprint(fingerprint),
            Accepted::Authorities(all) => {
                Check::Authorities(all.into_iter().map(CertificateDer::from).collect())
            }
        };
        Self { check, algorithms }
    }

    fn check_chain(
        &self,
        authorities: &[CertificateDer<'static>],
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        now: UnixTime,
    ) -> Result<(), Error> {
        let parsed = ParsedCertificate::try_from(certificate)?;
        let mut roots = RootCertStore::empty();
        let valid = authorities.iter().filter(|authority| self.is_in_time(authority, now));
        roots.add_parsable_certificates(valid.cloned());
        let found = self.check_issuers(&parsed, &roots, intermediates, now);
        let is_trusted_itself = authorities.contains(certificate);
        match found {
            // A certificate that signed itself, as `openssl req -x509` makes it. Its dates were checked before this.
            Err(error) if is_trusted_itself && is_ca_as_end(&error) && is_self_signed(certificate) => {}
            Err(Error::InvalidCertificate(CertificateError::UnknownIssuer)) if !is_trusted_itself => {
                let self_signed = is_self_signed(certificate);
                return Err(Words::Issuer(if self_signed { SELF_SIGNED } else { NO_ISSUER }).into());
            }
            found => found?,
        }
        verify_server_name(&parsed, host)
    }

    fn check_issuers(
        &self,
        certificate: &ParsedCertificate<'_>,
        roots: &RootCertStore,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<(), Error> {
        verify_server_cert_signed_by_trust_anchor(certificate, roots, intermediates, now, self.algorithms.all)
    }

    /// Whether now is between the dates of an authority. OpenSSL checks them, and webpki those of the other certificates
    /// only; there it does so first, whatever else is wrong.
    fn is_in_time(&self, authority: &CertificateDer<'_>, now: UnixTime) -> bool {
        ParsedCertificate::try_from(authority).is_ok_and(|parsed| {
            let found = self.check_issuers(&parsed, &RootCertStore::empty(), &[], now);
            !found.is_err_and(|error| is_out_of_time(&error))
        })
    }
}

fn is_out_of_time(error: &Error) -> bool {
    use CertificateError as Refused;
    let Error::InvalidCertificate(error) = error else { return false };
    matches!(
        error,
        Refused::Expired
            | Refused::ExpiredContext { .. }
            | Refused::NotValidYet
            | Refused::NotValidYetContext { .. }
    )
}

fn is_ca_as_end(error: &Error) -> bool {
    let Error::InvalidCertificate(CertificateError::Other(other)) = error else { return false };
    matches!(other.0.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
}

fn is_self_signed(certificate: &CertificateDer<'_>) -> bool {
    EndEntityCert::try_from(certificate).is_ok_and(|parsed| parsed.issuer() == parsed.subject())
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        _revocation: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match &self.check {
            Check::Nothing => {}
            Check::Fingerprint(pinned) => check_fingerprint(certificate, pinned)?,
            Check::Authorities(all) => self.check_chain(all, certificate, intermediates, host, now)?,
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

fn check_fingerprint(certificate: &CertificateDer<'_>, pinned: &[u8; 32]) -> Result<(), Error> {
    let found = ring::digest::digest(&ring::digest::SHA256, certificate);
    if found.as_ref() == pinned {
        return Ok(());
    }
    let found: Vec<_> = found.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let text = format!(
        "the server's certificate has the fingerprint {}, which is not the pinned one",
        found.join(":")
    );
    Err(Words::Fingerprint(text).into())
}
