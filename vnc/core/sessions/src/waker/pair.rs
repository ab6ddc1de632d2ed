//! Two connected sockets: bytes written to one make the other readable.
//!
//! On Windows these are TCP sockets, because asyncio's event loops watch no other descriptors there.

use std::io::{Read, Result, Write};
#[cfg(windows)]
use std::net::TcpStream as Stream;
#[cfg(windows)]
use std::os::windows::io::AsRawSocket;
#[cfg(unix)]
use std::os::{fd::AsRawFd, unix::net::UnixStream as Stream};

pub(crate) struct Waker {
    reading: Stream,
    writing: Stream,
}

impl Waker {
    pub fn new() -> Result<Self> {
        #[cfg(unix)]
        let (reading, writing) = Stream::pair()?;
        #[cfg(windows)]
        let (reading, writing) = super::tcp::pair()?;
        reading.set_nonblocking(true)?;
        writing.set_nonblocking(true)?;
        Ok(Self { reading, writing })
    }

    /// The descriptor for the event loop; on Windows the handle of a socket.
    pub fn descriptor(&self) -> i64 {
        #[cfg(unix)]
        return self.reading.as_raw_fd().into();
        #[cfg(windows)]
        return self.reading.as_raw_socket() as i64;
    }

    /// Make the descriptor readable.
    pub fn wake(&self) {
        // The write fails only if the buffer is full, and then the descriptor is readable anyway.
        let _ = (&self.writing).write(&[0]);
    }

    /// Read all bytes that have arrived; return whether there were any.
    ///
    /// A byte may still be on its way over TCP. Then the descriptor becomes readable once too often, never too seldom.
    pub fn clear(&self) -> bool {
        let mut cleared = false;
        while matches!((&self.reading).read(&mut [0; 16]), Ok(1..)) {
            cleared = true;
        }
        cleared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wake_makes_it_readable_until_it_is_cleared() {
        let waker = Waker::new().unwrap();
        assert!(waker.descriptor() > 0);
        assert!(!waker.clear(), "readable at first");
        for wakes in [1, 2, 100] {
            (0..wakes).for_each(|_| waker.wake());
            assert!(waker.clear(), "not readable after {wakes} wakes");
            assert!(!waker.clear(), "readable after it was cleared");
        }
    }

    #[test]
    fn wakes_that_nobody_clears_do_not_block() {
        let waker = Waker::new().unwrap();
        (0..1 << 18).for_each(|_| waker.wake());
        assert!(waker.clear() && !waker.clear());
    }
}
