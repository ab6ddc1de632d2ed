//! The process that sessions belong to.

use std::process::id;

/// The process that opened a session.
///
/// A fork of it shares the descriptors, but has no reader threads, and a lock may stay locked for ever. It must not
/// touch the session.
#[derive(Clone, Copy)]
pub(crate) struct Process(u32);

impl Process {
    /// Return the current process.
    pub fn this() -> Self {
        Self(id())
    }

    /// Whether this is the current process, and not its parent.
    pub fn is_this(self) -> bool {
        self.0 == id()
    }
}
