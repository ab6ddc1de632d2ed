//! One colour, repeated, so that rows are painted with wide stores.

use pixels::Rgb;

/// Sixteen pixels of one colour.
pub(crate) struct Brush(pub [u8; 48]);

impl Brush {
    #[inline]
    pub fn new(colour: Rgb) -> Self {
        let Dab(dab) = Dab::new(colour);
        let mut pattern = [0; 48];
        for four in pattern.as_chunks_mut::<12>().0 {
            *four = dab;
        }
        Self(pattern)
    }

    #[inline]
    pub fn paint(&self, row: &mut [u8]) {
        let (chunks, rest) = row.as_chunks_mut::<48>();
        for chunk in chunks {
            *chunk = self.0;
        }
        for pixel in rest.as_chunks_mut::<3>().0 {
            *pixel = [self.0[0], self.0[1], self.0[2]];
        }
    }
}

/// Four pixels of one colour, for the short rows of subrects and runs.
#[derive(Clone, Copy)]
pub(crate) struct Dab(pub [u8; 12]);

impl Dab {
    #[inline]
    pub const fn new([r, g, b]: Rgb) -> Self {
        Self([r, g, b, r, g, b, r, g, b, r, g, b])
    }
}
