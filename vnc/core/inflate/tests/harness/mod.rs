//! What holds for any bytes; the fuzzer's targets use it, too.

use inflate::{Error, Inflater};

/// The same output and the same verdict as flate2's, unless its checksum is wrong.
pub fn agree(packed: &[u8]) {
    const MOST: usize = 1 << 20;
    let mut other = flate2::Decompress::new(true);
    let mut expected = Vec::with_capacity(MOST + 1);
    let verdict = other.decompress_vec(packed, &mut expected, flate2::FlushDecompress::Sync);
    let mut inflater = Inflater::default();
    let got = inflater.inflate(packed, MOST);
    match (verdict, got) {
        (Ok(_), Ok(got)) => assert_eq!(got, expected),
        (Ok(_), Err(Error::TooMuch)) => assert!(expected.len() > MOST),
        (Ok(flate2::Status::StreamEnd), Err(Error::Corrupt)) => {
            assert!(other.total_in() < packed.len() as u64);
        }
        (Err(_), Err(Error::Corrupt)) => {}
        // A code for no lengths at all: the other goes on until it has read them.
        (Ok(_), Err(Error::Corrupt)) => {
            let more = other.decompress_vec(&[0; 400], &mut expected, flate2::FlushDecompress::Sync);
            assert!(more.is_err(), "{more:?}");
        }
        (Err(error), Ok(_)) if error.message() == Some("incorrect data check") => {}
        (verdict, got) => panic!("{verdict:?}, but {:?}", got.map(<[u8]>::len)),
    }
}

/// Pieces of a stream give what the whole of it gives.
pub fn cut_anywhere(packed: &[u8], cut: usize) {
    const MOST: usize = 1 << 20;
    let (mut whole, mut cut_up) = (Inflater::default(), Inflater::default());
    let Ok(expected) = whole.inflate(packed, MOST) else { return };
    let mut got: Vec<u8> = Vec::new();
    for piece in packed.chunks(cut.max(1)) {
        got.extend(cut_up.inflate(piece, MOST - got.len()).expect("the whole of it is good"));
    }
    assert_eq!(got, expected);
}
