//! One zlib stream over many rects, inflated piece by piece and to no more than the rect needs.

use crate::error::Reason;

/// A zlib stream that lives on between rects.
#[derive(Default)]
pub(crate) struct Inflater(inflate::Inflater);

impl Inflater {
    /// The server starts this stream anew.
    pub fn reset(&mut self) {
        self.0.reset();
    }

    /// Go on with `input`, the data of one rect.
    pub fn part<'a>(&'a mut self, input: &'a [u8]) -> Part<'a> {
        Part { output: self.0.part(input), offset: 0, lent: 0 }
    }
}

/// What the data of one rect inflates to.
pub(crate) struct Part<'a> {
    output: inflate::Part<'a>,
    /// Bytes that were consumed, and bytes that `take` has lent.
    offset: usize,
    lent: usize,
}

impl Part<'_> {
    /// Bytes that were consumed.
    #[inline]
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// Bytes that are not consumed: at least `size`, or else all there are.
    #[inline]
    pub fn fill(&mut self, size: usize) -> Result<&[u8], Reason> {
        self.output.fill(size).map_err(|inflate::Corrupt| Reason::Zlib)
    }

    /// `count` bytes are done with.
    #[inline]
    pub fn consume(&mut self, count: usize) {
        self.output.consume(count);
        self.offset += count;
    }

    /// The next `size` bytes of the `total` that the rect needs; they are consumed when more is asked for.
    pub fn take(&mut self, size: usize, total: usize) -> Result<&[u8], Reason> {
        let lent = std::mem::replace(&mut self.lent, size);
        self.consume(lent);
        let offset = self.offset;
        let bytes = self.fill(size)?;
        bytes.get(..size).ok_or(Reason::Short(total, offset + bytes.len()))
    }

    /// Use what is left of the input; it must not give any more.
    pub fn finish(mut self) -> Result<(), Reason> {
        self.consume(self.lent);
        match self.output.finish() {
            Ok(true) => Ok(()),
            Ok(false) => Err(Reason::Excess),
            Err(inflate::Corrupt) => Err(Reason::Zlib),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compress, Compression, FlushCompress};

    fn deflate(data: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(data.len() + 1024);
        Compress::new(Compression::best(), true).compress_vec(data, &mut out, FlushCompress::Sync).unwrap();
        out
    }

    /// What becomes of data from which so many bytes are taken, in pieces of this size.
    fn taken(packed: &[u8], total: usize, piece: usize) -> Result<Vec<u8>, Reason> {
        let mut inflater = Inflater::default();
        let mut part = inflater.part(packed);
        let mut out = Vec::new();
        while out.len() < total {
            out.extend(part.take(piece.min(total - out.len()), total)?);
        }
        part.finish().map(|()| out)
    }

    #[test]
    fn streams_of_another_size_are_refused() {
        let data: Vec<u8> = (0..1_000_000_u32).map(|i| (i >> 8) as u8).collect();
        let packed = deflate(&data);
        for piece in [1000, 300_000, 1_000_000] {
            assert_eq!(taken(&packed, 1_000_000, piece), Ok(data.clone()));
            assert_eq!(taken(&packed, 1_000_001, piece), Err(Reason::Short(1_000_001, 1_000_000)));
            assert_eq!(taken(&packed, 999_999, piece), Err(Reason::Excess));
        }
        assert_eq!(taken(&[0xff; 20], 20, 20), Err(Reason::Zlib));
    }
}
