//! Every level that this processor has draws the pixels that plain arithmetic gives.

use std::io::Write;
use std::iter::once;
use std::sync::Once;

use proptest::prelude::*;

use crate::canvas::{Canvas, Subrects};
use crate::frame::{TILE, TILE_BYTES};
use crate::level::Level;
use crate::palette::{Depth, Palette};

/// Pixels in a row of the screen that tiles are drawn on.
const WIDE: usize = 20;

/// Return the levels of this processor, and print their names once, past the capture of the test harness.
fn levels() -> Vec<Level> {
    static PRINTED: Once = Once::new();
    let mut levels = vec![Level::PLAIN, Level::best()];
    levels.dedup();
    PRINTED.call_once(|| {
        let names: Vec<_> = levels.iter().map(|level| format!("{:?}", level.set())).collect();
        let _ = writeln!(std::io::stderr(), "kernels tested: {}", names.join(", "));
    });
    levels
}

/// Pack indices of `bits` bits, and pad the last byte.
fn pack(indices: &[u8], bits: usize) -> Vec<u8> {
    let mut packed = vec![0; (indices.len() * bits).div_ceil(8)];
    for (i, index) in indices.iter().enumerate() {
        packed[i * bits / 8] |= index << (8 - bits - i * bits % 8);
    }
    packed
}

/// Return what `draw` returns, and the screen, filled with nines before, that it drew the tile on.
fn drawn<T>(width: usize, height: usize, draw: impl FnOnce(Canvas<'_>) -> T) -> (T, Vec<u8>) {
    let mut pixels = vec![9; WIDE * 3 * (height + 1)];
    let result = draw(Canvas::new(&mut pixels, WIDE * 3, width, height));
    (result, pixels)
}

fn subrects() -> impl Strategy<Value = Vec<[u8; 6]>> {
    proptest::collection::vec(any::<[u8; 6]>(), 0..100)
}

/// Cut a subrect to the part that is inside the canvas.
fn fitting([r, g, b, x, place, size]: [u8; 6], width: u8, height: u8) -> [u8; 6] {
    let (left, top) = ((place >> 4) % width, (place & 15) % height);
    let (right, bottom) = ((size >> 4) % (width - left), (size & 15) % (height - top));
    [r, g, b, x, left << 4 | top, right << 4 | bottom]
}

/// A frame of `width` by `height` pixels, in which `touched` bytes differ from zero.
fn frame(width: usize, height: usize, touched: &[usize]) -> Vec<u8> {
    let mut frame = vec![0; width * height * 3];
    let size = frame.len();
    for at in touched {
        frame[at % size] = 1;
    }
    frame
}

proptest! {
    #[test]
    fn a_frame_is_copied_and_its_changes_are_found(
        width in 1..70_usize,
        height in 1..40_usize,
        touched in proptest::collection::vec(any::<usize>(), 0..5),
    ) {
        let (row, columns) = (width * 3, width.div_ceil(TILE));
        let stride = columns * TILE_BYTES;
        let frame = frame(width, height, &touched);
        let before = vec![0; stride * height.next_multiple_of(TILE)];
        let mut expected = vec![false; columns * height.div_ceil(TILE)];
        for at in frame.iter().enumerate().filter(|(_, byte)| **byte != 0).map(|(at, _)| at) {
            expected[at / row / TILE * columns + at % row / TILE_BYTES] = true;
        }
        for level in levels() {
            let mut after = before.clone();
            let mut changed = vec![false; expected.len()];
            level.copy_frame(&frame, row, &before, &mut after, &mut changed);
            prop_assert_eq!(&changed, &expected, "{:?}", level);
            let copied: Vec<u8> = after.chunks(stride).take(height).flat_map(|line| &line[..row]).copied().collect();
            prop_assert_eq!(&copied, &frame, "{:?}", level);
        }
    }

    #[test]
    fn padding_is_dropped(pixels in proptest::collection::vec(any::<[u8; 4]>(), 0..100)) {
        let expected: Vec<u8> = pixels.iter().flat_map(|p| [p[0], p[1], p[2]]).collect();
        for level in levels() {
            let mut row = vec![0; pixels.len() * 3];
            level.drop_padding(once((pixels.as_flattened(), &mut row[..])));
            prop_assert_eq!(&row, &expected, "{:?}", level);
            let swapped: Vec<_> = pixels.iter().map(|p| [p[2], p[1], p[0], p[3]]).collect();
            level.bgrx_to_rgb(once((swapped.as_flattened(), &mut row[..])));
            prop_assert_eq!(&row, &expected, "{:?}", level);
        }
    }

    #[test]
    fn indices_of_every_depth_expand_to_their_colours(
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
            for level in levels() {
                let mut row = vec![0; expected.len()];
                level.expand(&palette, depth, once((&packed[..], &mut row[..])));
                prop_assert_eq!(&row, &expected, "{:?}", level);
            }
        }
    }

    #[test]
    fn subrects_cover_the_same_pixels_as_on_a_plain_grid(
        subrects in subrects(), width in 1..17_u8, height in 1..17_u8, plain in any::<bool>(),
    ) {
        let subrects: Vec<_> = subrects.into_iter().map(|all| fitting(all, width, height)).collect();
        let places: Vec<_> = subrects.iter().map(|&[.., place, size]| [place, size]).collect();
        let (width, height) = (width.into(), height.into());
        let ((), expected) = drawn(width, height, |mut canvas| {
            canvas.rows().for_each(|row| row.as_chunks_mut().0.fill([7_u8, 8, 6]));
            for &[r, g, b, _, place, size] in &subrects {
                let colour = if plain { [1, 2, 3] } else { [r, g, b] };
                for row in canvas.rows().skip((place & 15).into()).take(usize::from(size & 15) + 1) {
                    let (x, more) = (usize::from(place >> 4), usize::from(size >> 4));
                    row.as_chunks_mut().0[x..=x + more].fill(colour);
                }
            }
        });
        let subrects = if plain { Subrects::Plain([1, 2, 3], &places) } else { Subrects::Coloured(&subrects) };
        for level in levels() {
            let draw = |mut canvas: Canvas<'_>| level.draw([7, 8, 6], subrects, &mut canvas);
            let (result, pixels) = drawn(width, height, draw);
            prop_assert_eq!(result, Ok(()), "{:?}", level);
            prop_assert_eq!(&pixels, &expected, "{:?}", level);
        }
    }

    #[test]
    fn the_first_subrect_outside_the_canvas_is_reported(
        subrects in subrects(), width in 1..17_u8, height in 1..17_u8, fine in 0..100_usize,
    ) {
        let cut = |(i, all)| if i < fine { fitting(all, width, height) } else { all };
        let subrects: Vec<_> = subrects.into_iter().enumerate().map(cut).collect();
        let places: Vec<_> = subrects.iter().map(|&[.., place, size]| [place, size]).collect();
        let outside = |&[place, size]: &[u8; 2]| {
            (place >> 4) + (size >> 4) >= width || (place & 15) + (size & 15) >= height
        };
        let expected = places.iter().position(outside).map_or(Ok(()), Err);
        for level in levels() {
            for subrects in [Subrects::Plain([0; 3], &places), Subrects::Coloured(&subrects)] {
                let draw = |mut canvas: Canvas<'_>| level.draw([0; 3], subrects, &mut canvas);
                prop_assert_eq!(drawn(width.into(), height.into(), draw).0, expected, "{:?}", level);
            }
        }
    }

    #[test]
    fn tiles_of_pixels_are_copied(
        pixels in any::<[[u8; 16]; 64]>(), width in 1..17_usize, height in 1..17_usize,
    ) {
        let pixels = &pixels.as_flattened()[..width * height * 4];
        let ((), expected) = drawn(width, height, |mut canvas| {
            for (row, source) in canvas.rows().zip(pixels.chunks(width * 4)) {
                for (pixel, &[r, g, b, _]) in row.as_chunks_mut().0.iter_mut().zip(source.as_chunks().0) {
                    *pixel = [r, g, b];
                }
            }
        });
        for level in levels() {
            let copy = |mut canvas: Canvas<'_>| level.copy(pixels, &mut canvas);
            prop_assert_eq!(&drawn(width, height, copy).1, &expected, "{:?}", level);
        }
    }
}
