//! Tiles: where a subrect lies is a mask, so that no branch depends on it, and a row of sixteen pixels is one store.

use core::arch::x86_64::{
    __m128i, __m256i, __m512i, _mm_cvtsi64_si128, _mm256_maskz_set1_epi16, _mm256_or_si256,
    _mm256_setzero_si256, _mm256_storeu_si256, _mm512_add_epi8, _mm512_add_epi16, _mm512_and_si512,
    _mm512_castsi128_si512, _mm512_mask_cmpge_epu16_mask, _mm512_mask_mov_epi8, _mm512_mask_storeu_epi8,
    _mm512_mask_test_epi8_mask, _mm512_maskz_loadu_epi8, _mm512_maskz_mov_epi16, _mm512_maskz_set1_epi8,
    _mm512_permutex2var_epi8, _mm512_permutexvar_epi8, _mm512_set1_epi8, _mm512_set1_epi16,
    _mm512_setzero_si512, _mm512_slli_epi16, _mm512_sllv_epi16, _mm512_srli_epi16, _mm512_storeu_si512,
    _mm512_sub_epi16, _mm512_test_epi8_mask,
};

use super::{LANES, load, low, repeated};
use crate::Rgb;
use crate::tile::{Canvas, SIDE, Subrects, word};

/// Places that fit one register.
const PLACES: usize = LANES / 2;
/// Coloured subrects that fit two registers, and whose colours, with one more, fit one.
const COLOURED: usize = 20;
/// Spans are looked at by fours: loops that end on multiples are foretold more often.
const STEP: usize = 4;

/// Three times the number of the subrect, counted from 1, that is seen at each pixel; 0 where there is none. Four rows
/// a register.
type Numbers = [__m512i; 4];

/// See `TileWriter::draw`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
pub fn draw(background: Rgb, subrects: Subrects<'_>, canvas: &mut Canvas<'_>) -> Result<(), usize> {
    match subrects {
        Subrects::Plain(colour, places) => plain([background, colour], places, canvas),
        Subrects::Coloured([]) => plain([background; 2], &[], canvas),
        Subrects::Coloured(subrects) => coloured(background, subrects, canvas),
    }
}

/// See `TileWriter::copy`.
///
/// # Safety
/// There are at least as many pixels as the canvas has.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub unsafe fn copy(pixels: &[u8], canvas: &mut Canvas<'_>) {
    const PACKED: [u8; LANES] = strided(3, 4, 0);
    let order = load(&PACKED, LANES);
    let width = canvas.width();
    let (read, shown) = (low(4 * width), low(3 * width));
    let mut row = pixels.as_ptr();
    for start in starts(canvas) {
        // SAFETY: the masks have as many bits as a row has bytes here and there.
        unsafe {
            let packed = _mm512_permutexvar_epi8(order, _mm512_maskz_loadu_epi8(read, row.cast()));
            _mm512_mask_storeu_epi8(start.cast(), shown, packed);
        }
        row = row.wrapping_add(4 * width);
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
fn plain(colours: [Rgb; 2], places: &[[u8; 2]], canvas: &mut Canvas<'_>) -> Result<(), usize> {
    let (mut covered, mut spans) = (_mm256_setzero_si256(), Spans::default());
    for (group, places) in places.chunks(PLACES).enumerate() {
        let register = load(places.as_flattened(), 2 * places.len());
        spans.set(register, places.len(), canvas).map_err(|i| group * PLACES + i)?;
        for (rows, columns) in spans.steps(places.len()) {
            for (&rows, &columns) in rows.iter().zip(columns) {
                covered = _mm256_or_si256(covered, _mm256_maskz_set1_epi16(rows, columns as i16));
            }
        }
    }
    let numbers = quarters(covered).map(|covered| _mm512_maskz_set1_epi8(covered, 3));
    let [background, colour] = colours.map(|colour| u64::from(word(colour)));
    let palette = _mm512_castsi128_si512(_mm_cvtsi64_si128((background | colour << 24) as i64));
    show(&numbers, palette, u64::MAX, canvas);
    Ok(())
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
fn coloured(background: Rgb, subrects: &[[u8; 6]], canvas: &mut Canvas<'_>) -> Result<(), usize> {
    const PLACE: [u8; LANES] = strided(2, 6, 4);
    // One further, to leave room for the background.
    const COLOUR: [u8; LANES] = strided(3, 6, -6);
    let background = _mm512_castsi128_si512(_mm_cvtsi64_si128(i64::from(word(background))));
    let mut spans = Spans::default();
    for (group, subrects) in subrects.chunks(COLOURED).enumerate() {
        let bytes = subrects.as_flattened();
        let (first, second) = bytes.split_at(bytes.len().min(LANES));
        let (first, second) = (load(first, first.len()), load(second, second.len()));
        let places = _mm512_permutex2var_epi8(first, load(&PLACE, LANES), second);
        spans.set(places, subrects.len(), canvas).map_err(|i| group * COLOURED + i)?;
        let palette = _mm512_permutex2var_epi8(first, load(&COLOUR, LANES), second);
        let palette = _mm512_mask_mov_epi8(palette, low(3), background);
        // What lies below is the background, or has been drawn.
        let below = if group == 0 { u64::MAX } else { 0 };
        show(&number(&spans, subrects.len()), palette, below, canvas);
    }
    Ok(())
}

/// Paint the numbers of `count` subrects, one over the other.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn number(spans: &Spans, count: usize) -> Numbers {
    const BITS: [u8; LANES] = bits();
    let first = load(&BITS, LANES);
    let bits = [first, _mm512_slli_epi16(first, 4)];
    let (mut numbers, mut current) = ([_mm512_setzero_si512(); 4], _mm512_setzero_si512());
    for (rows, columns) in spans.steps(count) {
        for (rows, &columns) in rows.iter().zip(columns) {
            current = _mm512_add_epi8(current, _mm512_set1_epi8(3));
            let columns = u64::from(columns) * 0x0001_0001_0001_0001;
            let [top, bottom] = rows.to_le_bytes().map(|eight| _mm512_set1_epi8(eight as i8));
            for (i, eight) in [top, top, bottom, bottom].into_iter().enumerate() {
                let covered = _mm512_mask_test_epi8_mask(columns, eight, bits[i % 2]);
                numbers[i] = _mm512_mask_mov_epi8(numbers[i], covered, current);
            }
        }
    }
    numbers
}

/// Which rows and columns each subrect covers: one bit each, the first the lowest.
#[derive(Default)]
#[repr(align(64))]
struct Spans {
    rows: [u16; PLACES],
    columns: [u16; PLACES],
}

impl Spans {
    /// Of `count` places; `Err` is the number of the first that reaches beyond the canvas.
    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    fn set(&mut self, places: __m512i, count: usize, canvas: &Canvas<'_>) -> Result<(), usize> {
        let digit = _mm512_set1_epi16(15);
        let y = _mm512_and_si512(places, digit);
        let x = _mm512_and_si512(_mm512_srli_epi16(places, 4), digit);
        let height = _mm512_and_si512(_mm512_srli_epi16(places, 8), digit);
        let width = _mm512_srli_epi16(places, 12);
        let real = low(count) as u32;
        // SAFETY: there is room for 32 words.
        unsafe {
            let rows = _mm512_maskz_mov_epi16(real, span(y, height));
            _mm512_storeu_si512(self.rows.as_mut_ptr().cast(), rows);
            _mm512_storeu_si512(self.columns.as_mut_ptr().cast(), span(x, width));
        }
        let outside = beyond(real, x, width, canvas.width()) | beyond(real, y, height, canvas.height());
        if outside == 0 { Ok(()) } else { Err(outside.trailing_zeros() as usize) }
    }

    /// At least `count`; those beyond have no rows.
    #[inline(always)]
    fn steps(&self, count: usize) -> impl Iterator<Item = (&[u16; STEP], &[u16; STEP])> {
        let (rows, columns) = (self.rows.as_chunks().0, self.columns.as_chunks().0);
        rows.iter().zip(columns).take(count.div_ceil(STEP))
    }
}

/// Whether `start` + `more` is not below `end`.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn beyond(real: u32, start: __m512i, more: __m512i, end: usize) -> u32 {
    _mm512_mask_cmpge_epu16_mask(real, _mm512_add_epi16(start, more), _mm512_set1_epi16(end as i16))
}

/// `more` + 1 ones from bit `start` on.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn span(start: __m512i, more: __m512i) -> __m512i {
    let ones = _mm512_sub_epi16(_mm512_sllv_epi16(_mm512_set1_epi16(2), more), _mm512_set1_epi16(1));
    _mm512_sllv_epi16(ones, start)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn quarters(covered: __m256i) -> [u64; 4] {
    let mut quarters = [0; 4];
    // SAFETY: there is room for 256 bits.
    unsafe { _mm256_storeu_si256(quarters.as_mut_ptr().cast(), covered) }
    quarters
}

/// Draw the colours of numbers other than 0, and of these where `below` has ones.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
#[inline]
fn show(numbers: &Numbers, palette: __m512i, below: u64, canvas: &mut Canvas<'_>) {
    const TRIPLES: [u8; LANES] = repeated(3);
    const CHANNELS: [u8; LANES] = strided(3, 0, 0);
    let (triples, channels) = (load(&TRIPLES, LANES), load(&CHANNELS, LANES));
    let shown = low(3 * canvas.width());
    let mut row = numbers.as_ptr().cast::<__m128i>();
    for start in starts(canvas) {
        // SAFETY: four registers are sixteen rows, and a canvas has no more.
        let numbers = _mm512_castsi128_si512(unsafe { *row });
        row = row.wrapping_add(1);
        let number = _mm512_permutexvar_epi8(triples, numbers);
        let colours = _mm512_permutexvar_epi8(_mm512_add_epi8(number, channels), palette);
        let mask = shown & (below | _mm512_test_epi8_mask(number, number));
        // SAFETY: a row of the canvas begins here, and the mask has no more bits than it bytes.
        unsafe { _mm512_mask_storeu_epi8(start.cast(), mask, colours) }
    }
}

/// Where the rows of a canvas begin, for those to whom looking at bounds in each row is too slow.
#[inline(always)]
fn starts(canvas: &mut Canvas<'_>) -> impl Iterator<Item = *mut u8> {
    let (stride, height) = (canvas.stride(), canvas.height());
    let first = canvas.pixels().as_mut_ptr();
    (0..height).map(move |y| first.wrapping_add(y * stride))
}

/// `first` and so on, `count` numbers; then `step` further as many, and so on.
const fn strided(count: usize, step: usize, first: i8) -> [u8; LANES] {
    let mut lanes = [0; LANES];
    let mut i = 0;
    while i < LANES {
        lanes[i] = ((i / count * step + i % count) as u8).wrapping_add_signed(first);
        i += 1;
    }
    lanes
}

/// One bit for each of four rows.
const fn bits() -> [u8; LANES] {
    let mut lanes = repeated(SIDE);
    let mut i = 0;
    while i < LANES {
        lanes[i] = 1 << lanes[i];
        i += 1;
    }
    lanes
}
