//! Frames in buffers whose rows are padded to whole tiles.

use crate::level::Level;

/// The side of a tile in pixels.
pub const TILE: usize = 16;

/// The bytes of a row of a tile.
pub const TILE_BYTES: usize = TILE * 3;

/// Copy a frame from `frame` to `after`, and set the flag in `changed` of each tile in which it differs from `before`.
///
/// `frame` has rows of `row` bytes. The rows of the buffers `before` and `after` are padded to whole tiles; the padding
/// is neither copied nor compared. `changed` has a flag for each tile, row by row.
///
/// # Panics
/// If `row` is 0.
#[inline]
pub fn copy_frame(frame: &[u8], row: usize, before: &[u8], after: &mut [u8], changed: &mut [bool]) {
    Level::best().copy_frame(frame, row, before, after, changed);
}
