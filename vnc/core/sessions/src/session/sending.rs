//! The way of messages to the socket.

use super::Session;
use crate::socket::{error_text, write};
use crate::sync::lock;

impl Session {
    /// Write whole messages. Bytes that the socket does not accept now are written when it is ready again.
    pub fn send(&self, mut message: &[u8]) {
        let mut outgoing = lock(&self.outgoing);
        if self.published.failure().is_some() {
            return;
        }
        if let Some(tls) = self.tls.get() {
            lock(tls).encrypt(message, &mut outgoing);
            message = &[];
        }
        if message.is_empty() && outgoing.is_empty() {
            return;
        }
        let mut written = 0;
        let result = if self.fed {
            outgoing.extend(message);
            Some(Ok(()))
        } else if outgoing.is_empty() {
            let result = self.with_stream(|stream| write(stream, message, &mut written));
            outgoing.extend(&message[written..]);
            result
        } else {
            outgoing.extend(message);
            let result = self.with_stream(|stream| write(stream, &outgoing, &mut written));
            outgoing.drain(..written);
            result
        };
        let waiting = outgoing.len();
        drop(outgoing);
        match result {
            Some(Err(error)) => self.end(error_text(&error)),
            Some(Ok(())) if waiting > self.outgoing_limit => {
                self.end(format!("the server does not read; {waiting} bytes are waiting for it"));
            }
            _ if self.fed => self.changed(),
            _ => {}
        }
    }

    /// Return the bytes that the caller must write now.
    pub fn data_to_send(&self) -> Vec<u8> {
        std::mem::take(&mut *lock(&self.outgoing))
    }
}
