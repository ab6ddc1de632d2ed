//! One session as reader threads and Python see it.

use std::io::{ErrorKind, Read};
use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::Release};
use std::sync::{Arc, Mutex, OnceLock, RwLock, Weak};
use std::time::Instant;

use mio::net::TcpStream;
use rfb::{Connection, Error, Event, Reason};

use crate::deadlines::{Clock, Timeouts, Verdict};
use crate::hub::Hub;
use crate::lock;
use crate::pump::Reader;
use crate::socket::{CLOSED, told, write};

/// Bytes one session may bring before the others get their turn.
const TURN: usize = 4 << 20;

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

pub(crate) struct Shared {
    pub id: u64,
    pub token: usize,
    pub noted: AtomicBool,
    /// Whether Python has been told of a frame that nobody has taken since.
    pub announced: AtomicBool,
    pub counters: Counters,
    pub name: OnceLock<String>,
    pub failure: OnceLock<Failure>,
    /// TLS is to begin, and whether the server shows a certificate in it.
    pub certificate: OnceLock<bool>,
    /// Whether the caller moves the bytes; else there is a stream, until the end.
    fed: bool,
    /// Locked for reading by whoever uses the socket, for writing to close it.
    stream: RwLock<Option<TcpStream>>,
    pub connection: Mutex<Connection>,
    /// Bytes the socket did not take yet; held while writing, so that messages stay whole.
    outgoing: Mutex<Vec<u8>>,
    outgoing_limit: usize,
    clock: Mutex<Clock>,
    timeouts: Timeouts,
    /// Not kept alive by sessions that are over: it has a descriptor.
    hub: Weak<Hub>,
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
    pub token: usize,
    /// Without one the caller moves the bytes.
    pub stream: Option<TcpStream>,
    pub connection: Connection,
    pub outgoing_limit: usize,
    pub timeouts: Timeouts,
    pub hub: Weak<Hub>,
    pub reader: Weak<Reader>,
}

impl Shared {
    pub fn new(opening: Opening) -> Self {
        let fed = opening.stream.is_none();
        Self {
            id: opening.token as u64,
            token: opening.token,
            noted: AtomicBool::default(),
            announced: AtomicBool::default(),
            counters: Counters::default(),
            name: OnceLock::new(),
            failure: OnceLock::new(),
            certificate: OnceLock::new(),
            fed,
            stream: RwLock::new(opening.stream),
            connection: Mutex::new(opening.connection),
            outgoing: Mutex::default(),
            outgoing_limit: opening.outgoing_limit,
            clock: Mutex::new(Clock::new(fed)),
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
        self.changed();
    }

    /// Have Python look at this session, if there is still somebody to tell it.
    fn changed(self: &Arc<Self>) {
        if let Some(hub) = self.hub.upgrade() {
            hub.changed(self);
        }
    }

    fn with_stream<T>(&self, use_it: impl FnOnce(&TcpStream) -> T) -> Option<T> {
        let stream = self.stream.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        stream.as_ref().map(use_it)
    }

    pub fn lost(self: &Arc<Self>, text: String) {
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
                    connection.received(count);
                    self.digest(&mut connection);
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
                clock.connect();
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

    /// Take bytes that the caller has read; see then what there is to send.
    pub fn receive(self: &Arc<Self>, bytes: &[u8]) {
        let mut connection = lock(&self.connection);
        connection.receive(bytes);
        self.digest(&mut connection);
    }

    /// The caller has begun TLS.
    pub fn secured(self: &Arc<Self>) {
        let mut connection = lock(&self.connection);
        connection.secured();
        self.digest(&mut connection);
    }

    /// What the caller is to write.
    pub fn data_to_send(&self) -> Vec<u8> {
        std::mem::take(&mut *lock(&self.outgoing))
    }

    /// The connection has received something: answer, and tell.
    fn digest(self: &Arc<Self>, connection: &mut Connection) {
        let answer = connection.data_to_send();
        if !answer.is_empty() {
            self.send(&answer);
        }
        let (mut news, mut drawn) = (false, false);
        while let Some(event) = connection.next_event() {
            drawn |= matches!(event, Event::Frame(_));
            news |= self.event(event);
        }
        let counters = &self.counters;
        if counters.generation.swap(connection.generation(), Relaxed) != connection.generation() {
            news = true;
        }
        lock(&self.clock).hear(connection.in_update());
        counters.frames.store(connection.frames(), Release);
        news |= drawn && !self.announced.swap(true, Relaxed);
        if let Some(error) = connection.error() {
            self.finish(kind(error), error.to_string());
        } else if news {
            self.changed();
        }
    }

    /// Returns whether Python is to be told in any case.
    fn event(&self, event: Event) -> bool {
        let counters = &self.counters;
        match event {
            Event::Ready(init) => {
                counters.size.store(u32::from(init.height) << 16 | u32::from(init.width), Release);
                // It is set once: a connection has one handshake.
                let _ = self.name.set(init.name);
                return true;
            }
            Event::Resized(width, height) => {
                counters.size.store(u32::from(height) << 16 | u32::from(width), Release);
                return true;
            }
            Event::Frame(totals) => {
                counters.rects.fetch_add(totals.rects, Relaxed);
                counters.pixels.fetch_add(totals.pixels, Relaxed);
                counters.bytes.fetch_add(totals.bytes, Relaxed);
                counters.frame_time.store(monotonic().to_bits(), Relaxed);
            }
            Event::StartTls { certificate } => {
                // It is set once: a connection has one handshake.
                let _ = self.certificate.set(certificate);
                return true;
            }
            Event::Cursor(_) | Event::Bell => {}
        }
        false
    }

    /// Write whole messages: now, as far as the socket takes them, the rest when it takes more.
    pub fn send(self: &Arc<Self>, message: &[u8]) {
        let mut outgoing = lock(&self.outgoing);
        if message.is_empty() && outgoing.is_empty() || self.failure.get().is_some() {
            return;
        }
        let mut written = 0;
        let result = if self.fed {
            outgoing.extend(message);
            Some(Ok(()))
        } else if outgoing.is_empty() {
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
            _ if self.fed => self.changed(),
            _ => {}
        }
    }

    /// Hold the session against its deadlines; tidy up.
    pub fn tick(self: &Arc<Self>, now: Instant) {
        let verdict = lock(&self.clock).check(&self.timeouts, self.name.get().is_some(), now);
        match verdict {
            Verdict::Fine => lock(&self.connection).rest(),
            Verdict::Late((kind, text)) => self.finish(kind, text),
            Verdict::Probe => {
                let mut connection = lock(&self.connection);
                connection.probe();
                self.send(&connection.data_to_send());
            }
        }
    }
}

const fn kind(error: &Error) -> &'static str {
    match error {
        Error::Policy(_) | Error::AuthFailed(_) => "auth",
        Error::TooManyFailures(_) => "locked",
        Error::Refused(_) => "connect",
        Error::Limit { .. }
        | Error::Decode { reason: Reason::TooLong(..) | Reason::Limit(..) | Reason::Cursor(..), .. } => {
            "limit"
        }
        Error::NotRfb(_) | Error::Version(..) | Error::Protocol(_) | Error::Decode { .. } => "protocol",
    }
}

/// Python's `time.monotonic()`.
fn monotonic() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}
