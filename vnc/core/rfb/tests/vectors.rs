//! Streams of `TigerVNC`, x11vnc and our own server give the same picture wherever they are cut. Lossless encodings give
//! exactly the picture of the X server.
//!
//! The captures are in tests/vectors of the repository; vnc/capture/capture.py describes their format.

mod common;

use std::path::{Path, PathBuf};

use common::hello;
use rfb::{Config, Connection};

const PIECES: [usize; 5] = [1, 2, 7, 1448, 65_536];
const MESSAGE: u8 = 1;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/vectors")
}

/// Return the bytes of the server from its greeting on.
fn stream(file: &[u8], (width, height): (u16, u16)) -> Vec<u8> {
    let header = file.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let mut stream = hello(width, height);
    let mut records = &file[header..];
    // | 1 kind | 8 microseconds | 4 length | data |
    while let [kind, _, _, _, _, _, _, _, _, a, b, c, d, rest @ ..] = records {
        let (data, rest) = rest.split_at(u32::from_be_bytes([*a, *b, *c, *d]) as usize);
        if *kind == MESSAGE {
            stream.extend(data);
        }
        records = rest;
    }
    stream
}

fn screen() -> (Vec<u8>, (u16, u16)) {
    let file = std::fs::read(directory().join("screen.png")).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    (pixels, (info.width as u16, info.height as u16))
}

fn played(stream: &[u8], piece: usize, name: &str) -> Connection {
    let mut connection = Connection::new(Config::default());
    for part in stream.chunks(piece) {
        connection.receive(part);
    }
    assert_eq!(connection.error(), None, "{name} in pieces of {piece}");
    connection
}

#[test]
fn every_stream_gives_the_servers_screen_wherever_it_is_cut() {
    let (screen, size) = screen();
    let mut streams = 0;
    for entry in std::fs::read_dir(directory()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "capture") {
            continue;
        }
        streams += 1;
        let name = path.file_stem().unwrap().to_str().unwrap();
        let stream = stream(&std::fs::read(&path).unwrap(), size);
        let first = played(&stream, PIECES[0], name);
        assert!(name.ends_with("jpeg") || first.screen().pixels() == screen, "{name} shows another picture");
        for piece in PIECES {
            let other = played(&stream, piece, name);
            assert!(other.screen().pixels() == first.screen().pixels(), "{name} in pieces of {piece}");
            assert_eq!(other.frames(), first.frames(), "{name} in pieces of {piece}");
        }
    }
    assert!(streams >= 17, "{streams} captures in {}", directory().display());
}
