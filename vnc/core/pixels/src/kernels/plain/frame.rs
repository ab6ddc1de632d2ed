//! The comparison of frames while they are copied.

use crate::frame::{TILE, TILE_BYTES};

/// See `crate::copy_frame`.
#[inline(always)]
pub fn copy_frame(frame: &[u8], row: usize, before: &[u8], after: &mut [u8], changed: &mut [bool]) {
    let stride = row.next_multiple_of(TILE_BYTES);
    let bands = changed.chunks_exact_mut(stride / TILE_BYTES);
    let sources = frame.chunks(TILE * row).zip(before.chunks(TILE * stride));
    for ((changed, (sources, olds)), targets) in bands.zip(sources).zip(after.chunks_mut(TILE * stride)) {
        let rows = sources.chunks_exact(row).zip(olds.chunks_exact(stride));
        for ((source, old), target) in rows.zip(targets.chunks_exact_mut(stride)) {
            target[..row].copy_from_slice(source);
            compare_row(source, &old[..row], changed);
        }
    }
}

#[inline(always)]
fn compare_row(new: &[u8], old: &[u8], changed: &mut [bool]) {
    let ((news, new_tail), (olds, old_tail)) = (new.as_chunks::<TILE_BYTES>(), old.as_chunks::<TILE_BYTES>());
    for ((new, old), changed) in news.iter().zip(olds).zip(changed.iter_mut()) {
        *changed |= new != old;
    }
    if let Some(last) = changed.get_mut(news.len()) {
        *last |= new_tail != old_tail;
    }
}
