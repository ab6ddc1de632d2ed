//! Eight 32-bit lanes in one register.
//!
//! INVARIANT: nothing in here is called but below `crate::with_avx2`, which asks the processor first.
#![allow(unsafe_code, reason = "intrinsics of a processor that the compiler cannot count on")]

use core::arch::x86_64::{
    __m256i, _mm_cvtsi32_si128, _mm256_add_epi32, _mm256_loadu_si256, _mm256_mullo_epi32, _mm256_packs_epi32,
    _mm256_packus_epi16, _mm256_permute2x128_si256, _mm256_permutevar8x32_epi32, _mm256_set1_epi32,
    _mm256_setr_epi32, _mm256_sll_epi32, _mm256_sra_epi32, _mm256_storeu_si256, _mm256_sub_epi32,
    _mm256_unpackhi_epi32, _mm256_unpackhi_epi64, _mm256_unpacklo_epi32, _mm256_unpacklo_epi64,
};

use crate::lanes::Lanes;

#[derive(Clone, Copy)]
pub struct Wide(__m256i);

impl Lanes for Wide {
    #[inline(always)]
    fn load(from: &[i32; 8]) -> Self {
        // SAFETY: 32 bytes are there, and this load does not mind where.
        Self(unsafe { _mm256_loadu_si256(from.as_ptr().cast()) })
    }

    #[inline(always)]
    fn samples(rows: [Self; 8]) -> [[u8; 8]; 8] {
        let mut out = [[0_u8; 8]; 8];
        for (half, rows) in out.chunks_exact_mut(4).zip(rows.as_chunks::<4>().0) {
            let [a, b, c, d] = rows.map(|row| row.0);
            // SAFETY: see the invariant; a half is 32 bytes.
            unsafe {
                let packed = _mm256_packus_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
                let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
                _mm256_storeu_si256(half.as_mut_ptr().cast(), _mm256_permutevar8x32_epi32(packed, order));
            }
        }
        out
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: see the invariant.
        Self(unsafe { _mm256_add_epi32(self.0, other.0) })
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: see the invariant.
        Self(unsafe { _mm256_sub_epi32(self.0, other.0) })
    }

    #[inline(always)]
    fn mul(self, factor: i32) -> Self {
        // SAFETY: see the invariant.
        Self(unsafe { _mm256_mullo_epi32(self.0, _mm256_set1_epi32(factor)) })
    }

    #[inline(always)]
    fn shl(self, bits: i32) -> Self {
        // SAFETY: see the invariant.
        Self(unsafe { _mm256_sll_epi32(self.0, _mm_cvtsi32_si128(bits)) })
    }

    #[inline(always)]
    fn offset(self, value: i32) -> Self {
        // SAFETY: see the invariant.
        Self(unsafe { _mm256_add_epi32(self.0, _mm256_set1_epi32(value)) })
    }

    #[inline(always)]
    fn shr(self, bits: i32) -> Self {
        // SAFETY: see the invariant.
        Self(unsafe { _mm256_sra_epi32(self.0, _mm_cvtsi32_si128(bits)) })
    }

    #[inline(always)]
    fn transpose(rows: [Self; 8]) -> [Self; 8] {
        let rows = rows.map(|row| row.0);
        // SAFETY: see the invariant.
        unsafe {
            let pairs = |x, y| (_mm256_unpacklo_epi32(x, y), _mm256_unpackhi_epi32(x, y));
            let fours = |x, y| (_mm256_unpacklo_epi64(x, y), _mm256_unpackhi_epi64(x, y));
            let turned = |i: usize| {
                let (left, right) = (pairs(rows[i], rows[i + 1]), pairs(rows[i + 2], rows[i + 3]));
                let (first, second) = (fours(left.0, right.0), fours(left.1, right.1));
                [first.0, first.1, second.0, second.1]
            };
            let ([p0, p1, p2, p3], [q0, q1, q2, q3]) = (turned(0), turned(4));
            let low = |x, y| Self(_mm256_permute2x128_si256::<0x20>(x, y));
            let high = |x, y| Self(_mm256_permute2x128_si256::<0x31>(x, y));
            [
                low(p0, q0),
                low(p1, q1),
                low(p2, q2),
                low(p3, q3),
                high(p0, q0),
                high(p1, q1),
                high(p2, q2),
                high(p3, q3),
            ]
        }
    }
}
