//! Pixels of the wire to RGB rows, with the widest instructions the processor has.
//!
//! Each loop is written twice: in `plain` for every processor, and for those of the last years in `avx2` and
//! `vbmi`, three to five times as fast. Which one runs is decided here; tests hold them to the same pixels.
#![allow(clippy::inline_always, reason = "what is not inlined is not compiled for the wider processor")]

#[cfg(target_arch = "x86_64")]
mod avx2;
mod palette;
mod plain;
mod tile;
#[cfg(target_arch = "x86_64")]
mod vbmi;
mod words;

pub use palette::{Depth, Palette};
pub use tile::{Canvas, Subrects, TileWriter};

/// One colour as it lies in a framebuffer.
pub type Rgb = [u8; 3];

/// R G B X to R G B, in rows: as many pixels as each has room for.
///
/// # Panics
/// If there are fewer.
#[inline]
pub fn drop_padding<'a>(rows: impl Iterator<Item = (&'a [u8], &'a mut [u8])>) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has what the function was compiled for.
        #[allow(unsafe_code, reason = "the compiler cannot know the processor")]
        return unsafe { avx2::drop_padding(rows) };
    }
    rows.for_each(|(source, row)| plain::drop_padding(source, row));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn padding_is_dropped(pixels in proptest::collection::vec(any::<[u8; 4]>(), 0..100)) {
            let expected: Vec<u8> = pixels.iter().flat_map(|p| [p[0], p[1], p[2]]).collect();
            let (source, mut row) = (pixels.as_flattened(), vec![0; pixels.len() * 3]);
            drop_padding(std::iter::once((source, &mut row[..])));
            prop_assert_eq!(&row, &expected);
            row.fill(0);
            plain::drop_padding(source, &mut row);
            prop_assert_eq!(&row, &expected);
        }
    }
}
