//! The same bytes as other inflaters, however the stream is cut.

mod harness;

use flate2::{Compress, Compression, FlushCompress};
use inflate::{Error, Inflater};
use proptest::prelude::*;

fn deflate(stream: &mut Compress, data: &[u8], flush: FlushCompress) -> Vec<u8> {
    let mut out = Vec::with_capacity(2 * data.len() + 1024);
    stream.compress_vec(data, &mut out, flush).unwrap();
    out
}

/// Bytes as screens have them: runs, repetitions near and far, noise.
fn screens() -> impl Strategy<Value = Vec<u8>> {
    let noise = proptest::collection::vec(any::<u8>(), 0..2000);
    let runs = (proptest::collection::vec(any::<u8>(), 1..40), 1..400_usize)
        .prop_map(|(unit, times)| unit.repeat(times));
    let few = proptest::collection::vec(0..4_u8, 0..5000);
    proptest::collection::vec(prop_oneof![noise, runs, few], 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn parts_of_a_stream_come_back(parts in proptest::collection::vec(screens(), 1..8), level in 0..10_u32) {
        let mut compress = Compress::new(Compression::new(level), true);
        let mut inflater = Inflater::default();
        for part in &parts {
            for flush in [FlushCompress::Sync, FlushCompress::Partial] {
                let packed = deflate(&mut compress, part, flush);
                prop_assert_eq!(inflater.inflate(&packed, part.len()).unwrap(), part);
            }
        }
    }

    #[test]
    fn a_stream_may_be_cut_anywhere(data in screens(), level in 0..10_u32, cut in 1..300_usize) {
        let packed = deflate(&mut Compress::new(Compression::new(level), true), &data, FlushCompress::Finish);
        let mut inflater = Inflater::default();
        let mut out: Vec<u8> = Vec::new();
        for piece in packed.chunks(cut) {
            out.extend(inflater.inflate(piece, data.len() - out.len()).unwrap());
        }
        prop_assert_eq!(out, data);
        prop_assert_eq!(inflater.inflate(&[0], 10), Err(Error::Corrupt));
    }

    #[test]
    fn one_byte_too_many_is_noticed(mut data in screens(), level in 0..10_u32) {
        data.push(1);
        let packed = deflate(&mut Compress::new(Compression::new(level), true), &data, FlushCompress::Sync);
        let mut inflater = Inflater::default();
        prop_assert_eq!(inflater.inflate(&packed, data.len() - 1), Err(Error::TooMuch));
    }

    #[test]
    fn damage_ends_as_it_does_elsewhere(data in screens(), level in 1..10_u32, at in any::<prop::sample::Index>(), bit in 0..8_u32) {
        let mut packed = deflate(&mut Compress::new(Compression::new(level), true), &data, FlushCompress::Sync);
        let index = at.index(packed.len());
        packed[index] ^= 1_u8 << bit;
        harness::agree(&packed);
    }

    #[test]
    fn noise_ends_as_it_does_elsewhere(noise in proptest::collection::vec(any::<u8>(), 0..300), cut in 1..20_usize) {
        let packed = [&[0x78, 0x9c], &noise[..]].concat();
        harness::agree(&packed);
        harness::cut_anywhere(&packed, cut);
    }
}

#[test]
fn too_much_is_noticed_where_a_block_ends() {
    // A block of one zero, and the beginning of one with codes of its own, for which many bits are to come.
    let fixed: u128 = 1 << 1 | 0b1100 << 3;
    let dynamic: u128 = 1 << 2 | 15 << 13 | 1 << 17 | 1 << 26;
    let packed = [&[0x78, 0x9c], &(fixed | dynamic << 18).to_le_bytes()[..], &[0; 12]].concat();
    assert_eq!(Inflater::default().inflate(&packed, 1), Ok(&[0][..]));
    assert_eq!(Inflater::default().inflate(&packed, 0), Err(Error::TooMuch));
}
