//! What holds for any bytes; the fuzzer's targets use it, too.

use inflate::{Corrupt, Inflater};

/// More output than this is not looked at.
pub const MOST: usize = 1 << 20;

/// All that the next part of a stream gives, asked for in pieces of `piece` bytes.
pub fn inflate(stream: &mut Inflater, packed: &[u8], piece: usize) -> Result<Vec<u8>, Corrupt> {
    let mut part = stream.part(packed);
    let mut out = Vec::new();
    loop {
        let bytes = part.fill(piece)?;
        let count = bytes.len().min(piece);
        out.extend(&bytes[..count]);
        part.consume(count);
        if count < piece || out.len() > MOST {
            break;
        }
    }
    assert!(part.finish()? || out.len() > MOST);
    Ok(out)
}

/// The same output and the same verdict as flate2's, unless its checksum is wrong.
pub fn agree(packed: &[u8]) {
    let mut other = flate2::Decompress::new(true);
    let mut expected = Vec::with_capacity(2 * MOST);
    let verdict = other.decompress_vec(packed, &mut expected, flate2::FlushDecompress::Sync);
    let got = inflate(&mut Inflater::default(), packed, MOST / 2);
    match (verdict, got) {
        _ if expected.len() >= MOST => {}
        (Ok(_), Ok(got)) => assert_eq!(got, expected),
        (Ok(flate2::Status::StreamEnd), Err(Corrupt)) => {
            assert!(other.total_in() < packed.len() as u64);
        }
        (Err(_), Err(Corrupt)) => {}
        // A code for no lengths at all: the other goes on until it has read them.
        (Ok(_), Err(Corrupt)) => {
            let more = other.decompress_vec(&[0; 400], &mut expected, flate2::FlushDecompress::Sync);
            assert!(more.is_err(), "{more:?}");
        }
        (Err(error), Ok(_)) if error.message() == Some("incorrect data check") => {}
        (verdict, got) => panic!("{verdict:?}, but {:?}", got.map(|bytes| bytes.len())),
    }
}

/// Pieces of a stream give what the whole of it gives, whatever the size of the pieces that are asked for.
pub fn cut_anywhere(packed: &[u8], cut: usize) {
    let (mut whole, mut cut_up) = (Inflater::default(), Inflater::default());
    let Ok(expected) = inflate(&mut whole, packed, 1 + 97 * cut) else { return };
    if expected.len() > MOST {
        return;
    }
    let mut got: Vec<u8> = Vec::new();
    for piece in packed.chunks(cut.max(1)) {
        got.extend(inflate(&mut cut_up, piece, 1000).expect("the whole of it is good"));
    }
    assert_eq!(got, expected);
}
