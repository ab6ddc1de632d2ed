//! From 64 coefficients to 64 samples (ITU T.81 A.3.3), after Loeffler, Ligtenberg and Moschytz.
//!
//! The same integers as libjpeg's accurate method, but rows before columns, which saves a transposition and
//! rounds a sample up or down by one here and there.

use crate::lanes::Lanes;

/// Coefficients, times their quantizers, column by column.
pub type Block = [i32; 64];

const fn fixed(value: f64) -> i32 {
    (value * 8192.0 + if value < 0.0 { -0.5 } else { 0.5 }) as i32
}

/// One dimension of the transform, on eight rows at a time; `round` is added before the last shift.
#[inline(always)]
fn pass<L: Lanes>(rows: [L; 8], bits: i32, round: i32) -> [L; 8] {
    let [d0, d1, d2, d3, d4, d5, d6, d7] = rows;
    let z1 = d2.add(d6).mul(fixed(0.541_196_1));
    let low = z1.add(d6.mul(fixed(-1.847_759_065)));
    let high = z1.add(d2.mul(fixed(0.765_366_865)));
    let (sum, difference) = (d0.add(d4).shl(13), d0.sub(d4).shl(13));
    let even = [sum.add(high), difference.add(low), difference.sub(low), sum.sub(high)];

    let (z3, z4) = (d7.add(d3), d5.add(d1));
    let z5 = z3.add(z4).mul(fixed(1.175_875_602));
    let z1 = d7.add(d1).mul(fixed(-0.899_976_223));
    let z2 = d5.add(d3).mul(fixed(-2.562_915_447));
    let z3 = z3.mul(fixed(-1.961_570_56)).add(z5);
    let z4 = z4.mul(fixed(-0.390_180_644)).add(z5);
    let odd = [
        d1.mul(fixed(1.501_321_11)).add(z1).add(z4),
        d3.mul(fixed(3.072_711_026)).add(z2).add(z3),
        d5.mul(fixed(2.053_119_869)).add(z2).add(z4),
        d7.mul(fixed(0.298_631_336)).add(z1).add(z3),
    ];
    let even = even.map(|row| row.offset(round));
    let up = |i: usize| even[i].add(odd[i]).shr(bits);
    let down = |i: usize| even[i].sub(odd[i]).shr(bits);
    [up(0), up(1), up(2), up(3), down(3), down(2), down(1), down(0)]
}

/// Eight rows of eight samples.
#[inline(always)]
pub fn samples<L: Lanes>(block: &Block) -> [[u8; 8]; 8] {
    let (rows, _) = block.as_chunks::<8>();
    let input = std::array::from_fn(|i| L::load(&rows[i]));
    // Lying on its side at first, so that it is turned once and not twice.
    let once = pass(input, 11, 1 << 10);
    L::samples(pass(L::transpose(once), 18, (1 << 17) + (128 << 18)))
}

/// The sample that fills a block without any coefficient but the first.
#[inline(always)]
pub const fn flat(first: i32) -> u8 {
    let sample = (first.wrapping_add(4) >> 3).wrapping_add(128);
    if sample < 0 {
        0
    } else if sample > 255 {
        255
    } else {
        sample as u8
    }
}
