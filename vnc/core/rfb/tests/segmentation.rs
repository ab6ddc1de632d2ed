//! Streams of a real `TigerVNC` server give the same picture as a screenshot of the X server, wherever they are cut.

mod common;

use rfb::{Config, Connection};

const PIECES: [usize; 5] = [1, 2, 7, 1448, 65_536];

fn played(stream: &[u8], piece: usize) -> Connection {
    let mut connection = Connection::new(Config::default());
    for part in stream.chunks(piece) {
        connection.receive(part);
    }
    assert_eq!(connection.error(), None, "in pieces of {piece}");
    connection
}

/// The same screen as `import -window root` has captured it.
fn oracle() -> Vec<u8> {
    let file = std::io::Cursor::new(include_bytes!("vectors/still.png"));
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    pixels
}

fn check(stream: &[u8], tolerance: u8) {
    let oracle = oracle();
    let first = played(stream, PIECES[0]);
    assert!(first.frames() > 0);
    let worst = first.screen().pixels().iter().zip(&oracle).map(|(&a, &b)| a.abs_diff(b)).max();
    assert!(worst <= Some(tolerance), "off by {worst:?}");
    for piece in PIECES {
        let connection = played(stream, piece);
        assert!(connection.screen().pixels() == first.screen().pixels(), "in pieces of {piece}");
        assert_eq!(connection.frames(), first.frames());
    }
}

#[test]
fn tight_is_exact() {
    check(include_bytes!("vectors/tight.rfb"), 0);
}

#[test]
fn tight_with_fences_is_exact() {
    check(include_bytes!("vectors/cont.rfb"), 0);
}

#[test]
fn tight_with_jpeg_is_close() {
    check(include_bytes!("vectors/tightq.rfb"), 8);
}

#[test]
fn zrle_is_exact() {
    check(include_bytes!("vectors/zrle.rfb"), 0);
}

#[test]
fn hextile_is_exact() {
    check(include_bytes!("vectors/hextile.rfb"), 0);
}

#[test]
fn a_flipped_byte_never_panics() {
    let stream = include_bytes!("vectors/zrle.rfb");
    for seed in 0..400_usize {
        let mut broken = stream.to_vec();
        let place = seed * 7919 % broken.len();
        broken[place] ^= 1 << (seed % 8);
        let mut connection = Connection::new(Config::default());
        connection.receive(&broken);
        assert!(connection.screen().pixels().len() <= 4096 * 4096 * 3);
    }
}
