//! One zlib stream over many rects, bounded by what the rect can need.

use flate2::{Decompress, FlushDecompress, Status};

use crate::error::Reason;

/// Where inflated bytes go; kept between rects so that its pages are touched once.
#[derive(Default)]
pub(crate) struct Scratch(Vec<u8>);

/// Enough for most rects; larger outputs double from here.
const FIRST_SIZE: usize = 16 << 10;

impl Scratch {
    /// A buffer of exactly `size` bytes with unspecified contents.
    pub fn sized(&mut self, size: usize) -> &mut [u8] {
        if self.0.len() < size {
            self.0.resize(size, 0);
        }
        &mut self.0[..size]
    }
}

/// A zlib stream that is created when first used and lives on between rects.
#[derive(Default)]
pub(crate) struct Inflater(Option<Decompress>);

impl Inflater {
    /// The server starts this stream anew.
    pub fn reset(&mut self) {
        if let Some(stream) = &mut self.0 {
            stream.reset(true);
        }
    }

    /// Inflate `input` to exactly `size` bytes.
    pub fn exact<'s>(
        &mut self,
        input: &[u8],
        size: usize,
        scratch: &'s mut Scratch,
    ) -> Result<&'s [u8], Reason> {
        scratch.sized(size + 1);
        let got = self.at_most(input, size, scratch)?.len();
        if got < size { Err(Reason::Short(size, got)) } else { Ok(&scratch.0[..size]) }
    }

    /// Inflate all of `input`, which may give `most` bytes and no more.
    pub fn at_most<'s>(
        &mut self,
        input: &[u8],
        most: usize,
        scratch: &'s mut Scratch,
    ) -> Result<&'s [u8], Reason> {
        let stream = self.0.get_or_insert_with(|| Decompress::new(true));
        let (mut read, mut written) = (0, 0);
        loop {
            // INVARIANT: one byte more than allowed is offered, so that excess shows itself and the
            // flush marker behind the last pixel is consumed.
            let end = scratch.0.len().clamp(FIRST_SIZE.min(most + 1), most + 1);
            let room = &mut scratch.sized(end)[written..];
            let (in_before, out_before) = (stream.total_in(), stream.total_out());
            let status =
                stream.decompress(&input[read..], room, FlushDecompress::Sync).map_err(|_| Reason::Zlib)?;
            let progress = (stream.total_in() - in_before) as usize;
            read += progress;
            let produced = (stream.total_out() - out_before) as usize;
            written += produced;
            if written > most {
                return Err(Reason::Excess(written - most));
            }
            if written == end {
                scratch.sized((2 * end).min(most + 1));
            } else if read == input.len() {
                return Ok(&scratch.0[..written]);
            } else if status == Status::StreamEnd || progress + produced == 0 {
                return Err(Reason::Zlib);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compress, Compression, FlushCompress};

    fn deflate(stream: &mut Compress, data: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(data.len() + 1024);
        stream.compress_vec(data, &mut out, FlushCompress::Sync).unwrap();
        out
    }

    #[test]
    fn a_stream_goes_on_between_rects() {
        let mut compress = Compress::new(Compression::default(), true);
        let (mut inflater, mut scratch) = (Inflater::default(), Scratch::default());
        for round in 0..5_u8 {
            let data: Vec<u8> = (0..50_000_u32).map(|i| (i % 251) as u8 ^ round).collect();
            let packed = deflate(&mut compress, &data);
            assert_eq!(inflater.exact(&packed, data.len(), &mut scratch).unwrap(), data);
        }
    }

    #[test]
    fn bombs_short_and_broken_streams_are_refused() {
        let (mut inflater, mut scratch) = (Inflater::default(), Scratch::default());
        let bomb = deflate(&mut Compress::new(Compression::best(), true), &vec![0; 64 << 20]);
        assert_eq!(inflater.at_most(&bomb, 1000, &mut scratch), Err(Reason::Excess(1)));
        assert!(scratch.0.len() <= FIRST_SIZE);

        let short = deflate(&mut Compress::new(Compression::best(), true), &[1; 10]);
        assert_eq!(Inflater::default().exact(&short, 20, &mut scratch), Err(Reason::Short(20, 10)));
        assert_eq!(Inflater::default().exact(&[0xff; 20], 20, &mut scratch), Err(Reason::Zlib));
        let mut finished = Vec::with_capacity(100);
        Compress::new(Compression::best(), true)
            .compress_vec(&[1; 10], &mut finished, FlushCompress::Finish)
            .unwrap();
        finished.extend([0; 10]);
        assert_eq!(Inflater::default().exact(&finished, 20, &mut scratch), Err(Reason::Zlib));
    }

    #[test]
    fn unknown_sizes_grow_up_to_the_bound() {
        let data = vec![3; 200_000];
        let packed = deflate(&mut Compress::new(Compression::best(), true), &data);
        let mut scratch = Scratch::default();
        assert_eq!(Inflater::default().at_most(&packed, 300_000, &mut scratch).unwrap(), data);
        assert_eq!(Inflater::default().at_most(&packed, 200_000, &mut scratch).unwrap(), data);
        assert_eq!(Inflater::default().at_most(&packed, 199_999, &mut scratch), Err(Reason::Excess(1)));
    }
}
