//! RFB sessions on reader threads.
//!
//! ```text
//! pump ─→ session ─→ published, hub, deadlines, socket
//! ```
//! The threads of `pump` own the sockets and decode; `session` is one connection, whichever thread calls, and `decoder` its frames; `published`
//! is what is read of it without a lock; `hub` tells an event loop which sessions have news.

mod deadlines;
mod decoder;
mod hub;
mod process;
mod published;
mod pump;
mod session;
mod socket;
mod sync;

pub use deadlines::Timeouts;
pub use decoder::Mismatch;
pub use hub::Hub;
pub use published::{Failure, Published};
pub use pump::Pump;
pub use session::Session;
pub use socket::words;
