//! Sessions with a scripted server over loopback: the path of bytes, on whichever system the tests run.
#![cfg(not(loom))]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

use rfb::Config;
use sessions::{Pump, Session, Timeouts};

/// For machines with other work.
const PATIENCE: Duration = Duration::from_secs(60);
const TIMEOUTS: Timeouts = Timeouts {
    connect: PATIENCE,
    handshake: PATIENCE,
    message: PATIENCE,
    probe_interval: PATIENCE,
    probe_deadline: PATIENCE,
};

/// Wait until the condition holds; return the sessions that the hub has listed meanwhile.
fn wait(pump: &Pump, what: &str, holds: impl Fn() -> bool) -> Vec<u64> {
    let (begin, mut listed) = (Instant::now(), Vec::new());
    while !holds() {
        assert!(begin.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        sleep(Duration::from_millis(1));
        listed.extend(pump.hub().expect("an open pump").drain());
    }
    listed
}

/// Start a server for one client, and connect to it.
fn connect<T: Send + 'static>(
    pump: &Pump,
    serve: impl FnOnce(TcpStream) -> T + Send + 'static,
) -> (Arc<Session>, JoinHandle<T>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let config = Config { encodings: vec![0], ..Config::default() };
    let session = pump.open(address, None, config, TIMEOUTS).expect("a session");
    let server = std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a client");
        stream.set_nodelay(true).expect("no delay");
        stream.set_read_timeout(Some(PATIENCE)).expect("a deadline");
        serve(stream)
    });
    (session, server)
}

/// Write the server's messages up to `ServerInit`, and read the client's.
fn greet(stream: &mut TcpStream, width: u16, height: u16) {
    stream.write_all(b"RFB 003.008\n").expect("a client");
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).expect("a version");
    stream.write_all(&[1, 1]).expect("a client");
    stream.read_exact(&mut answer[..1]).expect("a security type");
    stream.write_all(&[0; 4]).expect("a client");
    stream.read_exact(&mut answer[..1]).expect("ClientInit");
    let size = [width.to_be_bytes(), height.to_be_bytes()].concat();
    stream.write_all(&[&size[..], &[0xee; 16], &[0, 0, 0, 4], b"test"].concat()).expect("a client");
}

/// A raw update of the whole screen in one grey value.
fn screen(width: u16, height: u16, value: u8) -> Vec<u8> {
    let place = [0, 0, width, height].map(u16::to_be_bytes).concat();
    let pixels = [value, value, value, 0].repeat(usize::from(width) * usize::from(height));
    [&[0, 0, 0, 1], &place[..], &[0; 4], &pixels].concat()
}

fn pixels(session: &Session, width: u16, height: u16) -> Vec<u8> {
    let mut pixels = vec![0; usize::from(width) * usize::from(height) * 3];
    let shape = [height.into(), width.into(), 3];
    session.copy(shape, None, None, &mut pixels).expect("this size");
    pixels
}

#[test]
fn bytes_one_at_a_time_become_a_frame() {
    let pump = Pump::new(1).unwrap();
    let (session, server) = connect(&pump, |mut stream| {
        greet(&mut stream, 4, 3);
        for byte in screen(4, 3, 7) {
            stream.write_all(&[byte]).expect("a client");
        }
        stream
    });
    let listed = wait(&pump, "a frame", || session.published().frames() == 1);
    assert!(listed.contains(&session.id()), "the hub has not listed the session");
    assert_eq!(session.published().name(), Some("test"));
    assert_eq!(pixels(&session, 4, 3), [7; 36]);
    server.join().unwrap();
    wait(&pump, "the end", || session.published().failure().is_some());
}

#[test]
fn large_frames_arrive_and_input_leaves() {
    const INPUT: [u8; 6] = [5, 1, 0, 9, 0, 8];
    let pump = Pump::new(1).unwrap();
    let (session, server) = connect(&pump, |mut stream| {
        greet(&mut stream, 1024, 768);
        for value in 1..=20 {
            stream.write_all(&screen(1024, 768, value)).expect("a client");
        }
        let mut received = Vec::new();
        while !received.ends_with(&INPUT) {
            let mut byte = [0];
            stream.read_exact(&mut byte).expect("the input");
            received.extend(byte);
        }
    });
    wait(&pump, "20 frames", || session.published().frames() == 20);
    assert!(pixels(&session, 1024, 768).iter().all(|byte| *byte == 20));
    session.send(&INPUT);
    server.join().unwrap();
    wait(&pump, "the end", || session.published().failure().is_some());
    let failure = session.published().failure().unwrap();
    assert_eq!(failure.0, "lost", "{failure:?}");
}

#[test]
fn more_input_than_the_socket_takes_at_once_arrives() {
    const SIZE: usize = 6 * 40_000;
    let pump = Pump::new(1).unwrap();
    let (session, server) = connect(&pump, |mut stream| {
        greet(&mut stream, 4, 3);
        stream.write_all(&screen(4, 3, 1)).expect("a client");
        let (mut input, mut bytes) = (0, vec![0; 1 << 16]);
        while input < SIZE {
            let count = stream.read(&mut bytes).expect("input");
            input += bytes[..count].iter().map(|byte| usize::from(*byte == 5)).sum::<usize>();
        }
    });
    wait(&pump, "a frame", || session.published().frames() == 1);
    session.send(&vec![5; SIZE]);
    server.join().unwrap();
}

#[test]
fn a_port_without_a_server_is_an_error() {
    let pump = Pump::new(1).unwrap();
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let session = pump.open(address, None, Config::default(), TIMEOUTS).unwrap();
    wait(&pump, "the error", || session.published().failure().is_some());
    assert_eq!(session.published().failure().unwrap().0, "connect");
}
