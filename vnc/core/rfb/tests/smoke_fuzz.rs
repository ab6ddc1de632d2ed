//! The fuzz targets without a fuzzer: real streams with mutations of a fixed seed, for some seconds.

mod harness;

use std::path::Path;

use harness::{Counting, connection, decoder, handshake, image};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const STREAMS: [&[u8]; 4] = [
    include_bytes!("vectors/tight.rfb"),
    include_bytes!("vectors/tightq.rfb"),
    include_bytes!("vectors/zrle.rfb"),
    include_bytes!("vectors/hextile.rfb"),
];
/// Two sub-types, `X509Vnc` with a refusal inside it.
const VENCRYPT: &[u8] =
    b"RFB 003.008\n\x02\x02\x13\0\x02\0\x02\0\0\x01\x04\0\0\x01\x05\x01challenge-16-byt\0\0\0\x01\0\0\0\x02no";
/// An offer of shared frames, and an update with two rects of them.
const SHARED: &[u8] = b"\0\0\0\x01\0\0\0\0\0\0\0\0\xaa\xbc\xff\xfe\x01challenge-16-byt\0\x02/x\
    \0\0\0\x02\0\0\0\0\0\x40\0\x30\x55\x43\0\x01\0\0\0\x02\0\x01\0\x02\0\x03\0\x04\x55\x43\0\x01\0\0\0\x02";
const ROUNDS: u64 = 3000;

/// Xorshift numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % end.max(1)
    }

    /// Return a piece of `stream` with some bytes changed, inserted or removed.
    fn mutated(&mut self, stream: &[u8], longest: usize) -> Vec<u8> {
        let start = self.below(stream.len());
        let end = (start + self.below(longest)).min(stream.len());
        let mut data = stream[start..end].to_vec();
        for _ in 0..self.below(6) {
            let place = self.below(data.len());
            match (self.below(4), data.get_mut(place)) {
                (0, Some(byte)) => *byte ^= 1 << self.below(8),
                (1, Some(byte)) => *byte = [0, 1, 0x7f, 0x80, 0xff][self.below(5)],
                (2, Some(_)) => drop(data.splice(place..place, [0xff; 4])),
                (_, Some(_)) => drop(data.drain(place..(place + 3).min(data.len()))),
                (_, None) => {}
            }
        }
        data
    }
}

#[test]
fn handshakes() {
    let mut numbers = Numbers(1);
    for _ in 0..ROUNDS {
        let head = numbers.below(256) as u8;
        let greeting = numbers.mutated(&STREAMS[0][..60], 200);
        handshake(&[&[head], &STREAMS[0][..numbers.below(40)], &greeting].concat());
        let agreed = numbers.mutated(VENCRYPT, 200);
        handshake(&[&[head | 2], &VENCRYPT[..numbers.below(VENCRYPT.len())], &agreed].concat());
        handshake(&[&[head | 2], &agreed[..]].concat());
    }
}

#[test]
fn connections() {
    let mut numbers = Numbers(2);
    for round in 0..ROUNDS {
        let stream = STREAMS[round as usize % STREAMS.len()];
        let head = numbers.below(256) as u8;
        connection(&[&[head, 0, 0, 0, 1], &numbers.mutated(stream, 3000)[..]].concat());
        connection(&[&[head], &numbers.mutated(stream, 3000)[..]].concat());
        let start = numbers.below(SHARED.len());
        connection(&[&[head], &SHARED[..start], &numbers.mutated(&SHARED[start..], 100)].concat());
    }
}

#[test]
fn decoders() {
    let mut numbers = Numbers(3);
    for round in 0..ROUNDS {
        let mut data: Vec<u8> = (0..5).map(|_| numbers.below(256) as u8).collect();
        data.extend(numbers.mutated(STREAMS[round as usize % STREAMS.len()], 5000));
        decoder(&data);
    }
}

/// Return the inputs of a target in fuzz/corpus.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus").join(target);
    let mut files: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| std::fs::read(file).unwrap()).collect()
}

#[test]
fn images() {
    let mut numbers = Numbers(4);
    let images = corpus("jpeg");
    for round in 0..ROUNDS {
        let mut data = images[round as usize % images.len()].clone();
        for _ in 0..numbers.below(5) {
            let place = numbers.below(data.len());
            data[place] = numbers.below(256) as u8;
        }
        image(&data);
    }
}

fn replay(name: &str, target: impl Fn(&[u8])) {
    let inputs = corpus(name);
    assert!(!inputs.is_empty(), "{name} has no corpus");
    for data in &inputs {
        target(data);
    }
}

#[test]
fn the_corpus() {
    replay("connection", connection);
    replay("decoder", decoder);
    replay("handshake", handshake);
    replay("jpeg", image);
}

#[test]
fn the_allocator_counts() {
    let result = std::panic::catch_unwind(|| harness::holding(harness::MOST_HELD + 1));
    assert!(result.is_err(), "the harness cannot fail");
}
