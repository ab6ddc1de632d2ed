//! The floor under every client: read each update from the socket, inflate what is deflated in it, decode its JPEG
//! images, write as many pixels as it draws. Nothing is looked at, checked or laid out.
//!
//! usage: floor PORT UPDATES PLAN; the plan, made by `benchmarks/drivers/floor.py`, says per update how long it is and what is
//! in it (numbers are u32, little endian): its bytes, its pixels, a count, and so often stream, fresh, start, end.
//! Prints what `benchmarks/clients` prints.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use flate2::Decompress;
use floor::{Outcome, cpu, decode, inflate};

struct Payload {
    stream: Option<usize>,
    fresh: bool,
    start: usize,
    end: usize,
}

struct Update {
    bytes: usize,
    pixels: usize,
    payloads: Vec<Payload>,
}

fn plan(path: &str) -> Outcome<Vec<Update>> {
    let bytes = std::fs::read(path)?;
    let mut numbers = bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap()) as usize);
    let mut updates = Vec::new();
    while let Some(bytes) = numbers.next() {
        let mut next = || numbers.next().ok_or("the plan is cut short");
        let (pixels, count) = (next()?, next()?);
        let mut payloads = Vec::new();
        for _ in 0..count {
            let stream = Some(next()?).filter(|&stream| stream < 6);
            payloads.push(Payload { stream, fresh: next()? != 0, start: next()?, end: next()? });
        }
        updates.push(Update { bytes, pixels, payloads });
    }
    Ok(updates)
}

/// Join a server without a password, as RFB 3.8.
fn join(port: u16) -> Outcome<TcpStream> {
    let mut socket = TcpStream::connect(("127.0.0.1", port))?;
    socket.set_nodelay(true)?;
    let skip = |socket: &mut TcpStream, count: usize| -> Outcome<Vec<u8>> {
        let mut bytes = vec![0; count];
        socket.read_exact(&mut bytes)?;
        Ok(bytes)
    };
    skip(&mut socket, 12)?;
    socket.write_all(b"RFB 003.008\n")?;
    skip(&mut socket, 2)?;
    socket.write_all(&[1])?;
    skip(&mut socket, 4)?;
    socket.write_all(&[1])?;
    let init = skip(&mut socket, 24)?;
    skip(&mut socket, u32::from_be_bytes(init[20..].try_into()?) as usize)?;
    let encodings = [0_i32, 1, 2, 5, 6, 7, 16, -224, -223, -239];
    let mut message = vec![2, 0, 0, encodings.len() as u8];
    message.extend(encodings.iter().flat_map(|encoding| encoding.to_be_bytes()));
    socket.write_all(&message)?;
    Ok(socket)
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, port, count, path] = &arguments[..] else { return Err("usage: floor PORT UPDATES PLAN".into()) };
    let count: usize = count.parse()?;
    let updates = plan(path)?;
    let mut socket = join(port.parse()?)?;
    let mut streams: Vec<Decompress> = (0..6).map(|_| Decompress::new(true)).collect();
    let largest = updates.iter().map(|update| update.bytes).max().unwrap_or(0);
    let most = updates.iter().map(|update| update.pixels).max().unwrap_or(0);
    let (mut message, mut scratch) = (vec![1; largest], vec![1; 4 * most + (1 << 20)]);
    let mut screen = vec![0_u8; 3 * most];
    let mut mark = (0.0, Instant::now());
    for (number, update) in updates.iter().take(count).enumerate() {
        let request = [3, u8::from(number > 0), 0, 0, 0, 0, 4, 0, 3, 0];
        socket.write_all(&request)?;
        socket.read_exact(&mut message[..update.bytes])?;
        for payload in &update.payloads {
            let data = &message[payload.start..payload.end];
            match payload.stream {
                None => decode(data, &mut scratch)?,
                Some(stream) => {
                    if payload.fresh {
                        streams[stream].reset(true);
                    }
                    inflate(&mut streams[stream], data, &mut scratch)?;
                }
            }
        }
        let size = 3 * update.pixels;
        screen[..size].copy_from_slice(std::hint::black_box(&scratch[..size]));
        std::hint::black_box(&screen);
        if number == 0 {
            mark = (cpu(), Instant::now());
        }
    }
    println!(
        "{{\"updates\": {}, \"cpu\": {}, \"seconds\": {}, \"rss\": 0}}",
        count - 1,
        cpu() - mark.0,
        mark.1.elapsed().as_secs_f64()
    );
    Ok(())
}
