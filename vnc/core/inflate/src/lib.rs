//! zlib streams (RFC 1950, RFC 1951) as RFB servers send them: one stream over many rects, each rect's part there as a
//! whole before it is inflated.
//!
//! That is simpler than what a general library does, and faster: output lies behind its own history, so that nothing is
//! copied into a window, and a part of the input that ends within a symbol is rare enough to be put aside.

#![forbid(unsafe_code)]
#![allow(clippy::inline_always, reason = "one loop whose state must stay in registers")]

mod bits;
mod codes;
mod symbols;
mod table;
mod window;

use bits::Bits;
use codes::Codes;
use symbols::Stop;
use window::Window;

/// Why a stream cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// It is no zlib stream, or goes on behind its end.
    Corrupt,
    /// There is more output than allowed.
    TooMuch,
}

/// A zlib stream. Its checksum, which comes with an end that RFB's streams do not have, is not verified.
#[derive(Default)]
pub struct Inflater {
    state: State,
    /// The present block is the last one.
    last: bool,
    codes: Option<Box<Codes>>,
    window: Window,
    /// Input that could not be used yet, and how many bits of it have been.
    rest: (Vec<u8>, u32),
}

#[derive(Clone, Copy, Default)]
enum State {
    #[default]
    Header,
    Block,
    /// So many bytes are yet to come as they are.
    Stored(usize),
    Fixed,
    Dynamic,
    /// So many bytes of checksum are yet to come.
    Trailer(usize),
}

impl Inflater {
    /// Begin a new stream.
    pub fn reset(&mut self) {
        (self.state, self.last) = (State::Header, false);
        self.window.clear();
        self.rest = (Vec::new(), 0);
    }

    /// Inflate all of `input`, which may give `most` bytes and no more; after an error the stream is of no use.
    pub fn inflate(&mut self, input: &[u8], most: usize) -> Result<&[u8], Error> {
        self.window.begin(most);
        let (mut joined, skip) = std::mem::take(&mut self.rest);
        let input = if joined.is_empty() {
            input
        } else {
            joined.extend(input);
            &joined
        };
        let mut bits = Bits::new(input, skip);
        while self.advance(&mut bits)? {}
        let (rest, skip) = bits.rest();
        self.rest = (rest.to_vec(), skip);
        self.window.output()
    }

    /// One part of the stream; false when no more of it is there.
    fn advance(&mut self, bits: &mut Bits<'_>) -> Result<bool, Error> {
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
            _ => Err(Error::Corrupt),
        };
        self.last = last;
        Some(state)
    }

    fn stored(&mut self, bits: &mut Bits<'_>, left: usize) -> Next {
        let bytes = bits.bytes(left);
        if let Err(error) = self.window.extend(bytes) {
            return Some(Err(error));
        }
        self.state = State::Stored(left - bytes.len());
        (left == bytes.len()).then_some(Ok(State::Block))
    }

    fn symbols(&mut self, bits: &mut Bits<'_>) -> Next {
        let codes = match (self.state, &self.codes) {
            (State::Dynamic, Some(codes)) => codes,
            _ => Codes::fixed(),
        };
        loop {
            let stop = self.window.make_room().and_then(|room| symbols::inflate(codes, bits, room));
            match stop {
                Ok(Stop::End) => return Some(Ok(State::Block)),
                Ok(Stop::Full) => {}
                Ok(Stop::Starved) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// What comes next in a stream; `None` when its input is not all there.
type Next = Option<Result<State, Error>>;

/// Read something whole, or nothing.
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
    Some(if good { Ok(State::Block) } else { Err(Error::Corrupt) })
}

/// RFC 1951 3.2.4.
fn stored(bits: &mut Bits<'_>) -> Next {
    bits.align();
    let (length, complement) = (bits.take(16)?, bits.take(16)?);
    Some(if length ^ complement == 0xffff { Ok(State::Stored(length)) } else { Err(Error::Corrupt) })
}

fn trailer(bits: &mut Bits<'_>, left: usize) -> Next {
    let count = bits.bytes(usize::MAX).len();
    match left.checked_sub(count) {
        None => Some(Err(Error::Corrupt)),
        Some(_) if count == 0 => None,
        Some(left) => Some(Ok(State::Trailer(left))),
    }
}
