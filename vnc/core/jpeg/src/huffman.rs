//! Huffman tables (ITU T.81 C, F.2.2): most codes are found, with the value behind them, in one look.

use crate::Error;
use crate::bits::Bits;

/// Bits of the first look.
const LOOK: u32 = 11;
/// Runs that mean the end of a block; real ones are at most 15.
const END: u32 = 64;

/// What was found: 6 bits to skip, 1 whether the value's bits are still to be read, 8 run (from bit 8),
/// 16 value, or its size.
#[derive(Clone, Copy, Default)]
struct Entry(u32);

const LATER: u32 = 1 << 6;

/// How many coefficients are skipped, and the one behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    pub run: usize,
    pub value: i32,
}

pub struct Table {
    /// The definition, to see that the next image has the same.
    counts: [u8; 16],
    values: [u8; 256],
    look: Box<[Entry; 1 << LOOK]>,
    /// For each length the code after its last one, as 16 bits from the left.
    ends: [u32; 17],
    /// What to add to a code of each length to find its place in `values`.
    offsets: [i32; 17],
}

impl Default for Table {
    fn default() -> Self {
        Self {
            counts: [0; 16],
            values: [0; 256],
            look: Box::new([Entry(0); 1 << LOOK]),
            ends: [0; 17],
            offsets: [0; 17],
        }
    }
}

impl Table {
    /// Become the table with these code lengths and values.
    pub fn define(&mut self, counts: [u8; 16], values: &[u8]) -> Result<(), Error> {
        if self.counts == counts && self.values.starts_with(values) {
            return Ok(());
        }
        // Not to be taken for a whole table if this one turns out to be none.
        self.counts = [0; 16];
        self.look.fill(Entry(0));
        let (mut code, mut place) = (0_u32, 0_usize);
        for length in 1..=16_u32 {
            let count = u32::from(counts[length as usize - 1]);
            if code + count > 1 << length {
                return Err(Error::Broken("huffman codes overflow"));
            }
            self.offsets[length as usize] = place as i32 - code as i32;
            for _ in 0..count {
                let value = *values.get(place).ok_or(Error::Broken("huffman values missing"))?;
                self.values[place] = value;
                if length <= LOOK {
                    self.fill(code, length, value);
                }
                (code, place) = (code + 1, place + 1);
            }
            self.ends[length as usize] = code << (16 - length);
            code <<= 1;
        }
        self.counts = counts;
        Ok(())
    }

    /// Every look that begins with this code.
    fn fill(&mut self, code: u32, length: u32, symbol: u8) {
        let rest = LOOK - length;
        let (run, size) = run_and_size(symbol);
        for tail in 0..1_u32 << rest {
            let entry = if size <= rest {
                let value = extend(tail >> (rest - size), size);
                (length + size) | run << 8 | (value as u32) << 16
            } else {
                length | LATER | run << 8 | size << 16
            };
            self.look[(code << rest | tail) as usize] = Entry(entry);
        }
    }

    /// The next symbol and the value behind it; takes 31 bits at most.
    #[inline(always)]
    pub fn decode(&self, bits: &mut Bits<'_>) -> Option<Symbol> {
        let Entry(entry) = self.look[bits.peek(LOOK) as usize];
        if entry & LATER == 0 && entry != 0 {
            bits.skip(entry & 63);
            return Some(Symbol { run: (entry >> 8 & 0xff) as usize, value: (entry as i32) >> 16 });
        }
        let (symbol, taken) = self.decode_long(bits.top(), entry)?;
        bits.skip(taken);
        Some(symbol)
    }

    /// The same for what one look does not settle, with the bits that it takes.
    #[inline(never)]
    fn decode_long(&self, bits: u64, entry: u32) -> Option<(Symbol, u32)> {
        let (run, size, length) = if entry == 0 {
            let code = (bits >> 48) as u32;
            let length = (LOOK as usize + 1..=16).find(|&length| code < self.ends[length])?;
            let place = (code >> (16 - length)) as i32 + self.offsets[length];
            let (run, size) = run_and_size(*self.values.get(usize::try_from(place).ok()?)?);
            (run, size, length as u32)
        } else {
            (entry >> 8 & 0xff, entry >> 16, entry & 63)
        };
        let value = if size == 0 { 0 } else { extend((bits << length >> (64 - size)) as u32, size) };
        Some((Symbol { run: run as usize, value }, length + size))
    }
}

const fn run_and_size(symbol: u8) -> (u32, u32) {
    match symbol {
        0 => (END, 0),
        _ => (symbol as u32 >> 4, symbol as u32 & 15),
    }
}

// ITU T.81 F.2.2.1, EXTEND: the upper half of the values is positive.
const fn extend(bits: u32, size: u32) -> i32 {
    if size == 0 || bits >> (size - 1) != 0 { bits as i32 } else { bits as i32 - (1 << size) + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::unstuff;

    /// Codes 0, 10, 110, ..., one of each length.
    fn unary() -> Table {
        let mut table = Table::default();
        table.define([1; 16], &[0x01, 0x12, 0x00, 0xf0, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0x2f, 3]).unwrap();
        table
    }

    fn decoded(source: &[u8], count: usize) -> Vec<(usize, i32)> {
        let mut data = Vec::new();
        unstuff(source, &mut data);
        let mut bits = Bits::new(&data);
        let table = unary();
        (0..count)
            .map(|_| {
                bits.refill();
                let symbol = table.decode(&mut bits).unwrap();
                (symbol.run, symbol.value)
            })
            .collect()
    }

    #[test]
    fn short_and_long_codes_with_their_values() {
        // 0 1, 0 0, 10 00, 110, 1110, then zeros.
        assert_eq!(decoded(&[0b0100_1000, 0b1101_1100], 5), [(0, 1), (0, -1), (1, -3), (64, 0), (15, 0)]);
        // Fifteen bits of code, the last zero, and fifteen ones: run 2, size 15.
        let long = [0xff, 0, 0b1111_1100 | 1, 0xff, 0, 0b1111_1100];
        assert_eq!(decoded(&long, 1), [(2, 0x7fff)]);
        // 11110 and five bits, which do not fit the look together: size 5.
        assert_eq!(decoded(&[0b1111_0011, 0b1100_0000], 1), [(0, -16)]);
    }

    #[test]
    fn codes_that_are_none_are_refused() {
        let mut table = Table::default();
        assert!(table.define([3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &[1, 2, 3]).is_err());
        assert!(table.define([1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &[1]).is_err());
        let mut data = Vec::new();
        unstuff(&[0xfe, 0xfe, 0xfe, 0xfe], &mut data);
        let mut bits = Bits::new(&data);
        bits.refill();
        assert_eq!(table.decode(&mut bits), None);
    }
}
