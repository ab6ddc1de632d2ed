//! The server's messages, for tests.
#![allow(dead_code, reason = "each test file uses a part")]

use rfb::{Config, Connection, Error, Event, Limits};

/// All messages up to `ServerInit`, without a password.
pub fn hello(width: u16, height: u16) -> Vec<u8> {
    let mut bytes = b"RFB 003.008\n\x01\x01\0\0\0\0".to_vec();
    bytes.extend(server_init(width, height, b"test"));
    bytes
}

/// `ServerInit` with an invalid pixel format, which clients must ignore.
pub fn server_init(width: u16, height: u16, name: &[u8]) -> Vec<u8> {
    let mut bytes = [width.to_be_bytes(), height.to_be_bytes()].concat();
    bytes.extend([0xee; 16]);
    bytes.extend((name.len() as u32).to_be_bytes());
    bytes.extend(name);
    bytes
}

/// One rect.
pub fn rect(place: [u16; 4], encoding: i32, payload: &[u8]) -> Vec<u8> {
    let mut bytes: Vec<u8> = place.iter().flat_map(|number| number.to_be_bytes()).collect();
    bytes.extend(encoding.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// A raw rect of one grey value.
pub fn grey(place: [u16; 4], value: u8) -> Vec<u8> {
    let pixels = usize::from(place[2]) * usize::from(place[3]);
    rect(place, 0, &[value, value, value, 0].repeat(pixels))
}

/// An update of these rects.
pub fn update(rects: &[Vec<u8>]) -> Vec<u8> {
    counted(rects.len() as u16, rects)
}

/// An update that announces `count` rects.
pub fn counted(count: u16, rects: &[Vec<u8>]) -> Vec<u8> {
    [&[0, 0][..], &count.to_be_bytes(), &rects.concat()].concat()
}

/// A connection after the handshake, with a screen of 8x6 pixels.
pub fn ready() -> Connection {
    ready_with(Limits::default(), 8, 6)
}

/// A connection after the handshake, with these limits and this size of the screen.
pub fn ready_with(limits: Limits, width: u16, height: u16) -> Connection {
    let mut connection = Connection::new(Config { limits, ..Config::default() });
    connection.receive(&hello(width, height));
    assert!(matches!(connection.next_event(), Some(Event::Ready(_))), "{:?}", connection.error());
    connection.data_to_send();
    connection
}

/// Return the error that these bytes cause.
pub fn error_after(bytes: &[u8]) -> Error {
    let mut connection = ready();
    connection.receive(bytes);
    let error = connection.error().expect("the bytes were accepted").clone();
    assert_eq!(connection.data_to_send(), [0_u8; 0], "nothing is sent to a broken server");
    connection.receive(&update(&[grey([0, 0, 8, 6], 9)]));
    assert_eq!(connection.frames(), 0, "input after a fatal error is ignored");
    assert_eq!(connection.error(), Some(&error));
    error
}

/// The grey value at (x, y) of the newest frame.
pub fn shown(connection: &Connection, x: usize, y: usize) -> u8 {
    let frame = connection.frame().expect("no frame");
    frame.pixels()[(y * usize::from(frame.width()) + x) * 3]
}

/// The grey value at (x, y) of the screen.
pub fn at(connection: &Connection, x: usize, y: usize) -> u8 {
    connection.screen().pixels()[(y * usize::from(connection.screen().width()) + x) * 3]
}
