//! The offer of shared frames, which the server sends as a rect.
//!
//! ```text
//! | 1 version = 1 | 16 token | 2 length | path of a Unix socket, UTF-8 |
//! ```

use crate::decoders::{Scan, sized};
use crate::error::{Fault, Reason, clean_text};
use crate::screen::geometry::Rect;
use crate::wire::Bytes;

const HEAD: usize = 1 /* version */ + 16 /* token */ + 2 /* length */;
const VERSION: u8 = 1;
/// The longest path of a Unix socket, in bytes (`sockaddr_un`, without the zero at its end).
const LONGEST: usize = 107;

/// Where the memory with the server's frames can be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// What the client sends on the socket, to be given the memory.
    pub token: [u8; 16],
    /// The absolute path of the socket.
    pub path: String,
}

/// Determine the length of an offer.
pub(crate) fn scan(bytes: &[u8], rect: Rect) -> Result<Scan, Fault> {
    let mut head = Bytes::new(bytes);
    let (Some(version), Some(_), Some(length)) = (head.u8(), head.take(16), head.u16()) else {
        return Ok(Scan::More(HEAD));
    };
    if version != VERSION {
        return Err(broken(format!("version {version}, known is {VERSION}"), 0));
    }
    if rect != Rect::default() {
        return Err(broken(format!("rect {rect}, it has none"), 0));
    }
    if !(1..=LONGEST).contains(&usize::from(length)) {
        return Err(broken(format!("path of {length} bytes, allowed are 1 to {LONGEST}"), HEAD));
    }
    Ok(sized(bytes, HEAD + usize::from(length)))
}

/// Parse an offer that was scanned.
pub(crate) fn parse(payload: &[u8]) -> Result<Offer, Fault> {
    let mut bytes = Bytes::starting_at(payload, 1);
    let (Some(token), Some(_)) = (bytes.array(), bytes.u16()) else {
        return Err(Reason::Short(HEAD, payload.len()).at(0));
    };
    let path = clean_text(&payload[HEAD..]);
    if !path.starts_with('/') || path.as_bytes() != &payload[HEAD..] {
        return Err(broken(format!("path {path:?} is not absolute, or not printable UTF-8"), HEAD));
    }
    Ok(Offer { token, path })
}

const fn broken(text: String, offset: usize) -> Fault {
    Reason::Offer(text).at(offset)
}
