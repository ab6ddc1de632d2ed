//! Times decompressors on the zlib streams of a capture, one after the other in each round.
//!
//! usage: codecs ROUNDS FILE; `benchmarks/drivers/floor.py` writes FILE, which contains for each payload its stream,
//! whether the stream starts with it, its length (u32, little endian) and its bytes. The program prints the number of
//! bytes of output, and the CPU seconds of each round by codec.

use flate2::Decompress;
use floor::{Outcome, cpu};
use inflate::{Inflater, PIECE};
use miniz_oxide::inflate::stream::{InflateState, inflate as miniz_inflate};
use miniz_oxide::{DataFormat, MZFlush};
use zlib_rs::{Inflate, InflateFlush};

const STREAMS: usize = 6;
/// Bytes that a round writes at least; shorter input is repeated, so that a round takes long enough to be timed.
const LEAST_OUTPUT: usize = 32 << 20;

struct Payload {
    stream: usize,
    fresh: bool,
    data: Vec<u8>,
}

/// One zlib stream of a connection.
trait Stream {
    fn new() -> Self;
    fn reset(&mut self);
    /// Inflate all of `input` and pass the output to `seen`; `out` has room for it.
    fn inflate(&mut self, input: &[u8], out: &mut [u8], seen: impl FnMut(&[u8])) -> Outcome<()>;
}

impl Stream for Inflater {
    fn new() -> Self {
        Self::default()
    }

    fn reset(&mut self) {
        self.reset();
    }

    fn inflate(&mut self, input: &[u8], _: &mut [u8], mut seen: impl FnMut(&[u8])) -> Outcome<()> {
        let broken = |error| format!("ours: {error:?}");
        let mut part = self.part(input);
        loop {
            let bytes = part.fill(PIECE).map_err(broken)?;
            if bytes.is_empty() {
                return part.finish().map(|_| ()).map_err(|error| broken(error).into());
            }
            seen(bytes);
            let count = bytes.len();
            part.consume(count);
        }
    }
}

impl Stream for Decompress {
    fn new() -> Self {
        Self::new(true)
    }

    fn reset(&mut self) {
        self.reset(true);
    }

    fn inflate(&mut self, input: &[u8], out: &mut [u8], mut seen: impl FnMut(&[u8])) -> Outcome<()> {
        let count = floor::inflate(self, input, out)?;
        seen(&out[..count]);
        Ok(())
    }
}

impl Stream for Inflate {
    fn new() -> Self {
        Self::new(true, 15)
    }

    fn reset(&mut self) {
        self.reset(true);
    }

    fn inflate(&mut self, input: &[u8], out: &mut [u8], mut seen: impl FnMut(&[u8])) -> Outcome<()> {
        let before = self.total_out();
        self.decompress(input, out, InflateFlush::SyncFlush).map_err(|error| error.as_str())?;
        seen(&out[..(self.total_out() - before) as usize]);
        Ok(())
    }
}

impl Stream for Box<InflateState> {
    fn new() -> Self {
        InflateState::new_boxed(DataFormat::Zlib)
    }

    fn reset(&mut self) {
        InflateState::reset(self, DataFormat::Zlib);
    }

    fn inflate(&mut self, input: &[u8], out: &mut [u8], mut seen: impl FnMut(&[u8])) -> Outcome<()> {
        let done = miniz_inflate(self, input, out, MZFlush::Sync);
        done.status.map_err(|error| format!("miniz_oxide: {error:?}"))?;
        seen(&out[..done.bytes_written]);
        Ok(())
    }
}

/// Return the payloads in a file.
fn payloads(path: &str) -> Outcome<Vec<Payload>> {
    let bytes = std::fs::read(path)?;
    let mut rest = &bytes[..];
    let mut payloads = Vec::new();
    while !rest.is_empty() {
        let (head, behind) = rest.split_at_checked(12).ok_or("the file is truncated")?;
        let number = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().unwrap()) as usize;
        let (data, next) = behind.split_at_checked(number(8)).ok_or("the file is truncated")?;
        payloads.push(Payload { stream: number(0), fresh: number(4) != 0, data: data.to_vec() });
        rest = next;
    }
    Ok(payloads)
}

/// Inflate all payloads with a codec, and call `seen` with the number of each payload and parts of its output.
fn pass<S: Stream>(payloads: &[Payload], out: &mut [u8], mut seen: impl FnMut(usize, &[u8])) -> Outcome<()> {
    let mut streams: Vec<S> = (0..STREAMS).map(|_| S::new()).collect();
    for (number, payload) in payloads.iter().enumerate() {
        let stream = &mut streams[payload.stream];
        if payload.fresh {
            stream.reset();
        }
        stream.inflate(&payload.data, out, |bytes| seen(number, bytes))?;
    }
    Ok(())
}

/// Return the output of each payload.
fn output<S: Stream>(payloads: &[Payload], room: usize) -> Outcome<Vec<Vec<u8>>> {
    let mut outputs = vec![Vec::new(); payloads.len()];
    pass::<S>(payloads, &mut vec![1; room], |number, bytes| outputs[number].extend_from_slice(bytes))?;
    Ok(outputs)
}

/// Return the CPU seconds of a round.
fn round<S: Stream>(payloads: &[Payload], out: &mut [u8], passes: usize) -> Outcome<f64> {
    let began = cpu();
    for _ in 0..passes {
        pass::<S>(payloads, out, |_, bytes| _ = std::hint::black_box(bytes))?;
    }
    Ok((cpu() - began) / passes as f64)
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, rounds, path] = &arguments[..] else {
        return Err("usage: codecs ROUNDS FILE".into());
    };
    let payloads = payloads(path)?;
    let ours = output::<Inflater>(&payloads, 0)?;
    let room = ours.iter().map(Vec::len).max().unwrap_or(0) + 1;
    let size: usize = ours.iter().map(Vec::len).sum();
    if ours != output::<Decompress>(&payloads, room)?
        || ours != output::<Inflate>(&payloads, room)?
        || ours != output::<Box<InflateState>>(&payloads, room)?
    {
        return Err("the outputs of the codecs differ".into());
    }
    let (mut out, passes) = (vec![1; room], LEAST_OUTPUT.div_ceil(size.max(1)));
    let codecs = [
        ("ours", round::<Inflater> as fn(&[Payload], &mut [u8], usize) -> Outcome<f64>),
        ("zlib-ng", round::<Decompress>),
        ("zlib-rs", round::<Inflate>),
        ("miniz_oxide", round::<Box<InflateState>>),
    ];
    let mut seconds = codecs.map(|_| Vec::new());
    for _ in 0..rounds.parse()? {
        for ((_, round), seconds) in codecs.iter().zip(&mut seconds) {
            seconds.push(round(&payloads, &mut out, passes)?);
        }
    }
    let lists = codecs.iter().zip(&seconds).map(|((name, _), times)| format!("\"{name}\": {times:?}"));
    println!("{{\"output\": {size}, \"seconds\": {{{}}}}}", lists.collect::<Vec<_>>().join(", "));
    Ok(())
}
