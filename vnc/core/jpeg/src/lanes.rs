//! Arithmetic on eight numbers at a time. It wraps: what a hostile image makes of its own pixels is its own affair.

pub trait Lanes: Copy {
    fn load(from: &[i32; 8]) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, factor: i32) -> Self;
    fn shl(self, bits: i32) -> Self;
    fn shr(self, bits: i32) -> Self;
    fn offset(self, value: i32) -> Self;
    fn transpose(rows: [Self; 8]) -> [Self; 8];
    /// Within 0 and 255.
    fn samples(rows: [Self; 8]) -> [[u8; 8]; 8];
}

/// For every processor.
#[derive(Clone, Copy)]
pub struct Plain([i32; 8]);

impl Plain {
    #[inline(always)]
    fn each(self, other: Self, apply: impl Fn(i32, i32) -> i32) -> Self {
        let mut out = self;
        for (lane, &value) in out.0.iter_mut().zip(&other.0) {
            *lane = apply(*lane, value);
        }
        out
    }
}

impl Lanes for Plain {
    #[inline(always)]
    fn load(from: &[i32; 8]) -> Self {
        Self(*from)
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.each(other, i32::wrapping_add)
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.each(other, i32::wrapping_sub)
    }

    #[inline(always)]
    fn mul(self, factor: i32) -> Self {
        Self(self.0.map(|value| value.wrapping_mul(factor)))
    }

    #[inline(always)]
    fn shl(self, bits: i32) -> Self {
        Self(self.0.map(|value| value << bits))
    }

    #[inline(always)]
    fn offset(self, value: i32) -> Self {
        Self(self.0.map(|lane| lane.wrapping_add(value)))
    }

    #[inline(always)]
    fn shr(self, bits: i32) -> Self {
        Self(self.0.map(|value| value >> bits))
    }

    #[inline(always)]
    fn samples(rows: [Self; 8]) -> [[u8; 8]; 8] {
        rows.map(|row| row.0.map(|value| value.clamp(0, 255) as u8))
    }

    #[inline(always)]
    fn transpose(rows: [Self; 8]) -> [Self; 8] {
        let mut out = [Self([0; 8]); 8];
        for (y, row) in rows.iter().enumerate() {
            for (x, &value) in row.0.iter().enumerate() {
                out[x].0[y] = value;
            }
        }
        out
    }
}
