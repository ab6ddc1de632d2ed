//! What can go wrong with a peer, as values that say where.
//!
//! ```text
//! Error
//! ├── NotRfb, Version            not a server we can speak to
//! ├── Policy, Refused, AuthFailed, TooManyFailures    nobody may log in like this
//! ├── Protocol, Decode           the peer broke RFB
//! └── Limit                      it announced more than our `Limits`
//! ```

use std::fmt;

use crate::geometry::Rect;

/// Why a connection is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The first bytes are no RFB greeting.
    NotRfb(String),
    /// A greeting older than 3.3.
    Version(u16, u16),
    /// Our policy refuses what the server offers.
    Policy(String),
    /// The server refused the connection, with its reason.
    Refused(String),
    /// The server refused our credentials, with its reason where it gave one.
    AuthFailed(String),
    /// The server has locked this address out for a while.
    TooManyFailures(String),
    /// Bytes that are not RFB.
    Protocol(String),
    /// Something larger than our limits.
    Limit {
        /// What was announced.
        what: &'static str,
        /// Its size.
        size: u64,
        /// The most we take.
        limit: u64,
    },
    /// A rect that cannot be decoded.
    Decode {
        /// The rect's place in its update, from 0.
        number: u32,
        /// The rect's header.
        rect: Rect,
        /// Its encoding number.
        encoding: i32,
        /// Bytes from the start of the rect's payload to the fault.
        offset: usize,
        /// What is wrong there.
        reason: Reason,
    },
}

/// What is wrong inside a rect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Not inside the framebuffer of this size.
    OutsideFramebuffer(u16, u16),
    /// The copy source is not inside the framebuffer.
    SourceOutside(u16, u16),
    /// A subrect is not inside its rect or tile.
    SubrectOutside,
    /// More payload announced than the rect can honestly need.
    TooLong(u64, u64),
    /// An index beyond the palette.
    PaletteIndex(u32, u32),
    /// A palette of this size is not allowed here.
    PaletteSize(u32),
    /// A sub-encoding, filter or compression type that does not exist.
    Reserved(&'static str, u32),
    /// A run longer than what is left of its tile.
    Run(usize, usize),
    /// The inflated data ends early: wanted, got.
    Short(usize, usize),
    /// The inflated data goes on after the last pixel.
    Excess,
    /// The zlib stream is broken or has ended.
    Zlib,
    /// The JPEG decoder's complaint.
    Jpeg(String),
    /// The JPEG has another size than its rect.
    JpegSize(usize, usize),
    /// A cursor larger than the limit.
    Cursor(u16, u16),
    /// A cursor that does not point at a pixel of its own.
    Hotspot(u16, u16),
    /// Larger than our limits: what, its size, the most we take.
    Limit(&'static str, u64, u64),
    /// A new size that no screen has.
    Screen(String),
    /// An encoding number we did not ask for.
    Unknown,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutsideFramebuffer(w, h) => write!(f, "rect outside the {w}x{h} framebuffer"),
            Self::SourceOutside(x, y) => write!(f, "copy source {x},{y} outside the framebuffer"),
            Self::SubrectOutside => f.write_str("subrect outside its rect"),
            Self::TooLong(n, most) => write!(f, "{n} bytes announced, the limit is {most}"),
            Self::PaletteIndex(i, n) => write!(f, "palette index {i}, palette has {n}"),
            Self::PaletteSize(n) => write!(f, "palette of {n} colours"),
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
    /// The same about the header of a rect.
    pub(crate) fn in_rect(self, number: u32, rect: Rect, encoding: i32) -> Self {
        let reason = match self {
            Self::Limit { what, size, limit } => Reason::Limit(what, size, limit),
            other => Reason::Screen(other.to_string()),
        };
        reason.at(0).into_error(number, rect, encoding)
    }
}

/// A reason and where in the rect's payload it was found; becomes `Error::Decode`.
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

/// Text from the wire made safe for logs and terminals: Latin-1 or UTF-8, each harmful character replaced.
pub(crate) fn clean_text(bytes: &[u8]) -> String {
    let text = String::from_utf8(bytes.to_vec())
        .unwrap_or_else(|_| bytes.iter().map(|&byte| char::from(byte)).collect());
    text.chars()
        .map(|c| if c.is_control() || is_format(c) { char::REPLACEMENT_CHARACTER } else { c })
        .collect()
}

/// Characters that end lines, reorder what follows them or are not to be seen; `rewarder/text.py` has the same.
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
