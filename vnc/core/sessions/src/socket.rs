//! Non-blocking writes to a socket, and the texts of its errors.

use std::io::{ErrorKind, Result, Write};

use mio::net::TcpStream;

/// The error text of a session that the server ended.
pub(crate) const CLOSED: &str = "the server closed the connection";

/// Return the text of an error of the system, without the number that Rust appends.
#[must_use]
pub fn error_text(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => CLOSED.into(),
        _ => {
            let text = error.to_string();
            text.split_once(" (os error").map_or(text.clone(), |(before, _)| before.into())
        }
    }
}

/// Write bytes from `written` on until the socket accepts no more, and advance `written`.
pub(crate) fn write(mut stream: &TcpStream, bytes: &[u8], written: &mut usize) -> Result<()> {
    while *written < bytes.len() {
        match stream.write(&bytes[*written..]) {
            Ok(count) => *written += count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
