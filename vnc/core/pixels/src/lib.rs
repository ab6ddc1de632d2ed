//! RFB pixels to RGB rows.
//!
//! `palette`, `canvas` and `frame` are the data, `damage` says which of it is new to a client, and `reduction` makes smaller pictures. `level` detects the instruction
//! sets of this processor, and `kernels` contains the loops: each one in plain Rust for every processor, and again with
//! AVX2 or NEON instructions.
#![allow(clippy::inline_always, reason = "only inlined code is compiled with the caller's instruction set")]

mod canvas;
mod damage;
mod frame;
mod kernels;
mod level;
mod palette;
mod reduction;

pub use canvas::{Canvas, Subrects};
pub use damage::{Area, Damage};
pub use frame::{TILE, TILE_BYTES, copy_frame};
pub use palette::{Depth, Palette};
pub use reduction::{Part, Reduction};

use level::Level;

/// One colour: the bytes R, G, B, in the order of the framebuffer.
pub type Rgb = [u8; 3];

/// Convert rows of R G B X pixels to rows of R G B pixels. A target row determines how many pixels are converted.
///
/// # Panics
/// If a source row has fewer pixels than its target row.
#[inline]
pub fn drop_padding<'a>(rows: impl Iterator<Item = (&'a [u8], &'a mut [u8])>) {
    Level::best().drop_padding(rows);
}

/// Convert rows of B G R X pixels, as X servers keep them, to rows of R G B pixels.
///
/// # Panics
/// As `drop_padding`.
#[inline]
pub fn bgrx_to_rgb<'a>(rows: impl Iterator<Item = (&'a [u8], &'a mut [u8])>) {
    Level::best().bgrx_to_rgb(rows);
}
