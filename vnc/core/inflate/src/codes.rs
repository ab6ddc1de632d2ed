//! The two codes of a block: one for literals and lengths, one for distances (RFC 1951 3.2.5 to 3.2.7).

use std::sync::LazyLock;

use crate::Corrupt;
use crate::bits::Bits;
use crate::table::{Entry, Table};

/// The codes of a block.
///
/// Each table has as many entries as the worst set of code lengths needs, by enumeration with zlib's examples/enough.c:
/// for 288 symbols and eleven bits in the first table, and for 32 symbols and eight bits.
pub struct Codes {
    pub symbols: Table<11, 2342>,
    pub distances: Table<8, 402>,
}

/// The order in which the lengths of the code length code are sent (RFC 1951 3.2.7).
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

const SYMBOLS: [Entry; 288] = {
    let mut entries = [Entry::INVALID; 288];
    let mut i = 0;
    while i < 256 {
        entries[i] = Entry::literal(i as u8);
        i += 1;
    }
    entries[256] = Entry::END;
    let (mut base, mut i) = (3, 0);
    while i < 28 {
        let extra = if i < 8 { 0 } else { i as u8 / 4 - 1 };
        entries[257 + i] = Entry::number(base, extra);
        base += 1 << extra;
        i += 1;
    }
    entries[285] = Entry::number(258, 0);
    entries
};

const DISTANCES: [Entry; 32] = {
    let mut entries = [Entry::INVALID; 32];
    let (mut base, mut i) = (1, 0);
    while i < 30 {
        let extra = if i < 4 { 0 } else { i as u8 / 2 - 1 };
        entries[i] = Entry::number(base, extra);
        base += 1 << extra;
        i += 1;
    }
    entries
};

/// The symbols of the code length code, as literals.
const LENGTHS: [Entry; 19] = {
    let mut entries = [Entry::INVALID; 19];
    let mut i = 0;
    while i < entries.len() {
        entries[i] = Entry::literal(i as u8);
        i += 1;
    }
    entries
};

impl Default for Codes {
    fn default() -> Self {
        Self { symbols: Table::new(), distances: Table::new() }
    }
}

impl Codes {
    /// The codes of blocks that contain none (RFC 1951 3.2.6).
    pub fn fixed() -> &'static Self {
        static FIXED: LazyLock<Codes> = LazyLock::new(|| {
            let mut lengths = [8; 288];
            lengths[144..256].fill(9);
            lengths[256..280].fill(7);
            let mut codes = Codes::default();
            let built = codes.build(&lengths, &[5; 32]);
            debug_assert!(built.is_ok());
            codes
        });
        &FIXED
    }

    fn build(&mut self, symbols: &[u8], distances: &[u8]) -> Result<(), Corrupt> {
        self.symbols.build(symbols, &SYMBOLS)?;
        self.distances.build(distances, &DISTANCES)
    }

    /// Read the codes at the start of a block; `None` if the input ends before.
    pub fn read(&mut self, bits: &mut Bits<'_>) -> Option<Result<(), Corrupt>> {
        let symbols = 257 + bits.take(5)?;
        let distances = 1 + bits.take(5)?;
        let lengths = 4 + bits.take(4)?;
        if symbols > 286 || distances > 30 {
            return Some(Err(Corrupt));
        }
        let mut short = [0; ORDER.len()];
        for &place in &ORDER[..lengths] {
            short[place] = bits.take(3)? as u8;
        }
        let mut table = Table::<7, 128>::new();
        // Like zlib, refuse a single code here: it could only repeat one length.
        if short.iter().filter(|&&length| length > 0).count() < 2 || table.build(&short, &LENGTHS).is_err() {
            return Some(Err(Corrupt));
        }
        let mut all = [0; 286 + 30];
        let all = &mut all[..symbols + distances];
        Some(match read_lengths(bits, &table, all)? {
            // A block needs a code for its end.
            Ok(()) if all[256] > 0 => self.build(&all[..symbols], &all[symbols..]),
            Ok(()) => Err(Corrupt),
            Err(error) => Err(error),
        })
    }
}

fn read_lengths(
    bits: &mut Bits<'_>,
    table: &Table<7, 128>,
    lengths: &mut [u8],
) -> Option<Result<(), Corrupt>> {
    let mut at = 0;
    while at < lengths.len() {
        bits.refill();
        let entry = table.look_up(bits.word());
        bits.take(entry.bits() & 63)?;
        let (length, repeats) = match (entry.byte(), at.checked_sub(1)) {
            (16, Some(last)) => (lengths[last], 3 + bits.take(2)?),
            (16, None) => return Some(Err(Corrupt)),
            (17, _) => (0, 3 + bits.take(3)?),
            (18, _) => (0, 11 + bits.take(7)?),
            (length, _) => (length, 1),
        };
        let Some(run) = lengths.get_mut(at..at + repeats) else { return Some(Err(Corrupt)) };
        run.fill(length);
        at += repeats;
    }
    Some(Ok(()))
}
