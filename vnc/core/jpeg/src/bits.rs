//! Entropy-coded data as a stream of bits, most significant first (ITU T.81 F.2.2.5).

/// Zero bytes behind the data, so that a wide read may begin at its last byte.
const PADDING: usize = 16;

/// Copy a scan's data without its byte stuffing, up to the first marker or the end of `source`.
///
/// Returns its length; `target` is longer by some zeros.
pub fn unstuff(source: &[u8], target: &mut Vec<u8>) -> usize {
    target.clear();
    target.resize(source.len() + PADDING, 0);
    let (mut read, mut written) = (0, 0);
    loop {
        while let (Some(&eight), Some(room)) =
            (source[read..].first_chunk::<8>(), target[written..].first_chunk_mut::<8>())
        {
            *room = eight;
            let skip = before_ff(u64::from_le_bytes(eight));
            (read, written) = (read + skip, written + skip);
            if skip < 8 {
                break;
            }
        }
        match source[read..] {
            [0xff, 0, ..] => {
                target[written] = 0xff;
                (read, written) = (read + 2, written + 1);
            }
            [0xff, ..] | [] => break,
            [byte, ..] => {
                target[written] = byte;
                (read, written) = (read + 1, written + 1);
            }
        }
    }
    target.truncate(written);
    target.resize(written + PADDING, 0);
    written
}

/// How many of eight bytes come before the first 0xff.
const fn before_ff(word: u64) -> usize {
    const LOW: u64 = 0x0101_0101_0101_0101;
    let inverted = !word;
    let zeros = inverted.wrapping_sub(LOW) & !inverted & (LOW << 7);
    zeros.trailing_zeros() as usize / 8
}

/// INVARIANT: the top `count` bits of `word` are the next ones; those below are right or zero.
pub struct Bits<'a> {
    data: &'a [u8],
    position: usize,
    word: u64,
    count: u32,
}

impl<'a> Bits<'a> {
    pub const fn new(data: &'a [u8]) -> Self {
        Self { data, position: 0, word: 0, count: 0 }
    }

    /// At least 32 bits to peek at; zeros once the data is used up.
    #[inline(always)]
    pub fn refill(&mut self) {
        if self.count < 32 {
            let next = self.data.get(self.position..).and_then(<[u8]>::first_chunk);
            self.word |= u64::from_be_bytes(next.copied().unwrap_or_default()) >> self.count;
            self.position += ((63 - self.count) >> 3) as usize;
            self.count |= 0x38;
        }
    }

    #[inline(always)]
    pub const fn peek(&self, count: u32) -> u32 {
        (self.word >> (64 - count)) as u32
    }

    /// All that is at hand, from the highest bit on.
    #[inline(always)]
    pub const fn top(&self) -> u64 {
        self.word
    }

    /// INVARIANT: no more than 31 bits between two calls of `refill`.
    #[inline(always)]
    pub const fn skip(&mut self, count: u32) {
        self.word <<= count;
        self.count -= count;
    }

    /// Bits taken so far.
    pub const fn used(&self) -> usize {
        self.position * 8 - self.count as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stuffing_goes_and_a_marker_ends_the_data() {
        let mut target = Vec::new();
        for length in 0..40 {
            let mut source: Vec<u8> = (0..length).collect();
            let mut plain = source.clone();
            source.extend([0xff, 0, 7, 0xff, 0, 0xff, 0xd9, 1, 2]);
            plain.extend([0xff, 7, 0xff]);
            assert_eq!(unstuff(&source, &mut target), plain.len());
            assert_eq!(target[..plain.len()], plain);
            assert!(target[plain.len()..].iter().all(|&byte| byte == 0));
        }
        assert_eq!(unstuff(&[0xff], &mut target), 0);
    }

    #[test]
    fn bits_come_in_order_and_then_zeros() {
        let mut data = Vec::new();
        let length = unstuff(&[0b1011_0001, 0x55, 0xaa, 1, 2, 3, 4, 5, 6], &mut data);
        let mut bits = Bits::new(&data);
        let mut seen = Vec::new();
        for count in [1, 3, 4, 8, 16, 20, 20] {
            bits.refill();
            seen.push(bits.peek(count));
            bits.skip(count);
        }
        assert_eq!(seen, [1, 3, 1, 0x55, 0xaa01, 0x02030, 0x40506]);
        assert_eq!(bits.used(), length * 8);
        for _ in 0..100 {
            bits.refill();
            assert_eq!(bits.peek(31), 0);
            bits.skip(31);
        }
    }
}
