//! Properties that hold for all inputs. The fuzz targets use them too.

use inflate::{Corrupt, Inflater};

/// Longer output is not compared.
pub const MOST: usize = 1 << 20;

/// Return the output of the next part of a stream, requested in pieces of `piece` bytes.
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

/// Assert the same output and the same result as flate2's, except for a wrong checksum.
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
        // A code length code without codes: flate2 reports it only after it has read the lengths.
        (Ok(_), Err(Corrupt)) => {
            let more = other.decompress_vec(&[0; 400], &mut expected, flate2::FlushDecompress::Sync);
            assert!(more.is_err(), "{more:?}");
        }
        (Err(error), Ok(_)) if error.message() == Some("incorrect data check") => {}
        (verdict, got) => panic!("{verdict:?}, but {:?}", got.map(|bytes| bytes.len())),
    }
}

/// Assert that a stream in parts gives the same output as the whole stream, for any size of the requested pieces.
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
