//! The client's side of RFB (RFC 6143 and the rfbproto extensions) as a state machine.
//!
//! Three verbs: [`Connection::receive`] takes bytes, [`Connection::next_event`] says what they meant,
//! [`Connection::data_to_send`] has the answers. There is no I/O and no clock in here; whoever owns the
//! socket owns the deadlines. Nothing is allocated for a peer before its size was held against [`Limits`].
#![forbid(unsafe_code)]

mod auth;
mod brush;
mod buffer;
pub mod client;
mod connection;
mod coverage;
mod decoders;
pub mod encodings;
mod error;
mod event;
mod flow;
mod framebuffer;
mod geometry;
mod handshake;
mod inflate;
mod limits;
mod messages;
mod security_types;
mod shown;
mod update;
mod vencrypt;
mod wire;

pub use connection::{Config, Connection};
pub use encodings::default_encodings;
pub use error::{Error, Reason};
pub use event::Event;
pub use framebuffer::Framebuffer;
pub use geometry::Rect;
pub use handshake::{Credentials, ServerInit};
pub use limits::{HARD_SIDE, Limits};
pub use update::{Cursor, Totals};
pub use vencrypt::Tls;
