//! TLS without a socket: encrypted bytes in, plain bytes out, and the other way.

use std::io::{Read, Write};

use rfb::Connection;
use rustls::{ClientConnection, Error};

use crate::published::Failure;

mod trust;
mod verifier;

pub(crate) use trust::UNSUPPORTED;
pub use trust::{NotAHost, Trust};
pub use verifier::Accepted;

/// The error text of a session whose TLS broke after the handshake.
pub(crate) const BROKEN: &str = "the server sent invalid TLS";

/// The client's side of a TLS connection. The session locks it.
pub(crate) struct Tls {
    connection: ClientConnection,
    trust: Trust,
}

/// What encrypted bytes were.
#[derive(Default)]
pub(crate) struct Received {
    /// Whether they contained plain bytes, or ended the handshake.
    pub news: bool,
    /// Whether the server has ended TLS.
    pub end: bool,
}

impl Tls {
    pub fn new(trust: &Trust) -> Result<Self, Error> {
        let mut connection = trust.connect()?;
        // The session limits what waits for the socket.
        connection.set_buffer_limit(None);
        Ok(Self { connection, trust: trust.clone() })
    }

    pub fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// Return the failure of a handshake that has ended with an error; None after the handshake.
    pub fn failure(&self, error: &Error) -> Option<Failure> {
        self.is_handshaking().then(|| self.trust.failure(error))
    }

    /// Append plain bytes, encrypted, to what goes to the socket, and whatever else TLS has to send.
    pub fn encrypt(&mut self, plain: &[u8], out: &mut Vec<u8>) {
        // Without a buffer limit it takes all, and a vector takes all, too.
        let _ = self.connection.writer().write_all(plain);
        while self.connection.wants_write() && self.connection.write_tls(out).is_ok() {}
    }

    /// Give the plain content of encrypted bytes to the connection. Then send what `encrypt` returns.
    pub fn decrypt(&mut self, mut sealed: &[u8], connection: &mut Connection) -> Result<Received, Error> {
        let mut received = Received::default();
        let mut filled = 0;
        let begun = self.connection.is_handshaking();
        while !sealed.is_empty() && !received.end {
            let taken =
                self.connection.read_tls(&mut sealed).map_err(|error| Error::General(error.to_string()))?;
            received.end = taken == 0 || self.connection.process_new_packets()?.peer_has_closed();
            if begun && !received.news && !self.connection.is_handshaking() {
                received.news = true;
                connection.secured();
            }
            self.drain(connection, &mut filled, &mut received);
        }
        connection.received(filled);
        Ok(received)
    }

    /// Move decrypted bytes into the connection's room, of which `filled` bytes are used.
    fn drain(&mut self, connection: &mut Connection, filled: &mut usize, received: &mut Received) {
        loop {
            let room = connection.space();
            if *filled == room.len() {
                connection.received(std::mem::take(filled));
                continue;
            }
            // Its errors only say that no bytes are there now.
            match self.connection.reader().read(&mut room[*filled..]) {
                Ok(0) | Err(_) => return,
                Ok(count) => {
                    *filled += count;
                    received.news = true;
                }
            }
        }
    }
}
