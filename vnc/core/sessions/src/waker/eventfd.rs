//! A counter of the Linux kernel, which is readable unless it is zero.

use std::io::Result;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::event::{EventfdFlags, eventfd};

pub(crate) struct Waker(OwnedFd);

impl Waker {
    pub fn new() -> Result<Self> {
        Ok(Self(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?))
    }

    /// The descriptor for the event loop.
    pub fn descriptor(&self) -> i64 {
        self.0.as_raw_fd().into()
    }

    /// Make the descriptor readable.
    pub fn wake(&self) {
        // The write fails only if the counter is at its maximum, and then the descriptor is readable anyway.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }

    /// Make the descriptor unreadable; return whether it was readable.
    pub fn clear(&self) -> bool {
        rustix::io::read(&self.0, &mut [0_u8; 8]).is_ok()
    }
}
