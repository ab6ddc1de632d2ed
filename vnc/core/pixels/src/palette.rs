//! Palettes, and rows of indices into them.

use crate::{Rgb, plain};
#[cfg(target_arch = "x86_64")]
use crate::{avx2, vbmi};

/// A palette as 32-bit words, R in the lowest byte; 256 entries, so that a byte always finds one.
pub struct Palette {
    pub(crate) words: [u32; 256],
    size: usize,
}

/// Bits of an index; the leftmost pixel has the highest bits of a byte, and each row begins with a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Eight indices a byte.
    One = 1,
    /// Four.
    Two = 2,
    /// Two.
    Four = 4,
    /// One.
    Eight = 8,
}

impl Depth {
    /// The bytes of a row of `width` indices.
    #[must_use]
    pub const fn row_bytes(self, width: usize) -> usize {
        (width * self as usize).div_ceil(8)
    }
}

impl Palette {
    /// A palette of the R G B triples in `colours`; at most 256 of them.
    #[must_use]
    pub fn new(colours: &[u8]) -> Self {
        let mut words = [0; 256];
        for (entry, &[r, g, b]) in words.iter_mut().zip(colours.as_chunks::<3>().0) {
            *entry = u32::from_le_bytes([r, g, b, 0]);
        }
        Self { words, size: colours.len() / 3 }
    }

    /// How many colours it has.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.size
    }

    /// The colour of an index; black where there is none.
    #[inline]
    #[must_use]
    pub fn rgb(&self, index: u8) -> Rgb {
        let [r, g, b, _] = self.words[usize::from(index)].to_le_bytes();
        [r, g, b]
    }

    /// An index that is not in the palette, if there is one among these.
    #[must_use]
    pub fn stray(&self, indices: &[u8]) -> Option<u8> {
        let most = indices.iter().fold(0, |most, &index| index.max(most));
        (usize::from(most) >= self.size && !indices.is_empty()).then_some(most)
    }

    /// Draw rows: packed indices, and the R G B bytes that they become. A row is as long as its bytes say.
    ///
    /// An index that is not in the palette becomes any colour; see `stray`.
    ///
    /// # Panics
    /// If there are fewer indices than pixels.
    pub fn expand<'a>(&self, depth: Depth, rows: impl Iterator<Item = (&'a [u8], &'a mut [u8])>) {
        let rows = rows.inspect(|(packed, row)| {
            let width = row.len() / 3;
            assert!(packed.len() >= depth.row_bytes(width), "too few indices for {width} pixels");
        });
        #[cfg(target_arch = "x86_64")]
        #[allow(unsafe_code, reason = "the compiler cannot know the processor")]
        {
            if vbmi::available() {
                // SAFETY: the processor has what the function was compiled for.
                return unsafe { vbmi::expand(self, depth, rows) };
            }
            if avx2::palette::fits(self, depth) {
                // SAFETY: as above.
                return unsafe { avx2::palette::expand(self, depth, rows) };
            }
        }
        plain::expand(self, depth, rows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::iter::once;
    use proptest::prelude::*;

    /// Indices packed `bits` each, the row padded to a byte.
    fn pack(indices: &[u8], bits: usize) -> Vec<u8> {
        let mut packed = vec![0; (indices.len() * bits).div_ceil(8)];
        for (i, index) in indices.iter().enumerate() {
            packed[i * bits / 8] |= index << (8 - bits - i * bits % 8);
        }
        packed
    }

    type Expand = fn(&Palette, Depth, &[u8], &mut [u8]);

    /// All that this processor has for it.
    #[allow(unsafe_code, reason = "the compiler cannot know the processor")]
    fn expanders(palette: &Palette, depth: Depth) -> Vec<Expand> {
        let mut expanders: Vec<Expand> = vec![
            |palette, depth, packed, row| palette.expand(depth, once((packed, row))),
            |palette, depth, packed, row| plain::expand(palette, depth, once((packed, row))),
        ];
        #[cfg(target_arch = "x86_64")]
        if avx2::palette::fits(palette, depth) {
            expanders.push(|palette, depth, packed, row| {
                // SAFETY: it fits.
                unsafe { avx2::palette::expand(palette, depth, once((packed, row))) }
            });
        }
        expanders
    }

    proptest! {
        #[test]
        fn every_depth_expands_to_the_colours_on_every_processor(
            colours in proptest::collection::vec(any::<u8>(), 768..=768),
            size in prop_oneof![1..=16_usize, 1..=256_usize],
            indices in proptest::collection::vec(any::<u8>(), 0..300),
        ) {
            let palette = Palette::new(&colours[..size * 3]);
            for depth in [Depth::One, Depth::Two, Depth::Four, Depth::Eight] {
                let bits = depth as usize;
                let end = (1 << bits).min(size) as u16;
                let indices: Vec<u8> = indices.iter().map(|&i| (u16::from(i) % end) as u8).collect();
                let expected: Vec<u8> = indices.iter().flat_map(|&i| palette.rgb(i)).collect();
                let packed = pack(&indices, bits);
                prop_assert_eq!(packed.len(), depth.row_bytes(indices.len()));
                for expand in expanders(&palette, depth) {
                    let mut row = vec![0; expected.len()];
                    expand(&palette, depth, &packed, &mut row);
                    prop_assert_eq!(&row, &expected);
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "too few indices for 65 pixels")]
    fn a_row_of_too_few_indices_is_a_mistake() {
        Palette::new(&[0; 6]).expand(Depth::One, once((&[0; 8][..], &mut [0; 65 * 3][..])));
    }

    #[test]
    fn stray_indices_are_found() {
        let palette = Palette::new(&[0; 9]);
        assert_eq!(palette.stray(&[0, 1, 2]), None);
        assert_eq!(palette.stray(&[]), None);
        assert_eq!(palette.stray(&[0, 3, 2, 9]), Some(9));
    }
}
