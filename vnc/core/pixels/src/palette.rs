//! Palettes, and rows of packed palette indices.

use crate::Rgb;
use crate::level::Level;

/// A palette of up to 256 colours.
pub struct Palette {
    /// The colours as 32-bit words with R in the lowest byte. INVARIANT: 256 entries, so that every byte is an index.
    pub(crate) words: [u32; 256],
    size: usize,
}

/// The bits of one index. The highest bits of a byte are the leftmost pixel, and each row begins with a new byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Eight indices a byte.
    One = 1,
    /// Four indices a byte.
    Two = 2,
    /// Two indices a byte.
    Four = 4,
    /// One index a byte.
    Eight = 8,
}

impl Depth {
    /// Return how many bytes a row of `width` indices has.
    #[must_use]
    pub const fn row_bytes(self, width: usize) -> usize {
        (width * self as usize).div_ceil(8)
    }
}

impl Palette {
    /// Return the palette of the R G B triples in `colours`, of which at most 256 are used.
    #[must_use]
    pub fn new(colours: &[u8]) -> Self {
        let mut words = [0; 256];
        for (entry, &colour) in words.iter_mut().zip(colours.as_chunks::<3>().0) {
            *entry = word(colour);
        }
        Self { words, size: colours.len() / 3 }
    }

    /// The number of colours.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.size
    }

    /// Return the colour of an index, or black if the index is not in the palette.
    #[inline]
    #[must_use]
    pub fn rgb(&self, index: u8) -> Rgb {
        let [r, g, b, _] = self.words[usize::from(index)].to_le_bytes();
        [r, g, b]
    }

    /// Return the largest of these indices if it is not in the palette.
    #[must_use]
    pub fn stray(&self, indices: &[u8]) -> Option<u8> {
        let most = indices.iter().fold(0, |most, &index| index.max(most));
        (usize::from(most) >= self.size && !indices.is_empty()).then_some(most)
    }

    /// Convert rows of packed indices to rows of R G B pixels. A target row determines how many pixels are converted.
    ///
    /// An index that is not in the palette gives an unspecified colour; see `stray`.
    ///
    /// # Panics
    /// If a row has fewer indices than its target row has pixels.
    pub fn expand<'a>(&self, depth: Depth, rows: impl Iterator<Item = (&'a [u8], &'a mut [u8])>) {
        let rows = rows.inspect(|(packed, row)| {
            let width = row.len() / 3;
            assert!(packed.len() >= depth.row_bytes(width), "too few indices for {width} pixels");
        });
        Level::best().expand(self, depth, rows);
    }
}

/// Return a colour as a 32-bit word with R in the lowest byte.
pub(crate) const fn word([r, g, b]: Rgb) -> u32 {
    u32::from_le_bytes([r, g, b, 0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "too few indices for 65 pixels")]
    fn a_row_with_too_few_indices_panics() {
        Palette::new(&[0; 6]).expand(Depth::One, std::iter::once((&[0; 8][..], &mut [0; 65 * 3][..])));
    }

    #[test]
    fn stray_indices_are_found() {
        let palette = Palette::new(&[0; 9]);
        assert_eq!(palette.stray(&[0, 1, 2]), None);
        assert_eq!(palette.stray(&[]), None);
        assert_eq!(palette.stray(&[0, 3, 2, 9]), Some(9));
    }
}
