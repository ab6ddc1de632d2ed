//! The configuration of a connection.

use crate::encodings::default_encodings;
use crate::handshake::Credentials;
use crate::limits::Limits;

/// The configuration of a connection.
#[derive(Clone)]
pub struct Config {
    /// The login, and whether TLS is required.
    pub credentials: Credentials,
    /// The encoding numbers to request, best first; see `default_encodings`.
    pub encodings: Vec<i32>,
    /// The limits on what the server may send.
    pub limits: Limits,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            credentials: Credentials::default(),
            encodings: default_encodings(),
            limits: Limits::default(),
        }
    }
}
