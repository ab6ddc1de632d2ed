//! The client side of RFB (RFC 6143 and the rfbproto extensions) as a state machine.
//!
//! Three functions: [`Connection::receive`] takes the bytes of the server, [`Connection::next_event`] returns what they
//! mean, and [`Connection::data_to_send`] returns the answers. The crate does no I/O and reads no clock: the owner of the
//! socket checks the deadlines. Sizes from the server are checked against [`Limits`] before anything is allocated.
#![forbid(unsafe_code)]

mod auth;
mod brush;
mod buffer;
mod client;
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
