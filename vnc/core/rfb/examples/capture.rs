//! Record what a VNC server without a password sends: `capture HOST:PORT ENCODINGS SECONDS FILE [RGB_FILE]`.
//!
//! `ENCODINGS` are comma-separated encoding numbers, best first. `FILE` receives the server's bytes, `RGB_FILE` the pixels
//! of the last screen.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rfb::{Config, Connection};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, address, encodings, seconds, file, rest @ ..] = &arguments[..] else {
        return Err("usage: capture HOST:PORT ENCODINGS SECONDS FILE [RGB_FILE]".into());
    };
    let encodings = encodings.split(',').map(str::parse).collect::<Result<Vec<i32>, _>>()?;
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_millis(100)))?;
    let mut connection = Connection::new(Config { encodings, ..Config::default() });
    let mut recorded = Vec::new();
    let mut chunk = vec![0; 256 << 10];
    let end = Instant::now() + Duration::from_secs_f64(seconds.parse()?);
    while Instant::now() < end || connection.in_update() {
        match stream.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => {
                recorded.extend(&chunk[..count]);
                connection.receive(&chunk[..count]);
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error.into()),
        }
        if let Some(error) = connection.error() {
            return Err(error.clone().into());
        }
        while connection.next_event().is_some() {}
        stream.write_all(&connection.data_to_send())?;
    }
    std::fs::write(file, &recorded)?;
    if let Some(rgb) = rest.first() {
        std::fs::write(rgb, connection.screen().pixels())?;
    }
    eprintln!("{} frames, {} bytes", connection.frames(), recorded.len());
    Ok(())
}
