//! Which process sessions belong to.

use rustix::process::{Pid, getpid};

/// The process that opened a session. A process forked from it has the descriptors too, but neither the threads, nor
/// locks that can be trusted to be open: it must touch nothing.
#[derive(Clone, Copy)]
pub(crate) struct Process(Pid);

impl Process {
    pub fn this() -> Self {
        Self(getpid())
    }

    pub fn is_this(self) -> bool {
        self.0 == getpid()
    }
}
