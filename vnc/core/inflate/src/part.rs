//! The output of one part of a stream, as it is asked for.

use crate::bits::Bits;
use crate::{Corrupt, Inflater};

/// More bytes than any one thing in a stream takes that has to be there as a whole: the codes of a block (RFC 1951 3.2.7).
const WHOLE: usize = 1 << 10;

/// Output of one part of a stream. A stream whose part was not finished, or failed, is of no use.
pub struct Part<'a> {
    stream: &'a mut Inflater,
    input: &'a [u8],
    /// What the part before could not use, and the beginning of `input`; or nothing.
    joined: Vec<u8>,
    /// How much of `input` is in `joined`.
    borrowed: usize,
    /// Bytes of `joined`, or else of `input`, that are used, and bits of the next one.
    used: (usize, u32),
    /// All input is used.
    dry: bool,
}

impl<'a> Part<'a> {
    pub(crate) fn new(stream: &'a mut Inflater, input: &'a [u8]) -> Self {
        let (mut joined, skip) = std::mem::take(&mut stream.rest);
        let borrowed = if joined.is_empty() { 0 } else { input.len().min(WHOLE) };
        joined.extend(&input[..borrowed]);
        Self { stream, input, joined, borrowed, used: (0, skip), dry: false }
    }

    /// Output that is not consumed: at least `size` bytes, or else all that the part gives.
    #[inline]
    pub fn fill(&mut self, size: usize) -> Result<&[u8], Corrupt> {
        if self.stream.window.pending().len() < size && !self.dry {
            self.inflate(size)?;
        }
        Ok(self.stream.window.pending())
    }

    /// `count` bytes of the output are done with.
    #[inline]
    pub fn consume(&mut self, count: usize) {
        self.stream.window.consume(count);
    }

    /// Use what is left of the input; returns whether all output had been consumed.
    pub fn finish(mut self) -> Result<bool, Corrupt> {
        if !self.fill(1)?.is_empty() {
            return Ok(false);
        }
        let input = if self.joined.is_empty() { self.input } else { &self.joined };
        self.stream.rest = (input[self.used.0..].to_vec(), self.used.1);
        Ok(true)
    }

    fn inflate(&mut self, size: usize) -> Result<(), Corrupt> {
        self.stream.window.aim(size);
        while self.stream.window.missing() > 0 {
            let input = if self.joined.is_empty() { self.input } else { &self.joined };
            let mut bits = Bits::new(&input[self.used.0..], self.used.1);
            while self.stream.advance(&mut bits)? {}
            let (unused, skip) = bits.rest();
            self.used = (input.len() - unused.len(), skip);
            if self.stream.window.missing() > 0 && !self.leave_joined() {
                self.dry = true;
                return Ok(());
            }
        }
        Ok(())
    }

    /// Go on in `input` itself, if what is unused lies in it; returns whether there was a change.
    fn leave_joined(&mut self) -> bool {
        if self.joined.is_empty() || self.joined.len() - self.used.0 > self.borrowed {
            return false;
        }
        let unused = self.joined.len() - self.used.0;
        self.used.0 = self.borrowed - unused;
        self.joined = Vec::new();
        true
    }
}
