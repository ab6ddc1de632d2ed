//! The memory of a connection beyond its screen: bounded, whatever a server sends, and freed at the end.

mod common;
mod harness;

use common::{ready_with, rect, update};
use flate2::{Compress, Compression, FlushCompress};
use harness::{Counting, held, peak};
use rfb::{Connection, Limits, encodings};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const SIDE: u16 = 4096;
const WHOLE: [u16; 4] = [0, 0, SIDE, SIDE];
const PIXELS: usize = SIDE as usize * SIDE as usize;
const SCREEN: usize = PIXELS * 3;
const MOST: usize = 16 << 20;
/// Damage cells and other small allocations.
const LITTLE: usize = 256 << 10;

/// Return compressed zeros.
fn zeros(count: usize) -> Vec<u8> {
    let mut stream = Compress::new(Compression::best(), true);
    let mut out = Vec::with_capacity(count / 500 + 1000);
    stream.compress_vec(&vec![0; count], &mut out, FlushCompress::Sync).unwrap();
    out
}

fn tight(stream: u8) -> Vec<u8> {
    let data = zeros(PIXELS * 3);
    let n = data.len();
    let length = [n as u8 & 0x7f | 0x80, (n >> 7) as u8 & 0x7f | 0x80, (n >> 14) as u8];
    rect(WHOLE, encodings::TIGHT, &[&[stream << 4][..], &length, &data].concat())
}

fn announced(encoding: i32, data: &[u8]) -> Vec<u8> {
    rect(WHOLE, encoding, &[&(data.len() as u32).to_be_bytes()[..], data].concat())
}

/// Return an update with one rect per zlib stream, each of which inflates to a whole screen.
fn everything() -> Vec<u8> {
    let mut rects: Vec<_> = (0..4).map(tight).collect();
    rects.push(announced(encodings::ZLIB, &zeros(PIXELS * 4)));
    rects.push(announced(encodings::ZRLE, &zeros((SIDE as usize / 64).pow(2) * (1 + 64 * 64 * 3))));
    update(&rects)
}

fn fed(connection: &mut Connection, bytes: &[u8]) {
    for piece in bytes.chunks(64 << 10) {
        connection.receive(piece);
        while connection.next_event().is_some() {}
        connection.data_to_send();
    }
}

#[test]
fn the_memory_of_full_streams_is_bounded_and_freed_after_an_error() {
    let bytes = everything();
    let before = held();
    let mut connection = ready_with(Limits::default(), SIDE, SIDE);
    let peak = peak(|| fed(&mut connection, &bytes));
    assert_eq!((connection.error(), connection.frames()), (None, 1));
    assert!(peak <= MOST, "{peak} bytes at once");
    let now = held() - before;
    assert!(now <= SCREEN + MOST / 2, "{now} bytes afterwards");
    connection.receive(&[99]);
    assert!(connection.error().is_some());
    let now = held() - before;
    assert!(now <= SCREEN + LITTLE, "{now} bytes after the fatal error");
}

#[test]
fn the_memory_of_a_stream_that_fails_while_it_is_full_is_freed() {
    let mut bytes = everything();
    *bytes.last_mut().unwrap() ^= 0xff;
    let before = held();
    let mut connection = ready_with(Limits::default(), SIDE, SIDE);
    fed(&mut connection, &bytes);
    assert!(connection.error().is_some());
    let now = held() - before;
    assert!(now <= SCREEN + LITTLE, "{now} bytes");
}

#[test]
fn a_closed_connection_frees_its_memory() {
    let bytes = everything();
    let before = held();
    let mut connection = ready_with(Limits::default(), SIDE, SIDE);
    fed(&mut connection, &bytes);
    fed(&mut connection, &bytes[..1000]);
    connection.close();
    let now = held() - before;
    assert!(now <= SCREEN + LITTLE, "{now} bytes");
    connection.receive(&bytes);
    assert_eq!((connection.frames(), connection.error()), (1, None));
}

#[test]
fn a_large_rect_that_is_incomplete_takes_no_copy_of_the_frame() {
    let limits = Limits { whole_update: 1 << 20, ..Limits::default() };
    let mut connection = ready_with(limits, SIDE, SIDE);
    // As much of a rect as a decoder cannot draw in parts.
    let bytes = update(&[announced(encodings::ZLIB, &vec![0; 3 << 20])]);
    let peak = peak(|| fed(&mut connection, &bytes[..2 << 20]));
    assert!(connection.in_update());
    assert!(peak <= MOST, "{peak} bytes at once");
}
