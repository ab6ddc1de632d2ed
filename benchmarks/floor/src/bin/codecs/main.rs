//! Times codecs on the compressed payloads of a capture, one after the other in each round.
//!
//! usage: codecs zlib|deflate|jpeg ROUNDS FILE; FILE, made by `benchmarks/drivers/floor.py`, holds per payload its stream,
//! whether that starts anew, its length (u32, little endian) and its bytes. Prints the number of bytes of output, and
//! the seconds of CPU of each round by codec.

mod inflating;
mod jpegs;

use floor::{Outcome, cpu};

struct Payload {
    stream: usize,
    fresh: bool,
    data: Vec<u8>,
}

/// A codec and what it does with all payloads.
type Contender<'a> = (&'static str, Box<dyn FnMut() -> Outcome<()> + 'a>);

/// What a round has at least to write: one of less is repeated, to be long enough to be timed.
const LEAST_OUTPUT: usize = 32 << 20;

fn payloads(path: &str) -> Outcome<Vec<Payload>> {
    let bytes = std::fs::read(path)?;
    let mut rest = &bytes[..];
    let mut payloads = Vec::new();
    while !rest.is_empty() {
        let (head, behind) = rest.split_at_checked(12).ok_or("the file is cut short")?;
        let number = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().unwrap()) as usize;
        let (data, next) = behind.split_at_checked(number(8)).ok_or("the file is cut short")?;
        payloads.push(Payload { stream: number(0), fresh: number(4) != 0, data: data.to_vec() });
        rest = next;
    }
    Ok(payloads)
}

fn race(contenders: &mut [Contender], rounds: usize, output: usize) -> Outcome<()> {
    let passes = LEAST_OUTPUT.div_ceil(output.max(1));
    let mut seconds = vec![Vec::new(); contenders.len()];
    for _ in 0..rounds {
        for ((_, pass), seconds) in contenders.iter_mut().zip(&mut seconds) {
            let began = cpu();
            for _ in 0..passes {
                pass()?;
            }
            seconds.push((cpu() - began) / passes as f64);
        }
    }
    let lists = contenders.iter().zip(seconds).map(|((name, _), times)| format!("\"{name}\": {times:?}"));
    println!("{{\"output\": {output}, \"seconds\": {{{}}}}}", lists.collect::<Vec<_>>().join(", "));
    Ok(())
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, kind, rounds, path] = &arguments[..] else {
        return Err("usage: codecs zlib|deflate|jpeg ROUNDS FILE".into());
    };
    let (rounds, payloads) = (rounds.parse()?, payloads(path)?);
    match &kind[..] {
        _ if payloads.is_empty() => race(&mut [], 0, 0),
        "zlib" | "deflate" => inflating::run(&payloads, kind == "zlib", rounds),
        "jpeg" => jpegs::run(&payloads, rounds),
        _ => Err(format!("{kind}: neither zlib, deflate nor jpeg").into()),
    }
}
