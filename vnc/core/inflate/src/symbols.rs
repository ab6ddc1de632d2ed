//! Literals and matches (RFC 1951 3.2.3). Inflating spends most of its time in this file.

use crate::Corrupt;
use crate::bits::Bits;
use crate::codes::Codes;
use crate::table::Entry;
use crate::window::Room;

/// Why the symbols stopped.
pub enum Stop {
    /// The block has ended.
    End,
    /// There is no room for another symbol.
    Full,
    /// There are not enough bits for another symbol.
    Starved,
}

/// Inflate symbols until the block, the room or the input ends.
pub fn inflate(codes: &Codes, bits: &mut Bits<'_>, mut room: Room<'_>) -> Result<Stop, Corrupt> {
    match many(codes, bits, &mut room) {
        Ok(Stop::Starved) => last(codes, bits, &mut room),
        stop => stop,
    }
}

/// Inflate symbols while `wide` holds.
///
/// The next symbol is looked up before the current one is written, so that the processor does not wait for the table.
fn many(codes: &Codes, input: &mut Bits<'_>, room: &mut Room<'_>) -> Result<Stop, Corrupt> {
    // Local copies, so that they stay in registers.
    let (mut bits, mut at, end) = (input.clone(), *room.at, room.end);
    let out = &mut *room.bytes;
    bits.refill();
    let mut entry = codes.symbols.look_up(bits.word());
    let stop = loop {
        if !bits.wide() {
            break Ok(Stop::Starved);
        }
        if at > end {
            break Ok(Stop::Full);
        }
        bits.refill_wide();
        // The word has at least 56 bits: four codes of at most eleven bits, and eleven bits to look up the next one.
        if entry.is_literal() {
            entry = put(codes, out, &mut at, &mut bits, entry);
            if entry.is_literal() {
                entry = put(codes, out, &mut at, &mut bits, entry);
                if entry.is_literal() {
                    entry = put(codes, out, &mut at, &mut bits, entry);
                    if entry.is_literal() {
                        entry = put(codes, out, &mut at, &mut bits, entry);
                        continue;
                    }
                }
            }
        }
        if entry.is_special() {
            entry = codes.symbols.follow(entry, bits.word());
            if entry.is_literal() {
                entry = put(codes, out, &mut at, &mut bits, entry);
                continue;
            }
            if entry.is_special() {
                bits.skip(entry.bits());
                break if entry.is_end() { Ok(Stop::End) } else { Err(Corrupt) };
            }
        }
        let length = entry.with_extra(bits.word());
        bits.skip(entry.bits());
        bits.refill_wide();
        let mut way = codes.distances.look_up(bits.word());
        if way.is_special() {
            way = codes.distances.follow(way, bits.word());
        }
        let distance = way.with_extra(bits.word());
        bits.skip(way.bits());
        if way.is_special() || distance > at {
            break Err(Corrupt);
        }
        entry = codes.symbols.look_up(bits.word());
        repeat(out, at, distance, length);
        at += length;
    };
    (*input, *room.at) = (bits, at);
    stop
}

/// Write a literal and look up the next symbol.
#[inline(always)]
fn put(codes: &Codes, out: &mut [u8], at: &mut usize, bits: &mut Bits<'_>, entry: Entry) -> Entry {
    bits.skip(entry.bits());
    out[*at] = entry.byte();
    *at += 1;
    codes.symbols.look_up(bits.word())
}

/// Inflate symbols near the end of the input, each only if all of its bits are there.
fn last(codes: &Codes, bits: &mut Bits<'_>, room: &mut Room<'_>) -> Result<Stop, Corrupt> {
    let (out, at) = (&mut *room.bytes, &mut *room.at);
    while *at <= room.end {
        let mut ahead = bits.clone();
        ahead.refill();
        let entry = codes.symbols.follow(codes.symbols.look_up(ahead.word()), ahead.word());
        let word = ahead.word();
        if ahead.take(entry.bits() & 63).is_none() {
            return Ok(Stop::Starved);
        }
        if entry.is_literal() {
            out[*at] = entry.byte();
            *at += 1;
        } else if entry.is_end() {
            *bits = ahead;
            return Ok(Stop::End);
        } else if entry.is_special() {
            return Err(Corrupt);
        } else {
            ahead.refill();
            let length = entry.with_extra(word);
            let word = ahead.word();
            let entry = codes.distances.follow(codes.distances.look_up(word), word);
            if ahead.take(entry.bits() & 63).is_none() {
                return Ok(Stop::Starved);
            }
            let distance = entry.with_extra(word);
            if entry.is_special() || distance > *at {
                return Err(Corrupt);
            }
            repeat(out, *at, distance, length);
            *at += length;
        }
        *bits = ahead;
    }
    Ok(Stop::Full)
}

/// Copy `length` bytes from `distance` before `at` to `at`, and some more bytes behind them.
#[inline(always)]
fn repeat(out: &mut [u8], at: usize, distance: usize, length: usize) {
    match distance {
        32.. => copy::<32>(out, at, distance, length),
        16.. => copy::<16>(out, at, distance, length),
        8.. => copy::<8>(out, at, distance, length),
        _ => repeat_near(out, at, distance, length),
    }
}

#[inline(always)]
fn copy<const SIZE: usize>(out: &mut [u8], at: usize, distance: usize, length: usize) {
    let (mut from, mut to) = (at - distance, at);
    loop {
        out.copy_within(from..from + SIZE, to);
        (from, to) = (from + SIZE, to + SIZE);
        if to >= at + length {
            return;
        }
    }
}

/// Repeat fewer than eight bytes, where source and target overlap.
#[inline(always)]
fn repeat_near(out: &mut [u8], at: usize, distance: usize, length: usize) {
    const STEPS: [u8; 8] = [8, 8, 8, 6, 8, 5, 6, 7];
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&out[at - distance..][..8]);
    let bits = 8 * distance as u32;
    let mut word = u64::from_le_bytes(bytes) & !u64::MAX.wrapping_shl(bits);
    word |= word.wrapping_shl(bits);
    if distance < 4 {
        word |= word.wrapping_shl(2 * bits);
        if distance == 1 {
            word |= word << 32;
        }
    }
    let step = usize::from(STEPS[distance & 7]);
    let mut to = at;
    while to < at + length {
        out[to..to + 8].copy_from_slice(&word.to_le_bytes());
        to += step;
    }
}
