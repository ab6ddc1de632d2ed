//! The messages after the handshake, of the client and of the server (RFC 6143 7.5 and 7.6).

pub(crate) mod client;
pub(crate) mod offer;
pub(crate) mod server;
pub(crate) mod update;
