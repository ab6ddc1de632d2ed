//! A pair of connected TCP sockets, for systems without `socketpair`.

use std::io::{Error, ErrorKind, Result};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

/// Connections by other programs to the port of a new pair until the attempt fails.
const STRANGERS: usize = 16;

/// Return two TCP sockets that are connected over loopback.
pub(crate) fn pair() -> Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let writing = TcpStream::connect(listener.local_addr()?)?;
    writing.set_nodelay(true)?;
    let ours = writing.local_addr()?;
    for _ in 0..STRANGERS {
        // Another program may have connected first: the port is open to all programs of this host.
        let (reading, peer) = listener.accept()?;
        if peer == ours {
            return Ok((reading, writing));
        }
    }
    Err(Error::new(ErrorKind::ConnectionRefused, "other programs connect to the port of a pair of sockets"))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn a_pair_is_connected_to_itself() {
        let (reading, writing) = pair().unwrap();
        assert_eq!(reading.peer_addr().unwrap(), writing.local_addr().unwrap());
        (&writing).write_all(b"woken").unwrap();
        drop(writing);
        let mut read = String::new();
        (&reading).read_to_string(&mut read).unwrap();
        assert_eq!(read, "woken");
    }
}
