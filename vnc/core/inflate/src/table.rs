//! Tables that map the next bits to a symbol (RFC 1951 3.2.2).

use crate::Corrupt;

/// The meaning of the next bits. From the lowest bit: eight bits for the number of bits to skip, extra bits included; four
/// for the length of the code among them, or, in a link, of the index into the second table; flags; from bit 16 the value.
#[derive(Clone, Copy)]
pub struct Entry(u32);

const LITERAL: u32 = 1 << 31;
const SPECIAL: u32 = 1 << 15;
const LINK: u32 = 1 << 14;
const END: u32 = 1 << 13;

impl Entry {
    /// Bits with which no code begins.
    pub const INVALID: Self = Self(SPECIAL);
    pub const END: Self = Self(SPECIAL | END);

    pub const fn literal(byte: u8) -> Self {
        Self(LITERAL | (byte as u32) << 16)
    }

    /// A length or distance: `base` plus the value of the `extra` bits after the code.
    pub const fn number(base: u16, extra: u8) -> Self {
        Self((base as u32) << 16 | extra as u32)
    }

    const fn link(start: usize, bits: u32) -> Self {
        Self(SPECIAL | LINK | (start as u32) << 16 | bits << 8)
    }

    const fn of_length(self, bits: u32) -> Self {
        Self(self.0 + bits * 0x101)
    }

    #[inline(always)]
    pub const fn is_literal(self) -> bool {
        self.0 & LITERAL != 0
    }

    /// Whether this is neither a literal nor a number.
    #[inline(always)]
    pub const fn is_special(self) -> bool {
        self.0 & SPECIAL != 0
    }

    #[inline(always)]
    pub const fn is_end(self) -> bool {
        self.0 & END != 0
    }

    #[inline(always)]
    pub const fn byte(self) -> u8 {
        (self.0 >> 16) as u8
    }

    /// The number of bits to skip, in the low six bits. The bits above have another meaning.
    #[inline(always)]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The value plus the extra bits that follow the code in `word`.
    #[inline(always)]
    pub const fn with_extra(self, word: u64) -> usize {
        let all = word & !u64::MAX.wrapping_shl(self.0);
        (self.0 >> 16) as usize + (all >> (self.0 >> 8 & 15)) as usize
    }
}

/// The entries for all values of `ROOT` bits, followed by second tables for longer codes.
pub struct Table<const ROOT: u32, const SIZE: usize>([Entry; SIZE]);

impl<const ROOT: u32, const SIZE: usize> Table<ROOT, SIZE> {
    pub const fn new() -> Self {
        Self([Entry::INVALID; SIZE])
    }

    #[inline(always)]
    pub fn look_up(&self, word: u64) -> Entry {
        self.0[word as usize & ((1 << ROOT) - 1)]
    }

    /// Return the entry that a link leads to, or the entry itself if it is no link.
    #[inline(always)]
    pub fn follow(&self, entry: Entry, word: u64) -> Entry {
        if entry.0 & LINK == 0 {
            return entry;
        }
        let index = (word >> ROOT) as usize & ((1 << (entry.0 >> 8 & 15)) - 1);
        self.0[(entry.0 >> 16) as usize + index]
    }

    /// Build the table of the canonical codes with these lengths in bits; 0 means no code. Entry n is for symbol n.
    ///
    /// As in zlib, the codes must be complete. A single code of one bit, or no code at all, is also allowed.
    pub fn build(&mut self, lengths: &[u8], entries: &[Entry]) -> Result<(), Corrupt> {
        let sorted = Sorted::new(lengths);
        let longest = sorted.longest();
        match (sorted.unused()?, longest) {
            (0, _) => {}
            (_, 0 | 1) => self.0[..2].fill(Entry::INVALID.of_length(1)),
            _ => return Err(Corrupt),
        }
        let mut code = 0;
        for bits in 1..=ROOT {
            let half = 1 << (bits - 1);
            self.0.copy_within(..half, half);
            for &symbol in sorted.of_length(bits) {
                self.0[code] = entries[usize::from(symbol)].of_length(bits);
                code = next(code, bits);
            }
        }
        self.build_second(&sorted, entries, code);
        Ok(())
    }

    fn build_second(&mut self, sorted: &Sorted, entries: &[Entry], mut code: usize) {
        let root = (1 << ROOT) - 1;
        let (mut prefix, mut start, mut end) = (usize::MAX, 0, 1 << ROOT);
        for bits in ROOT + 1..=sorted.longest() {
            let symbols = sorted.of_length(bits);
            for (i, &symbol) in symbols.iter().enumerate() {
                if code & root != prefix {
                    prefix = code & root;
                    let index_bits = sorted.index_bits(ROOT, bits, symbols.len() - i);
                    (start, end) = (end, end + (1 << index_bits));
                    self.0[prefix] = Entry::link(start, index_bits);
                }
                let entry = entries[usize::from(symbol)].of_length(bits);
                for slot in self.0[start..end].iter_mut().skip(code >> ROOT).step_by(1 << (bits - ROOT)) {
                    *slot = entry;
                }
                code = next(code, bits);
            }
        }
    }
}

/// Return the code after `code`, both with their first bit lowest. The last code is its own successor.
const fn next(code: usize, bits: u32) -> usize {
    let zeros = !code & ((1 << bits) - 1);
    if zeros == 0 {
        return code;
    }
    let highest = 1 << zeros.ilog2();
    code & (highest - 1) | highest
}

const MAX_BITS: usize = 15;

/// The symbols in the order of their codes.
struct Sorted {
    symbols: [u16; 288],
    /// The index of the first symbol of each length; the last entry is the end.
    starts: [u16; MAX_BITS + 2],
}

impl Sorted {
    fn new(lengths: &[u8]) -> Self {
        // Two counters for each length, because equal neighbours would otherwise wait for each other's increment.
        let mut counts = [[0; MAX_BITS + 1]; 2];
        for (i, &length) in lengths.iter().enumerate() {
            counts[i & 1][usize::from(length & 15)] += 1;
        }
        let mut starts = [0; MAX_BITS + 2];
        for bits in 0..=MAX_BITS {
            starts[bits + 1] = starts[bits] + counts[0][bits] + counts[1][bits];
        }
        let mut symbols = [0; 288];
        let mut places = starts;
        for (symbol, &length) in lengths.iter().enumerate() {
            let place = &mut places[usize::from(length & 15)];
            symbols[usize::from(*place)] = symbol as u16;
            *place += 1;
        }
        Self { symbols, starts }
    }

    fn of_length(&self, bits: u32) -> &[u16] {
        let bits = bits as usize;
        &self.symbols[usize::from(self.starts[bits])..usize::from(self.starts[bits + 1])]
    }

    fn longest(&self) -> u32 {
        (1..=MAX_BITS as u32).rev().find(|&bits| !self.of_length(bits).is_empty()).unwrap_or(0)
    }

    /// The number of 15-bit values with which no code begins.
    fn unused(&self) -> Result<usize, Corrupt> {
        let used: usize =
            (1..=MAX_BITS as u32).map(|bits| self.of_length(bits).len() << (MAX_BITS as u32 - bits)).sum();
        (1_usize << MAX_BITS).checked_sub(used).ok_or(Corrupt)
    }

    /// The number of index bits of the second table for the codes that share their first `root` bits with the next `count`
    /// codes of length `bits`.
    fn index_bits(&self, root: u32, bits: u32, count: usize) -> u32 {
        let (mut index_bits, mut used) = (bits - root, count);
        while used < 1 << index_bits && root + index_bits < self.longest() {
            index_bits += 1;
            used = 2 * used + self.of_length(root + index_bits).len();
        }
        index_bits
    }
}
