//! How reader threads tell an event loop that sessions have changed: one file descriptor, coalesced.

use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use rustix::event::{EventfdFlags, eventfd};

use crate::lock;
use crate::session::Shared;

pub(crate) struct Hub {
    wake: OwnedFd,
    changed: Mutex<Vec<Arc<Shared>>>,
}

impl Hub {
    pub fn new() -> std::io::Result<Self> {
        let wake = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        Ok(Self { wake, changed: Mutex::default() })
    }

    /// The descriptor to watch.
    pub fn descriptor(&self) -> RawFd {
        self.wake.as_raw_fd()
    }

    /// Note that a session has news. It is listed once, however much happens before `drain`.
    pub fn changed(&self, session: &Arc<Shared>) {
        if session.noted.swap(true, Ordering::AcqRel) {
            return;
        }
        let mut changed = lock(&self.changed);
        changed.push(Arc::clone(session));
        if changed.len() == 1 {
            // Only a counter at its maximum could fail this, and then the descriptor is readable anyway.
            let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
        }
    }

    /// The sessions with news since the last call.
    pub fn drain(&self) -> Vec<u64> {
        let changed = {
            let mut changed = lock(&self.changed);
            // Nothing to read is fine: the list is what counts.
            let _ = rustix::io::read(&self.wake, &mut [0_u8; 8]);
            std::mem::take(&mut *changed)
        };
        for session in &changed {
            session.noted.store(false, Ordering::Release);
        }
        changed.iter().map(|session| session.id).collect()
    }
}
