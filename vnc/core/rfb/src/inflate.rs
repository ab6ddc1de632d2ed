//! One zlib stream over many rects, bounded by what the rect can need.

use crate::error::Reason;

/// A zlib stream that lives on between rects.
#[derive(Default)]
pub(crate) struct Inflater(inflate::Inflater);

impl Inflater {
    /// The server starts this stream anew.
    pub fn reset(&mut self) {
        self.0.reset();
    }

    /// Inflate `input` to exactly `size` bytes.
    pub fn exact(&mut self, input: &[u8], size: usize) -> Result<&[u8], Reason> {
        let pixels = self.at_most(input, size)?;
        if pixels.len() < size { Err(Reason::Short(size, pixels.len())) } else { Ok(pixels) }
    }

    /// Inflate all of `input`, which may give `most` bytes and no more.
    pub fn at_most(&mut self, input: &[u8], most: usize) -> Result<&[u8], Reason> {
        self.0.inflate(input, most).map_err(|error| match error {
            inflate::Error::Corrupt => Reason::Zlib,
            inflate::Error::TooMuch => Reason::Excess(1),
        })
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

    #[test]
    fn streams_of_another_size_are_refused() {
        let packed = deflate(&[1; 10]);
        assert_eq!(Inflater::default().exact(&packed, 10), Ok(&[1; 10][..]));
        assert_eq!(Inflater::default().exact(&packed, 20), Err(Reason::Short(20, 10)));
        assert_eq!(Inflater::default().exact(&packed, 9), Err(Reason::Excess(1)));
        assert_eq!(Inflater::default().exact(&[0xff; 20], 20), Err(Reason::Zlib));
    }

    #[test]
    fn streams_of_unknown_size_are_bounded() {
        let packed = deflate(&vec![3; 200_000]);
        assert_eq!(Inflater::default().at_most(&packed, 300_000), Ok(&vec![3; 200_000][..]));
        assert_eq!(Inflater::default().at_most(&packed, 199_999), Err(Reason::Excess(1)));
    }
}
