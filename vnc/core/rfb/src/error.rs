//! The errors that end a connection.
//!
//! ```text
//! Error
//! ├── NotRfb, Version                                 the server speaks another protocol or version
//! ├── Policy, Refused, AuthFailed, TooManyFailures    the login is impossible or was refused
//! ├── Protocol, Decode                                the server violated RFB
//! └── Limit                                           the server announced more than our `Limits`
//! ```

use std::fmt;

use crate::screen::geometry::Rect;

/// Why a connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The first bytes are not an RFB greeting.
    NotRfb(String),
    /// The greeting's version is older than 3.3: major, minor.
    Version(u16, u16),
    /// The client's configuration forbids every login that the server offers.
    Policy(String),
    /// The server refused the connection, with its reason.
    Refused(String),
    /// The server refused our credentials, with its reason if it sent one.
    AuthFailed(String),
    /// The server has locked out this address for some time.
    TooManyFailures(String),
    /// The server sent bytes that RFB does not allow.
    Protocol(String),
    /// The server announced something larger than our limits.
    Limit {
        /// What was announced.
        what: &'static str,
        /// Its size.
        size: u64,
        /// The largest allowed size.
        limit: u64,
    },
    /// The server sent a rect that cannot be decoded.
    Decode {
        /// The rect's index in its update, from 0.
        number: u32,
        /// The rect's header.
        rect: Rect,
        /// The rect's encoding number.
        encoding: i32,
        /// Bytes from the start of the rect's payload to the fault. Inside compressed data, inflated bytes.
        offset: usize,
        /// The fault.
        reason: Reason,
    },
}

/// Why a rect cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The rect is not inside the framebuffer, whose width and height these are.
    OutsideFramebuffer(u16, u16),
    /// The source of a `CopyRect`, at this x and y, is not inside the framebuffer.
    SourceOutside(u16, u16),
    /// A subrect is not inside its rect or tile.
    SubrectOutside,
    /// The server announced more bytes than the rect can need: bytes, limit.
    TooLong(u64, u64),
    /// An index is not in the palette: index, palette size.
    PaletteIndex(u32, u32),
    /// A sub-encoding, filter or compression type does not exist: what, its number.
    Reserved(&'static str, u32),
    /// A run is longer than the rest of its tile: run, pixels left.
    Run(usize, usize),
    /// The data ends early: bytes needed, bytes found.
    Short(usize, usize),
    /// The inflated data continues after the last pixel.
    Excess,
    /// The zlib stream is invalid or has ended.
    Zlib,
    /// The JPEG decoder reported this error.
    Jpeg(String),
    /// The JPEG image has this width and height, and not those of its rect.
    JpegSize(usize, usize),
    /// A cursor of this width and height is larger than the limit.
    Cursor(u16, u16),
    /// The cursor's hotspot, at this x and y, is not inside the cursor.
    Hotspot(u16, u16),
    /// Something is larger than our limits: what, its size, the limit.
    Limit(&'static str, u64, u64),
    /// The new size of the screen is impossible.
    Screen(String),
    /// The encoding is not one that the client requested.
    Unknown,
    /// The offer of shared frames is malformed.
    Offer(String),
    /// A shared buffer does not exist: its number, how many there are.
    Buffer(u32, u32),
    /// An update names two shared buffers: the second, the first.
    SecondBuffer(u32, u32),
    /// The shared frames and the screen differ in width and height.
    FrameSize((u16, u16), (u16, u16)),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutsideFramebuffer(w, h) => write!(f, "rect outside the {w}x{h} framebuffer"),
            Self::SourceOutside(x, y) => write!(f, "copy source {x},{y} outside the framebuffer"),
            Self::SubrectOutside => f.write_str("subrect outside its rect"),
            Self::TooLong(n, most) => write!(f, "{n} bytes announced, the limit is {most}"),
            Self::PaletteIndex(i, n) => write!(f, "palette index {i}, palette has {n}"),
            Self::Reserved(what, n) => write!(f, "{what} {n} does not exist"),
            Self::Run(n, left) => write!(f, "run of {n} pixels, {left} left"),
            Self::Short(want, got) => write!(f, "{got} bytes of data, {want} needed"),
            Self::Excess => f.write_str("data after the last pixel"),
            Self::Zlib => f.write_str("broken zlib stream"),
            Self::Jpeg(text) => write!(f, "broken jpeg: {text}"),
            Self::JpegSize(w, h) => write!(f, "jpeg of {w}x{h} pixels"),
            Self::Cursor(w, h) => write!(f, "cursor of {w}x{h} pixels"),
            Self::Hotspot(x, y) => write!(f, "hotspot {x},{y} outside its cursor"),
            Self::Limit(what, size, limit) => write!(f, "{what} of {size}, the limit is {limit}"),
            Self::Screen(text) => f.write_str(text),
            Self::Unknown => f.write_str("encoding was not requested"),
            Self::Offer(text) => write!(f, "broken offer of shared frames: {text}"),
            Self::Buffer(n, count) => write!(f, "shared buffer {n}, there are {count}"),
            Self::SecondBuffer(n, first) => write!(f, "shared buffer {n} in an update of buffer {first}"),
            Self::FrameSize((w, h), (width, height)) => {
                write!(f, "shared frames of {w}x{h} pixels on a screen of {width}x{height}")
            }
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRfb(text) => write!(f, "not an RFB server, it sent {text:?}"),
            Self::Version(major, minor) => write!(f, "RFB {major}.{minor} is older than 3.3"),
            Self::Policy(text) | Self::Protocol(text) => f.write_str(text),
            Self::Refused(text) => write!(f, "the server refused the connection: {text}"),
            Self::AuthFailed(text) => write!(f, "authentication failed: {text}"),
            Self::TooManyFailures(text) => write!(f, "locked out for a while: {text}"),
            Self::Limit { what, size, limit } => write!(f, "{what} of {size}, the limit is {limit}"),
            Self::Decode { number, rect: Rect { x, y, width, height }, encoding, offset, reason } => {
                write!(
                    f,
                    "rect {number} ({x}, {y}, {width}x{height}, encoding {encoding}), offset {offset}: {reason}"
                )
            }
        }
    }
}

impl std::error::Error for Error {}

impl Error {
    /// Convert an error about the header of a rect.
    pub(crate) fn in_rect(self, number: u32, rect: Rect, encoding: i32) -> Self {
        let reason = match self {
            Self::Limit { what, size, limit } => Reason::Limit(what, size, limit),
            other => Reason::Screen(other.to_string()),
        };
        reason.at(0).into_error(number, rect, encoding)
    }
}

/// A reason and its offset in the rect's payload. It becomes `Error::Decode`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub offset: usize,
    pub reason: Reason,
}

impl Reason {
    pub(crate) const fn at(self, offset: usize) -> Fault {
        Fault { offset, reason: self }
    }
}

impl Fault {
    pub(crate) fn into_error(self, number: u32, rect: Rect, encoding: i32) -> Error {
        Error::Decode { number, rect, encoding, offset: self.offset, reason: self.reason }
    }
}

/// Decode text from the server as UTF-8 or Latin-1, and replace the characters that are unsafe in logs and terminals.
pub(crate) fn clean_text(bytes: &[u8]) -> String {
    let text = String::from_utf8(bytes.to_vec())
        .unwrap_or_else(|_| bytes.iter().map(|&byte| char::from(byte)).collect());
    text.chars()
        .map(|c| if c.is_control() || is_format(c) { char::REPLACEMENT_CHARACTER } else { c })
        .collect()
}

/// Whether a character ends a line, changes the direction of text or is invisible. `rewarder/text.py` has the same list.
const fn is_format(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'
            | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_in_hostile_text_are_replaced() {
        assert_eq!(clean_text(b"\x1b[31mred\x07\n"), "\u{fffd}[31mred\u{fffd}\u{fffd}");
        assert_eq!(clean_text("a\u{202e}b\u{2028}".as_bytes()), "a\u{fffd}b\u{fffd}");
        assert_eq!(clean_text(&[0xe9]), "\u{e9}");
    }
}
