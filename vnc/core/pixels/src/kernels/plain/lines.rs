//! Weighted sums of lines.

/// Bytes that are summed together, in registers.
const LANES: usize = 32;
/// The number of bytes whose sum is at most `u16::MAX`.
const MANY: usize = 257;

/// See `Level::sum_lines`.
#[inline(always)]
pub fn sum_lines(pixels: &[u8], stride: usize, lines: usize, weights: [u32; 3], sums: &mut [u32]) {
    let (chunks, rest) = sums.as_chunks_mut::<LANES>();
    let done = chunks.len() * LANES;
    for (number, chunk) in chunks.iter_mut().enumerate() {
        sum_lanes(&pixels[number * LANES..], stride, lines, weights, chunk);
    }
    for (number, sum) in rest.iter_mut().enumerate() {
        sum_lanes(&pixels[done + number..], stride, lines, weights, std::array::from_mut(sum));
    }
}

/// Sum the first `N` bytes of lines that are `stride` bytes apart.
#[inline(always)]
fn sum_lanes<const N: usize>(
    pixels: &[u8],
    stride: usize,
    lines: usize,
    [first, whole, last]: [u32; 3],
    sums: &mut [u32; N],
) {
    let line = |y: usize| -> [u8; N] { pixels[y * stride..].first_chunk().copied().unwrap_or([0; N]) };
    let mut inner = [0_u32; N];
    for start in (1..lines.saturating_sub(1)).step_by(MANY) {
        let mut few = [0_u16; N];
        for y in start..(start + MANY).min(lines - 1) {
            let bytes = line(y);
            for i in 0..N {
                few[i] += u16::from(bytes[i]);
            }
        }
        for i in 0..N {
            inner[i] += u32::from(few[i]);
        }
    }
    let ends = [line(0), line(lines - 1)];
    for i in 0..N {
        sums[i] = inner[i] * whole + u32::from(ends[0][i]) * first + u32::from(ends[1][i]) * last;
    }
}
