//! RFB sessions on reader threads.
//!
//! ```text
//! pump ─→ player ─→ session ─→ decoder, looks, tls, plan, published, notice, tap, hub, deadlines, mapping, socket
//!          ─→ monotonic, process, sync, waker
//! ```
//! An arrow points at what a module uses. The threads of `pump` read the sockets. `session` is one connection; every
//! thread may call it. `player` is the thread that sends the input of a `plan` at its times, and requests of updates
//! shortly before the `looks` of the caller. `decoder` holds its connection and frames behind a lock. `tls` encrypts and
//! decrypts, and decides which servers are trusted. `published` contains what other threads read of a session without a
//! lock. `hub` lists the sessions with news for an event loop, and `notice` decides whether a frame is news. `tap` keeps
//! every frame for a recorder. `deadlines` limits how long each stage of a session takes, `mapping` reads frames from
//! memory that the server shares (on Linux), and `socket` writes without blocking. `monotonic` is Python's clock, and
//! `waker` is the descriptor that the event loop watches.

mod deadlines;
mod decoder;
mod hub;
mod looks;
#[cfg(target_os = "linux")]
mod mapping;
mod monotonic;
mod notice;
mod plan;
mod player;
mod process;
mod published;
mod pump;
mod session;
mod socket;
mod sync;
mod tap;
mod tls;
mod waker;

pub use deadlines::Timeouts;
pub use decoder::Mismatch;
pub use hub::Hub;
#[cfg(target_os = "linux")]
pub use mapping::{Layout, Unusable};
#[cfg(not(target_os = "linux"))]
pub use monotonic::set_monotonic;
pub use plan::Timed;
pub use published::{Failure, Published};
pub use pump::Pump;
pub use session::Session;
pub use socket::error_text;
pub use tap::{Copied, Tap};
pub use tls::{Accepted, NotAHost, Trust};
