//! From luma and chroma to RGB (JFIF 1.02), with libjpeg's rounding.

const HALF: i32 = 1 << 15;
const RED_CR: i32 = 91_881;
const GREEN_CB: i32 = 22_554;
const GREEN_CR: i32 = 46_802;
const BLUE_CB: i32 = 116_130;

/// One row; all slices are as long as the row is wide, `out` three times as long.
#[inline(always)]
pub fn convert(luma: &[u8], blue: &[u8], red: &[u8], out: &mut [u8]) {
    let pixels = out.as_chunks_mut::<3>().0;
    for (((pixel, &y), &cb), &cr) in pixels.iter_mut().zip(luma).zip(blue).zip(red) {
        let (y, cb, cr) = (i32::from(y), i32::from(cb) - 128, i32::from(cr) - 128);
        let shown = |value: i32| value.clamp(0, 255) as u8;
        *pixel = [
            shown(y + ((RED_CR * cr + HALF) >> 16)),
            shown(y + ((HALF - GREEN_CB * cb - GREEN_CR * cr) >> 16)),
            shown(y + ((BLUE_CB * cb + HALF) >> 16)),
        ];
    }
}

/// One row without colours.
pub fn grey(luma: &[u8], out: &mut [u8]) {
    for (pixel, &y) in out.as_chunks_mut::<3>().0.iter_mut().zip(luma) {
        *pixel = [y; 3];
    }
}
