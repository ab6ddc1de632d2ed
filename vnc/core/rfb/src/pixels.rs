//! The hot loops that turn pixels of the wire into RGB rows.

use crate::brush::Rgb;

/// A palette as 32-bit words, R in the lowest byte; 256 entries, so that a byte always finds one.
pub(crate) struct Palette {
    words: [u32; 256],
    pub size: usize,
}

const fn word([r, g, b]: Rgb) -> u32 {
    u32::from_le_bytes([r, g, b, 0])
}

/// Four pixels held in the low 24 bits of four words, as 12 bytes.
#[inline]
fn join([a, b, c, d]: [u32; 4]) -> [u8; 12] {
    let mut out = [0; 12];
    out[..4].copy_from_slice(&(a | b << 24).to_le_bytes());
    out[4..8].copy_from_slice(&(b >> 8 | c << 16).to_le_bytes());
    out[8..].copy_from_slice(&(c >> 16 | d << 8).to_le_bytes());
    out
}

/// R G B X to R G B.
#[inline]
pub(crate) fn drop_padding(source: &[u8], row: &mut [u8]) {
    let (fours, rest) = source.as_chunks::<16>();
    let (targets, tail) = row.as_chunks_mut::<12>();
    for (four, target) in fours.iter().zip(targets) {
        let (words, _) = four.as_chunks::<4>();
        *target = join([0, 1, 2, 3].map(|i| u32::from_le_bytes(words[i]) & 0x00ff_ffff));
    }
    for (pixel, target) in rest.chunks_exact(4).zip(tail.chunks_exact_mut(3)) {
        target.copy_from_slice(&pixel[..3]);
    }
}

impl Palette {
    /// A palette of the R G B triples in `colours`; at most 256 of them.
    pub fn new(colours: &[u8]) -> Self {
        let mut words = [0; 256];
        for (entry, colour) in words.iter_mut().zip(colours.chunks_exact(3)) {
            *entry = word([colour[0], colour[1], colour[2]]);
        }
        Self { words, size: colours.len() / 3 }
    }

    /// The colour of an index; indices are checked by the caller.
    #[inline]
    pub fn rgb(&self, index: u8) -> Rgb {
        let [r, g, b, _] = self.words[usize::from(index)].to_le_bytes();
        [r, g, b]
    }

    /// The first index that is not in the palette, with its position.
    pub fn stray(&self, indices: &[u8]) -> Option<(usize, u8)> {
        let size = self.size;
        if indices.iter().fold(0, |most, &index| index.max(most)) as usize >= size {
            return indices.iter().copied().enumerate().find(|&(_, index)| usize::from(index) >= size);
        }
        None
    }

    /// One index a byte.
    #[inline]
    pub fn expand_bytes(&self, indices: &[u8], row: &mut [u8]) {
        let (fours, rest) = indices.as_chunks::<4>();
        let (targets, tail) = row.as_chunks_mut::<12>();
        for (four, target) in fours.iter().zip(targets) {
            *target = join(four.map(|index| self.words[usize::from(index)]));
        }
        for (&index, target) in rest.iter().zip(tail.chunks_exact_mut(3)) {
            target.copy_from_slice(&self.rgb(index));
        }
    }

    /// Two indices a byte, the left one in the high bits.
    #[inline]
    pub fn expand_nibbles(&self, packed: &[u8], row: &mut [u8]) {
        let (targets, tail) = row.as_chunks_mut::<12>();
        let (pairs, _) = packed.as_chunks::<2>();
        let done = targets.len().min(pairs.len());
        for (&[a, b], target) in pairs.iter().zip(targets) {
            *target = join([a >> 4, a & 15, b >> 4, b & 15].map(|index| self.words[usize::from(index)]));
        }
        for (i, target) in tail.chunks_exact_mut(3).enumerate() {
            let index = packed[2 * done + i / 2] >> (4 - 4 * (i & 1)) & 15;
            target.copy_from_slice(&self.rgb(index));
        }
    }

    /// Four indices a byte.
    #[inline]
    pub fn expand_pairs(&self, packed: &[u8], row: &mut [u8]) {
        let (targets, tail) = row.as_chunks_mut::<12>();
        let done = targets.len();
        for (&byte, target) in packed.iter().zip(targets) {
            *target = join([6, 4, 2, 0].map(|shift| self.words[usize::from(byte >> shift & 3)]));
        }
        for (i, target) in tail.chunks_exact_mut(3).enumerate() {
            target.copy_from_slice(&self.rgb(packed[done] >> (6 - 2 * i) & 3));
        }
    }

    /// Twelve bytes for each four bits of a two-colour bitmap.
    pub fn bit_table(&self) -> BitTable {
        let mut table = [[0; 12]; 16];
        for (bits, entry) in table.iter_mut().enumerate() {
            *entry = join([3, 2, 1, 0].map(|shift| self.words[bits >> shift & 1]));
        }
        BitTable(table)
    }
}

/// See `Palette::bit_table`.
pub(crate) struct BitTable([[u8; 12]; 16]);

impl BitTable {
    /// Eight indices a byte, the leftmost in the highest bit.
    #[inline]
    pub fn expand(&self, packed: &[u8], row: &mut [u8]) {
        let (targets, tail) = row.as_chunks_mut::<24>();
        let done = targets.len();
        for (&byte, target) in packed.iter().zip(targets) {
            target[..12].copy_from_slice(&self.0[usize::from(byte >> 4)]);
            target[12..].copy_from_slice(&self.0[usize::from(byte & 15)]);
        }
        if !tail.is_empty() {
            let byte = packed[done];
            let mut last = [0; 24];
            last[..12].copy_from_slice(&self.0[usize::from(byte >> 4)]);
            last[12..].copy_from_slice(&self.0[usize::from(byte & 15)]);
            tail.copy_from_slice(&last[..tail.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Indices packed `bits` each, the row padded to a byte.
    fn pack(indices: &[u8], bits: usize) -> Vec<u8> {
        let mut packed = vec![0; (indices.len() * bits).div_ceil(8)];
        for (i, index) in indices.iter().enumerate() {
            packed[i * bits / 8] |= index << (8 - bits - i * bits % 8);
        }
        packed
    }

    proptest! {
        #[test]
        fn every_width_expands_to_the_palette_colours(
            colours in proptest::collection::vec(any::<u8>(), 48..=48),
            indices in proptest::collection::vec(0..16_u8, 0..70),
        ) {
            let palette = Palette::new(&colours);
            for bits in [1, 2, 4, 8_usize] {
                let indices: Vec<u8> = indices.iter().map(|i| i & ((1_u16 << bits) - 1) as u8).collect();
                let expected: Vec<u8> = indices.iter().flat_map(|&i| palette.rgb(i)).collect();
                let mut row = vec![0; expected.len()];
                let packed = pack(&indices, bits);
                match bits {
                    1 => palette.bit_table().expand(&packed, &mut row),
                    2 => palette.expand_pairs(&packed, &mut row),
                    4 => palette.expand_nibbles(&packed, &mut row),
                    _ => palette.expand_bytes(&packed, &mut row),
                }
                prop_assert_eq!(&row, &expected);
            }
        }

        #[test]
        fn padding_is_dropped(pixels in proptest::collection::vec(any::<[u8; 4]>(), 0..40)) {
            let mut row = vec![0; pixels.len() * 3];
            drop_padding(pixels.as_flattened(), &mut row);
            let expected: Vec<u8> = pixels.iter().flat_map(|p| [p[0], p[1], p[2]]).collect();
            prop_assert_eq!(row, expected);
        }
    }

    #[test]
    fn stray_indices_are_found() {
        let palette = Palette::new(&[0; 9]);
        assert_eq!(palette.stray(&[0, 1, 2]), None);
        assert_eq!(palette.stray(&[0, 3, 2, 9]), Some((1, 3)));
    }
}
