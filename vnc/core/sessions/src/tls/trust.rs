//! The TLS settings of a session, and the texts of TLS errors.
//!
//! The texts of refusals are those of OpenSSL, which checks the certificates in vnc/tls.py. Where the two may differ, the
//! error is `UNSUPPORTED`: the caller connects again with OpenSSL, whose answer counts.

use std::sync::Arc;

use rustls::client::Resumption;
use rustls::pki_types::ServerName;
use rustls::{AlertDescription, CertificateError, ClientConfig, ClientConnection, Error};

use super::verifier::{Accepted, Verifier, Words};
use crate::published::Failure;

/// The error of a session whose TLS needs OpenSSL; see vnc/client/native.py.
pub(crate) const UNSUPPORTED: &str = "unsupported";

/// The TLS settings of a session.
#[derive(Clone)]
pub struct Trust {
    host: ServerName<'static>,
    config: Arc<ClientConfig>,
}

/// The host is neither a DNS name in ASCII nor an IP address.
#[derive(Debug)]
pub struct NotAHost;

impl Trust {
    /// Return the settings for a connection to `host`.
    ///
    /// # Panics
    /// Never: the ring provider supports TLS 1.2 and 1.3.
    pub fn new(host: &str, accepted: Accepted) -> Result<Self, NotAHost> {
        let host = ServerName::try_from(host.to_owned()).map_err(|_| NotAHost)?;
        let provider = rustls::crypto::ring::default_provider();
        let verifier = Verifier::new(accepted, provider.signature_verification_algorithms);
        let mut config = ClientConfig::builder_with_provider(Arc::new(provider))
            .with_safe_default_protocol_versions()
            .expect("the provider supports these versions")
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        config.resumption = Resumption::disabled();
        Ok(Self { host, config: Arc::new(config) })
    }

    /// Begin TLS.
    pub(crate) fn connect(&self) -> Result<ClientConnection, Error> {
        ClientConnection::new(Arc::clone(&self.config), self.host.clone())
    }

    /// Return the failure of a session whose TLS handshake ended with this error.
    pub(crate) fn failure(&self, error: &Error) -> Failure {
        let text = match error {
            Error::InvalidCertificate(error) => match refusal(error, &self.host) {
                Some(text) => text,
                None => return (UNSUPPORTED, error.to_string()),
            },
            Error::PeerIncompatible(_)
            | Error::AlertReceived(
                AlertDescription::HandshakeFailure
                | AlertDescription::InsufficientSecurity
                | AlertDescription::ProtocolVersion,
            ) => return (UNSUPPORTED, error.to_string()),
            Error::InvalidMessage(reason) => {
                format!("TLS failed: the server's answer is not TLS ({reason:?})")
            }
            error => format!("TLS failed: {error}"),
        };
        ("auth", text)
    }
}

/// Return the text for a certificate that OpenSSL refuses, too; None if it may not.
fn refusal(error: &CertificateError, host: &ServerName<'_>) -> Option<String> {
    use CertificateError as Refused;
    let why = match error {
        Refused::Expired | Refused::ExpiredContext { .. } => "certificate has expired".into(),
        Refused::NotValidYet | Refused::NotValidYetContext { .. } => "certificate is not yet valid".into(),
        Refused::NotValidForName | Refused::NotValidForNameContext { .. } => {
            let kind = if matches!(host, ServerName::IpAddress(_)) { "IP address" } else { "Hostname" };
            format!("{kind} mismatch, certificate is not valid for '{}'.", host.to_str())
        }
        Refused::Other(other) => match other.0.downcast_ref::<Words>()? {
            Words::Fingerprint(text) => return Some(text.clone()),
            Words::Issuer(text) => (*text).into(),
        },
        _ => return None,
    };
    Some(format!("the server's certificate is refused: {why}"))
}
