//! zlib streams (RFC 1950, RFC 1951) as RFB servers send them: one stream over many rects, of which each part is complete
//! before it is inflated.
//!
//! This allows less code than in a general library, and more speed. Output is written directly behind its history, so it
//! is not copied into a window. A part that ends inside a symbol is rare, so those bytes may be copied. Output is inflated
//! on request in pieces of some hundred KiB, and a stream never stores more than that.

#![forbid(unsafe_code)]
#![allow(clippy::inline_always, reason = "one loop whose state must stay in registers")]

mod bits;
mod codes;
mod part;
mod symbols;
mod table;
mod window;

use bits::Bits;
use codes::Codes;
pub use part::Part;
use symbols::Stop;
pub use window::PIECE;
use window::Window;

/// The data is not a valid zlib stream, or continues after the end of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrupt;

/// A zlib stream. Its checksum is not verified: it is at the end of a stream, and those of RFB have no end.
#[derive(Default)]
pub struct Inflater {
    state: State,
    /// The current block is the last one.
    last: bool,
    codes: Option<Box<Codes>>,
    window: Window,
    /// The unused end of the last part, and how many bits of its first byte are used.
    rest: (Vec<u8>, u32),
}

#[derive(Clone, Copy, Default)]
enum State {
    #[default]
    Header,
    Block,
    /// The remaining bytes of a stored block.
    Stored(usize),
    Fixed,
    Dynamic,
    /// The remaining bytes of the checksum.
    Trailer(usize),
}

impl Inflater {
    /// Start a new stream.
    pub fn reset(&mut self) {
        (self.state, self.last) = (State::Header, false);
        self.window.clear();
        self.rest = (Vec::new(), 0);
    }

    /// Continue with the next part of the stream.
    pub fn part<'a>(&'a mut self, input: &'a [u8]) -> Part<'a> {
        Part::new(self, input)
    }

    /// Make one step; return false if there is no more input, or if no more output is requested.
    fn advance(&mut self, bits: &mut Bits<'_>) -> Result<bool, Corrupt> {
        let next = match self.state {
            State::Header => whole(bits, header),
            State::Block => whole(bits, |bits| self.block(bits)),
            State::Stored(left) => self.stored(bits, left),
            State::Fixed | State::Dynamic => self.symbols(bits),
            State::Trailer(left) => trailer(bits, left),
        };
        let Some(state) = next.transpose()? else { return Ok(false) };
        self.state = state;
        Ok(true)
    }

    /// RFC 1951 3.2.3.
    fn block(&mut self, bits: &mut Bits<'_>) -> Next {
        if self.last {
            bits.align();
            return Some(Ok(State::Trailer(4)));
        }
        let last = bits.take(1)? == 1;
        let state = match bits.take(2)? {
            0 => stored(bits)?,
            1 => Ok(State::Fixed),
            2 => self.codes.get_or_insert_default().read(bits)?.map(|()| State::Dynamic),
            _ => Err(Corrupt),
        };
        self.last = last;
        Some(state)
    }

    fn stored(&mut self, bits: &mut Bits<'_>, left: usize) -> Next {
        let bytes = bits.bytes(left.min(self.window.missing()));
        self.window.extend(bytes);
        self.state = State::Stored(left - bytes.len());
        (left == bytes.len()).then_some(Ok(State::Block))
    }

    fn symbols(&mut self, bits: &mut Bits<'_>) -> Next {
        let codes = match (self.state, &self.codes) {
            (State::Dynamic, Some(codes)) => codes,
            _ => Codes::fixed(),
        };
        loop {
            match symbols::inflate(codes, bits, self.window.make_room()?) {
                Ok(Stop::End) => return Some(Ok(State::Block)),
                Ok(Stop::Full) => {}
                Ok(Stop::Starved) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// The next state of a stream; `None` if its input is incomplete, or if no more output is requested.
type Next = Option<Result<State, Corrupt>>;

/// Read something completely, or consume nothing.
fn whole(bits: &mut Bits<'_>, read: impl FnOnce(&mut Bits<'_>) -> Next) -> Next {
    let mut ahead = bits.clone();
    let next = read(&mut ahead)?;
    *bits = ahead;
    Some(next)
}

/// RFC 1950 2.2: deflate, a window of at most 32 KiB, no dictionary.
fn header(bits: &mut Bits<'_>) -> Next {
    let (method, flags) = (bits.take(8)?, bits.take(8)?);
    let good =
        method & 15 == 8 && method >> 4 <= 7 && flags & 32 == 0 && (method << 8 | flags).is_multiple_of(31);
    Some(if good { Ok(State::Block) } else { Err(Corrupt) })
}

/// RFC 1951 3.2.4.
fn stored(bits: &mut Bits<'_>) -> Next {
    bits.align();
    let (length, complement) = (bits.take(16)?, bits.take(16)?);
    Some(if length ^ complement == 0xffff { Ok(State::Stored(length)) } else { Err(Corrupt) })
}

fn trailer(bits: &mut Bits<'_>, left: usize) -> Next {
    let count = bits.bytes(usize::MAX).len();
    match left.checked_sub(count) {
        None => Some(Err(Corrupt)),
        Some(_) if count == 0 => None,
        Some(left) => Some(Ok(State::Trailer(left))),
    }
}
