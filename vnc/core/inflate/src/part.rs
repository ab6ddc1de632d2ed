//! The output of one part of a stream, inflated on request.

use crate::bits::Bits;
use crate::{Corrupt, Inflater};

/// More bytes than the largest element that must be complete: the codes of a block (RFC 1951 3.2.7).
const WHOLE: usize = 1 << 10;

/// The output of one part of a stream. If a part fails or `finish` is not called, the stream can only be reset.
pub struct Part<'a> {
    stream: &'a mut Inflater,
    input: &'a [u8],
    /// The unused end of the part before and the start of `input`; or empty.
    joined: Vec<u8>,
    /// The number of bytes of `input` that are also in `joined`.
    borrowed: usize,
    /// The number of used bytes of `joined`, or of `input` if it is empty, and of used bits of the next byte.
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

    /// Return the output that is not consumed: at least `size` bytes, or all that remain of the part.
    #[inline]
    pub fn fill(&mut self, size: usize) -> Result<&[u8], Corrupt> {
        if self.stream.window.pending().len() < size && !self.dry {
            self.inflate(size)?;
        }
        Ok(self.stream.window.pending())
    }

    /// Mark `count` bytes of the output as consumed.
    #[inline]
    pub fn consume(&mut self, count: usize) {
        self.stream.window.consume(count);
    }

    /// Use the remaining input, and return whether all output was consumed.
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

    /// Continue in `input` itself if all unused bytes are in it; return whether this changed anything.
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
