//! A zlib stream that continues over many rects. Each rect's data is inflated in pieces, and to its exact size.

use crate::error::Reason;

/// A zlib stream that continues from rect to rect.
#[derive(Default)]
pub(crate) struct Inflater(inflate::Inflater);

impl Inflater {
    /// Start a new stream.
    pub fn reset(&mut self) {
        self.0.reset();
    }

    /// Continue with `input`, the compressed data of one rect.
    pub fn part<'a>(&'a mut self, input: &'a [u8]) -> Part<'a> {
        Part { output: self.0.part(input), offset: 0, lent: 0 }
    }
}

/// The inflated data of one rect.
pub(crate) struct Part<'a> {
    output: inflate::Part<'a>,
    /// The number of consumed bytes, and of those that `take` returned last.
    offset: usize,
    lent: usize,
}

impl Part<'_> {
    /// The number of consumed bytes.
    #[inline]
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// Return the bytes that are not consumed: at least `size`, or all that remain.
    #[inline]
    pub fn fill(&mut self, size: usize) -> Result<&[u8], Reason> {
        self.output.fill(size).map_err(|inflate::Corrupt| Reason::Zlib)
    }

    /// Mark `count` bytes as consumed.
    #[inline]
    pub fn consume(&mut self, count: usize) {
        self.output.consume(count);
        self.offset += count;
    }

    /// Return the next `size` bytes of the `total` that the rect needs. The next call consumes them.
    pub fn take(&mut self, size: usize, total: usize) -> Result<&[u8], Reason> {
        let lent = std::mem::replace(&mut self.lent, size);
        self.consume(lent);
        let offset = self.offset;
        let bytes = self.fill(size)?;
        bytes.get(..size).ok_or(Reason::Short(total, offset + bytes.len()))
    }

    /// Inflate the remaining input, which must not give any more bytes.
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

    /// Take `total` bytes in pieces of `piece` bytes, and finish.
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
    fn data_of_another_size_is_refused() {
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
