//! The client side of RFB (RFC 6143 and the rfbproto extensions) as a state machine.
//!
//! Three functions: [`Connection::receive`] takes the bytes of the server, [`Connection::next_event`] returns what they
//! mean, and [`Connection::data_to_send`] returns the answers. The crate does no I/O and reads no clock: the owner of the
//! socket checks the deadlines. Sizes from the server are checked against [`Limits`] before anything is allocated.
#![forbid(unsafe_code)]

mod buffer;
mod config;
mod connection;
mod decoders;
pub mod encodings;
mod error;
mod event;
mod flow;
mod handshake;
mod limits;
mod messages;
mod screen;
mod wire;

pub use config::Config;
pub use connection::Connection;
pub use decoders::shared::SharedFrames;
pub use encodings::default_encodings;
pub use error::{Error, Reason};
pub use event::Event;
pub use handshake::{Credentials, ServerInit, Tls};
pub use limits::{HARD_SIDE, Limits};
pub use messages::offer::Offer;
pub use messages::update::{Cursor, Totals};
pub use pixels::{Part, Reduction};
pub use screen::framebuffer::Framebuffer;
pub use screen::geometry::Rect;
