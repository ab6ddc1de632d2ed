//! The events that a connection reports to its caller.

use crate::handshake::ServerInit;
use crate::messages::offer::Offer;
use crate::messages::update::{Cursor, Totals};

/// An event of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// TLS begins with the next byte of both directions. The caller establishes it and calls `Connection::secured`.
    StartTls {
        /// Whether the server presents a certificate.
        certificate: bool,
    },
    /// The handshake is complete.
    Ready(ServerInit),
    /// A new frame is complete.
    Frame(Totals),
    /// The screen has a new width and height. A `Frame` follows.
    Resized(u16, u16),
    /// The cursor has a new shape.
    Cursor(Cursor),
    /// The server offers shared frames. The caller may map them and call `Connection::map`.
    Offer(Offer),
    /// The server rings the bell.
    Bell,
}
