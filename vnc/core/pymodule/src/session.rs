//! One session as reader threads and Python see it.

use std::io::{ErrorKind, Read};
use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::Release};
use std::sync::{Arc, Mutex, OnceLock, RwLock, Weak};
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use rfb::{Connection, Error, Event, Reason};

use crate::hub::Hub;
use crate::lock;
use crate::pump::Reader;
use crate::socket::{CLOSED, told, write};

/// Bytes one session may bring before the others get their turn.
const TURN: usize = 4 << 20;

/// Deadlines, each of a whole stage.
#[derive(Clone, Copy)]
pub(crate) struct Timeouts {
    pub connect: Duration,
    pub handshake: Duration,
    pub update: Duration,
    pub probe_interval: Duration,
    pub probe_deadline: Duration,
}

/// Which branch of the error tree in vnc/errors.py ended a session.
pub(crate) type Failure = (&'static str, String);

/// Totals since the session was opened.
#[derive(Default)]
pub(crate) struct Counters {
    pub frames: AtomicU64,
    pub generation: AtomicU64,
    /// The bits of an f64: seconds on the monotonic clock.
    pub frame_time: AtomicU64,
    /// Height in the upper half, width in the lower.
    pub size: AtomicU32,
    pub rects: AtomicU64,
    pub pixels: AtomicU64,
    pub bytes: AtomicU64,
}

/// What only the reader thread looks at.
struct Clock {
    connected: bool,
    since: Instant,
    heard: Instant,
    probed: Option<Instant>,
    update: Option<Instant>,
}

pub(crate) struct Shared {
    pub id: u64,
    pub token: usize,
    pub noted: AtomicBool,
    pub counters: Counters,
    pub name: OnceLock<String>,
    pub failure: OnceLock<Failure>,
    /// Locked for reading by whoever uses the socket, for writing to close it.
    stream: RwLock<Option<TcpStream>>,
    pub connection: Mutex<Connection>,
    /// Bytes the socket did not take yet; held while writing, so that messages stay whole.
    outgoing: Mutex<Vec<u8>>,
    outgoing_limit: usize,
    clock: Mutex<Clock>,
    timeouts: Timeouts,
    hub: Arc<Hub>,
    reader: Weak<Reader>,
}

/// What a turn of reading ended with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// The socket is empty.
    Done,
    /// There is more to read.
    Again,
}

pub(crate) struct Opening {
    pub id: u64,
    pub token: usize,
    pub stream: TcpStream,
    pub connection: Connection,
    pub outgoing_limit: usize,
    pub timeouts: Timeouts,
    pub hub: Arc<Hub>,
    pub reader: Weak<Reader>,
}

impl Shared {
    pub fn new(opening: Opening) -> Self {
        let now = Instant::now();
        Self {
            id: opening.id,
            token: opening.token,
            noted: AtomicBool::default(),
            counters: Counters::default(),
            name: OnceLock::new(),
            failure: OnceLock::new(),
            stream: RwLock::new(Some(opening.stream)),
            connection: Mutex::new(opening.connection),
            outgoing: Mutex::default(),
            outgoing_limit: opening.outgoing_limit,
            clock: Mutex::new(Clock { connected: false, since: now, heard: now, probed: None, update: None }),
            timeouts: opening.timeouts,
            hub: opening.hub,
            reader: opening.reader,
        }
    }

    /// End the session; the first reason given is the one that is kept.
    pub fn finish(self: &Arc<Self>, kind: &'static str, text: String) {
        if self.failure.set((kind, text)).is_err() {
            return;
        }
        let stream = self.stream.write().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        if let Some(stream) = stream {
            // The peer may have gone first; the descriptor is closed either way.
            let _ = stream.shutdown(Shutdown::Both);
        }
        if let Some(reader) = self.reader.upgrade() {
            reader.forget(self.token);
        }
        self.hub.changed(self);
    }

    fn with_stream<T>(&self, use_it: impl FnOnce(&TcpStream) -> T) -> Option<T> {
        let stream = self.stream.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        stream.as_ref().map(use_it)
    }

    fn lost(self: &Arc<Self>, text: String) {
        match self.name.get() {
            Some(_) => self.finish("lost", text),
            None => self.finish("connect", "connection closed during the handshake".into()),
        }
    }

    /// The socket has news: finish connecting, write what waits, read and decode.
    ///
    /// A read that does not fill the buffer has emptied the socket, so it is the last one of the turn; but
    /// when the peer is `closing`, the end of the stream is still to be read.
    pub fn ready(self: &Arc<Self>, closing: bool) -> Turn {
        if !self.connected() {
            return Turn::Done;
        }
        self.send(&[]);
        let mut left = TURN;
        loop {
            let mut connection = lock(&self.connection);
            let space = connection.space();
            let room = space.len();
            let read = self.with_stream(|mut stream| stream.read(space));
            let ended = match read {
                None => return Turn::Done,
                Some(Ok(0)) => CLOSED.into(),
                Some(Ok(count)) => {
                    self.received(&mut connection, count);
                    left = left.saturating_sub(count);
                    if connection.error().is_some() || count < room && !closing {
                        return Turn::Done;
                    }
                    if left == 0 {
                        return Turn::Again;
                    }
                    continue;
                }
                Some(Err(error)) if error.kind() == ErrorKind::WouldBlock => return Turn::Done,
                Some(Err(error)) if error.kind() == ErrorKind::Interrupted => continue,
                Some(Err(error)) => told(&error),
            };
            drop(connection);
            self.lost(ended);
            return Turn::Done;
        }
    }

    /// Whether the connection stands; notices when it does or never will.
    fn connected(self: &Arc<Self>) -> bool {
        let mut clock = lock(&self.clock);
        if clock.connected {
            return true;
        }
        let state = self.with_stream(|stream| match stream.take_error() {
            Ok(Some(error)) | Err(error) => Err(error),
            Ok(None) if stream.peer_addr().is_err() => Ok(false),
            Ok(None) => stream.set_nodelay(true).map(|()| true),
        });
        match state {
            Some(Ok(true)) => {
                clock.connected = true;
                (clock.since, clock.heard) = (Instant::now(), Instant::now());
                true
            }
            Some(Err(error)) => {
                drop(clock);
                self.finish("connect", told(&error));
                false
            }
            Some(Ok(false)) | None => false,
        }
    }

    /// `count` bytes are in the connection's buffer.
    fn received(self: &Arc<Self>, connection: &mut Connection, count: usize) {
        connection.received(count);
        let answer = connection.data_to_send();
        if !answer.is_empty() {
            self.send(&answer);
        }
        let mut news = false;
        while let Some(event) = connection.next_event() {
            news |= self.event(event);
        }
        let counters = &self.counters;
        if counters.generation.swap(connection.generation(), Relaxed) != connection.generation() {
            news = true;
        }
        let now = Instant::now();
        {
            let mut clock = lock(&self.clock);
            (clock.heard, clock.probed) = (now, None);
            clock.update = if connection.in_update() { clock.update.or(Some(now)) } else { None };
        }
        counters.frames.store(connection.frames(), Release);
        if let Some(error) = connection.error() {
            self.finish(kind(error), error.to_string());
        } else if news {
            self.hub.changed(self);
        }
    }

    fn event(&self, event: Event) -> bool {
        let counters = &self.counters;
        match event {
            Event::Ready(init) => {
                counters.size.store(u32::from(init.height) << 16 | u32::from(init.width), Release);
                // It is set once: a connection has one handshake.
                let _ = self.name.set(init.name);
            }
            Event::Resized(width, height) => {
                counters.size.store(u32::from(height) << 16 | u32::from(width), Release);
            }
            Event::Frame(totals) => {
                counters.rects.fetch_add(totals.rects, Relaxed);
                counters.pixels.fetch_add(totals.pixels, Relaxed);
                counters.bytes.fetch_add(totals.bytes, Relaxed);
                counters.frame_time.store(monotonic().to_bits(), Relaxed);
            }
            Event::Cursor(_) | Event::Bell => return false,
        }
        true
    }

    /// Write whole messages: now, as far as the socket takes them, the rest when it takes more.
    pub fn send(self: &Arc<Self>, message: &[u8]) {
        let mut outgoing = lock(&self.outgoing);
        if message.is_empty() && outgoing.is_empty() {
            return;
        }
        let mut written = 0;
        let result = if outgoing.is_empty() {
            let result = self.with_stream(|stream| write(stream, message, &mut written));
            outgoing.extend(&message[written..]);
            result
        } else {
            outgoing.extend(message);
            let result = self.with_stream(|stream| write(stream, &outgoing, &mut written));
            outgoing.drain(..written);
            result
        };
        let waiting = outgoing.len();
        drop(outgoing);
        match result {
            Some(Err(error)) => self.lost(told(&error)),
            Some(Ok(())) if waiting > self.outgoing_limit => {
                self.lost(format!("the server does not read; {waiting} bytes are waiting for it"));
            }
            _ => {}
        }
    }

    /// Hold the session against its deadlines.
    pub fn tick(self: &Arc<Self>, now: Instant) {
        let (limits, ready) = (self.timeouts, self.name.get().is_some());
        let mut clock = lock(&self.clock);
        let age = |since: Instant| now.saturating_duration_since(since);
        let late = if !clock.connected {
            (age(clock.since) > limits.connect).then_some(("connect", limits.connect, "no connection within"))
        } else if !ready {
            (age(clock.since) > limits.handshake).then_some((
                "connect",
                limits.handshake,
                "no end of the handshake within",
            ))
        } else if clock.update.is_some_and(|since| age(since) > limits.update) {
            Some(("lost", limits.update, "message 0 unfinished after"))
        } else {
            let silent = clock.probed.is_some_and(|since| age(since) > limits.probe_deadline);
            silent.then_some(("lost", limits.probe_deadline, "no answer to a probe within"))
        };
        let probe = ready && clock.probed.is_none() && age(clock.heard) > limits.probe_interval;
        if probe {
            clock.probed = Some(now);
        }
        drop(clock);
        if let Some((kind, limit, what)) = late {
            let seconds = (limit.as_secs_f64() * 1000.0).round() / 1000.0;
            self.finish(kind, format!("{what} {seconds} s"));
        } else if probe {
            let mut connection = lock(&self.connection);
            connection.probe();
            self.send(&connection.data_to_send());
        }
    }
}

const fn kind(error: &Error) -> &'static str {
    match error {
        Error::Policy(_) | Error::AuthFailed(_) => "auth",
        Error::TooManyFailures(_) => "locked",
        Error::Refused(_) => "connect",
        Error::Limit { .. } | Error::Decode { reason: Reason::TooLong(..), .. } => "limit",
        Error::NotRfb(_) | Error::Version(..) | Error::Protocol(_) | Error::Decode { .. } => "protocol",
    }
}

/// Python's `time.monotonic()`.
fn monotonic() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}
