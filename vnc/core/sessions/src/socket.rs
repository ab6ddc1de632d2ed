//! Writing to a socket that does not block, and what its errors are called.

use std::io::{ErrorKind, Result, Write};

use mio::net::TcpStream;

/// How a session ends that the server ended.
pub(crate) const CLOSED: &str = "the server closed the connection";

/// An error of the system, without the number that Rust appends.
#[must_use]
pub fn words(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => CLOSED.into(),
        _ => {
            let text = error.to_string();
            text.split_once(" (os error").map_or(text.clone(), |(before, _)| before.into())
        }
    }
}

/// As much as the socket takes now.
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
