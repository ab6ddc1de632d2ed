//! What a connection tells its caller.

use crate::handshake::ServerInit;
use crate::update::{Cursor, Totals};

/// What has happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// TLS is to begin on the bytes of both directions; see `Connection::secured`.
    StartTls {
        /// Whether the server shows a certificate in it.
        certificate: bool,
    },
    /// The handshake is over.
    Ready(ServerInit),
    /// There is a new whole frame.
    Frame(Totals),
    /// The frame has another size; a `Frame` follows.
    Resized(u16, u16),
    /// The cursor has another shape.
    Cursor(Cursor),
    /// The terminal bell.
    Bell,
}
