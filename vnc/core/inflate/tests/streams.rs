//! The output equals that of other inflaters, wherever the stream is cut.

mod harness;

use flate2::{Compress, Compression, FlushCompress};
use inflate::{Corrupt, Inflater};
use proptest::prelude::*;

fn deflate(stream: &mut Compress, data: &[u8], flush: FlushCompress) -> Vec<u8> {
    let mut out = Vec::with_capacity(2 * data.len() + 1024);
    stream.compress_vec(data, &mut out, flush).unwrap();
    out
}

/// Bytes like those of screens: runs, repetitions, noise.
fn screens() -> impl Strategy<Value = Vec<u8>> {
    let noise = proptest::collection::vec(any::<u8>(), 0..2000);
    let runs = (proptest::collection::vec(any::<u8>(), 1..40), 1..400_usize)
        .prop_map(|(unit, times)| unit.repeat(times));
    let few = proptest::collection::vec(0..4_u8, 0..5000);
    proptest::collection::vec(prop_oneof![noise, runs, few], 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn parts_of_a_stream_are_inflated(parts in proptest::collection::vec(screens(), 1..8), level in 0..10_u32, piece in 1..100_000_usize) {
        let mut compress = Compress::new(Compression::new(level), true);
        let mut inflater = Inflater::default();
        for part in &parts {
            for flush in [FlushCompress::Sync, FlushCompress::Partial] {
                let packed = deflate(&mut compress, part, flush);
                prop_assert_eq!(&harness::inflate(&mut inflater, &packed, piece).unwrap(), part);
            }
        }
    }

    #[test]
    fn a_stream_may_be_cut_anywhere(data in screens(), level in 0..10_u32, cut in 1..300_usize) {
        let packed = deflate(&mut Compress::new(Compression::new(level), true), &data, FlushCompress::Finish);
        let mut inflater = Inflater::default();
        let mut out: Vec<u8> = Vec::new();
        for piece in packed.chunks(cut) {
            out.extend(harness::inflate(&mut inflater, piece, 5000).unwrap());
        }
        prop_assert_eq!(out, data);
        prop_assert_eq!(harness::inflate(&mut inflater, &[0], 10), Err(Corrupt));
    }

    #[test]
    fn an_excess_byte_is_noticed(mut data in screens(), level in 0..10_u32) {
        data.push(1);
        let packed = deflate(&mut Compress::new(Compression::new(level), true), &data, FlushCompress::Sync);
        let mut inflater = Inflater::default();
        let mut part = inflater.part(&packed);
        prop_assert!(part.fill(data.len() - 1).unwrap().len() >= data.len() - 1);
        part.consume(data.len() - 1);
        prop_assert_eq!(part.finish(), Ok(false));
    }

    #[test]
    fn damaged_streams_end_as_with_flate2(data in screens(), level in 1..10_u32, at in any::<prop::sample::Index>(), bit in 0..8_u32) {
        let mut packed = deflate(&mut Compress::new(Compression::new(level), true), &data, FlushCompress::Sync);
        let index = at.index(packed.len());
        packed[index] ^= 1_u8 << bit;
        harness::agree(&packed);
    }

    #[test]
    fn noise_ends_as_with_flate2(noise in proptest::collection::vec(any::<u8>(), 0..300), cut in 1..20_usize) {
        let packed = [&[0x78, 0x9c], &noise[..]].concat();
        harness::agree(&packed);
        harness::cut_anywhere(&packed, cut);
    }
}

#[test]
fn memory_does_not_depend_on_the_size_of_the_output() {
    let mut compress = Compress::new(Compression::best(), true);
    let mut inflater = Inflater::default();
    for round in 1..4_usize {
        let size = round * (20 << 20);
        let packed = deflate(&mut compress, &vec![7; size], FlushCompress::Sync);
        let mut part = inflater.part(&packed);
        let (mut sum, mut most) = (0, 0);
        while let count @ 1.. = part.fill(1).unwrap().len() {
            part.consume(count);
            (sum, most) = (sum + count, most.max(count));
        }
        assert_eq!((sum, part.finish()), (size, Ok(true)));
        assert!(most <= 257 << 10, "{most} bytes at once");
    }
}

#[test]
fn a_code_may_be_split_over_three_parts() {
    // The unused end of a part is joined with the start of the next part only.
    let data: Vec<u8> =
        (0..200_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 15) as u8 & 0x3f).collect();
    let packed = deflate(&mut Compress::new(Compression::best(), true), &data, FlushCompress::Sync);
    for first in (0..600).chain([packed.len() - 600, packed.len() - 3]) {
        for second in [0, 1, 7, 500] {
            let (head, tail) = packed.split_at(first);
            let (middle, tail) = tail.split_at(second.min(tail.len()));
            let mut inflater = Inflater::default();
            let out = [head, middle, tail]
                .map(|part| harness::inflate(&mut inflater, part, 70_000).unwrap())
                .concat();
            assert!(out == data, "cut after {first} and {second} more");
        }
    }
}
