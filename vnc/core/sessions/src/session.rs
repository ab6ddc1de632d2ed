//! One session as reader threads and Python see it.

use std::io::{ErrorKind, Read};
use std::net::Shutdown;
use std::sync::{Arc, PoisonError, RwLock, TryLockError, Weak};
use std::time::Instant;

use mio::net::TcpStream;
use rfb::{Connection, Error, Event, Reason};

use crate::deadlines::{Clock, Timeouts, Verdict};
use crate::decoder::{Decoder, Mismatch};
use crate::hub::{Entry, Hub};
use crate::process::Process;
use crate::published::{Changes, Failure, Published};
use crate::socket::{CLOSED, words, write};
use crate::sync::{Mutex, lock};

/// Bytes one session may bring before the others get their turn.
const TURN: usize = 4 << 20;

/// One connection to a VNC server.
pub struct Session {
    process: Process,
    entry: Arc<Entry>,
    published: Published,
    /// Whether the caller moves the bytes; else there is a stream, until the end.
    fed: bool,
    /// Locked for reading by whoever uses the socket, for writing to close it.
    stream: RwLock<Option<TcpStream>>,
    decoder: Mutex<Decoder>,
    /// Bytes the socket did not take yet; held while writing, so that messages stay whole.
    outgoing: Mutex<Vec<u8>>,
    outgoing_limit: usize,
    clock: Mutex<Clock>,
    timeouts: Timeouts,
    /// Not kept alive by sessions that are over: it has a descriptor.
    hub: Weak<Hub>,
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
    /// Without one the caller moves the bytes.
    pub stream: Option<TcpStream>,
    pub connection: Connection,
    pub outgoing_limit: usize,
    pub timeouts: Timeouts,
    pub hub: Weak<Hub>,
}

impl Session {
    pub(crate) fn new(opening: Opening) -> Self {
        let fed = opening.stream.is_none();
        Self {
            process: Process::this(),
            entry: Entry::new(opening.id),
            published: Published::default(),
            fed,
            stream: RwLock::new(opening.stream),
            decoder: Mutex::new(Decoder { connection: opening.connection, announced: false }),
            outgoing: Mutex::new(Vec::new()),
            outgoing_limit: opening.outgoing_limit,
            clock: Mutex::new(Clock::new(fed, Instant::now())),
            timeouts: opening.timeouts,
            hub: opening.hub,
        }
    }

    /// What `Hub::drain` calls this session.
    pub fn id(&self) -> u64 {
        self.entry.id
    }

    /// What can be read of it without waiting.
    pub const fn published(&self) -> &Published {
        &self.published
    }

    /// Whether this is the process that opened it; any other must leave it alone.
    pub fn is_ours(&self) -> bool {
        self.process.is_this()
    }

    /// Whether the TCP connection was established.
    pub fn connected(&self) -> bool {
        lock(&self.clock).connected
    }

    /// Close the socket. In a process that was forked off: no effect, the connection is the parent's.
    pub fn close(&self) {
        if self.is_ours() {
            self.finish("lost", "closed by us".into());
        }
    }

    /// End the session; the first reason given is the one that is kept.
    pub(crate) fn finish(&self, kind: &'static str, text: String) {
        let failure = self.close_connection().unwrap_or((kind, text));
        if self.published.failure.set(failure).is_err() {
            return;
        }
        let stream = self.stream.write().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(stream) = stream {
            // The peer may have gone first; the descriptor is closed either way.
            let _ = stream.shutdown(Shutdown::Both);
        }
        self.changed();
    }

    /// Give back what the connection holds; returns what it knows of its end.
    ///
    /// Where it is in use, by this thread or another, `digest` does that.
    fn close_connection(&self) -> Option<Failure> {
        let mut decoder = match self.decoder.try_lock() {
            Ok(decoder) => decoder,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        decoder.connection.close();
        decoder.connection.error().map(|error| (kind(error), error.to_string()))
    }

    /// The connection has ended.
    pub(crate) fn end(&self, text: String) {
        match self.published.name() {
            Some(_) => self.finish("lost", text),
            None => self.finish("connect", "connection closed during the handshake".into()),
        }
    }

    /// The connection of a session that is fed has ended.
    pub fn lost(&self) {
        self.end(CLOSED.into());
    }

    /// The server is not to be trusted.
    pub fn refuse(&self, reason: String) {
        self.finish("auth", reason);
    }

    /// Have Python look at this session, if there is still somebody to tell it.
    fn changed(&self) {
        if let Some(hub) = self.hub.upgrade() {
            hub.changed(&self.entry);
        }
    }

    fn with_stream<T>(&self, use_it: impl FnOnce(&TcpStream) -> T) -> Option<T> {
        let stream = self.stream.read().unwrap_or_else(PoisonError::into_inner);
        stream.as_ref().map(use_it)
    }

    /// The socket has news: finish connecting, write what waits, read and decode.
    ///
    /// A read that does not fill the buffer has emptied the socket, so it is the last one of the turn; but
    /// when the peer is `closing`, the end of the stream is still to be read.
    pub(crate) fn ready(&self, closing: bool) -> Turn {
        if !self.establish() {
            return Turn::Done;
        }
        self.send(&[]);
        let mut left = TURN;
        loop {
            let mut decoder = lock(&self.decoder);
            let space = decoder.connection.space();
            let room = space.len();
            let read = self.with_stream(|mut stream| stream.read(space));
            let ended = match read {
                None => return Turn::Done,
                Some(Ok(0)) => CLOSED.into(),
                Some(Ok(count)) => {
                    decoder.connection.received(count);
                    self.digest(&mut decoder);
                    left = left.saturating_sub(count);
                    if decoder.connection.error().is_some() || count < room && !closing {
                        return Turn::Done;
                    }
                    if left == 0 {
                        return Turn::Again;
                    }
                    continue;
                }
                Some(Err(error)) if error.kind() == ErrorKind::WouldBlock => return Turn::Done,
                Some(Err(error)) if error.kind() == ErrorKind::Interrupted => continue,
                Some(Err(error)) => words(&error),
            };
            drop(decoder);
            self.end(ended);
            return Turn::Done;
        }
    }

    /// Whether the connection stands; notices when it does or never will.
    fn establish(&self) -> bool {
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
                clock.connect(Instant::now());
                true
            }
            Some(Err(error)) => {
                drop(clock);
                self.finish("connect", words(&error));
                false
            }
            Some(Ok(false)) | None => false,
        }
    }

    /// Take bytes that the caller has read; see then what there is to send.
    pub fn receive(&self, bytes: &[u8]) {
        let mut decoder = lock(&self.decoder);
        decoder.connection.receive(bytes);
        self.digest(&mut decoder);
    }

    /// The caller has begun TLS.
    pub fn secured(&self) {
        let mut decoder = lock(&self.decoder);
        decoder.connection.secured();
        self.digest(&mut decoder);
    }

    /// What the caller is to write.
    pub fn data_to_send(&self) -> Vec<u8> {
        std::mem::take(&mut *lock(&self.outgoing))
    }

    /// The connection has received something: answer, publish, and tell.
    fn digest(&self, decoder: &mut Decoder) {
        let Decoder { connection, announced } = decoder;
        let answer = connection.data_to_send();
        if !answer.is_empty() {
            self.send(&answer);
        }
        let mut changes = Changes {
            frames: connection.frames(),
            generation: connection.generation(),
            long_cut_texts: connection.long_cut_texts(),
            ..Changes::default()
        };
        let (mut news, mut drawn) = (false, rfb::Totals::default());
        while let Some(event) = connection.next_event() {
            match event {
                Event::Ready(init) => {
                    changes.size = Some((init.width, init.height));
                    // It is set once: a connection has one handshake.
                    let _ = self.published.name.set(init.name);
                    news = true;
                }
                Event::Resized(width, height) => (changes.size, news) = (Some((width, height)), true),
                Event::Frame(totals) => drawn += totals,
                Event::StartTls { certificate } => {
                    // It is set once: a connection has one handshake.
                    let _ = self.published.certificate.set(certificate);
                    news = true;
                }
                Event::Cursor(_) | Event::Bell => {}
            }
        }
        if changes.frames > self.published.frames() {
            changes.drawn = Some((drawn, monotonic()));
            news |= !std::mem::replace(announced, true);
        }
        lock(&self.clock).receive(connection.unfinished(), Instant::now());
        news |= self.published.publish(&changes);
        if let Some(error) = connection.error() {
            self.finish(kind(error), error.to_string());
        } else if news {
            self.changed();
        }
        if self.published.failure().is_some() {
            connection.close();
        }
    }

    /// Ask for the whole screen; returns the generation that will hold it.
    pub fn refresh(&self) -> u64 {
        let connection = &mut lock(&self.decoder).connection;
        let generation = connection.refresh();
        self.send(&connection.data_to_send());
        generation
    }

    /// Write whole messages: now, as far as the socket takes them, the rest when it takes more.
    pub fn send(&self, message: &[u8]) {
        let mut outgoing = lock(&self.outgoing);
        if message.is_empty() && outgoing.is_empty() || self.published.failure().is_some() {
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
            Some(Err(error)) => self.end(words(&error)),
            Some(Ok(())) if waiting > self.outgoing_limit => {
                self.end(format!("the server does not read; {waiting} bytes are waiting for it"));
            }
            _ if self.fed => self.changed(),
            _ => {}
        }
    }

    /// Copy the newest frame into `target`, as `copy`; None if that would have to wait.
    pub fn try_copy(
        &self,
        shape: [usize; 3],
        since: Option<u64>,
        target: &mut [u8],
    ) -> Option<Result<u64, Mismatch>> {
        match self.decoder.try_lock() {
            Ok(mut decoder) => Some(decoder.copy(shape, since, target)),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner().copy(shape, since, target)),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Copy the newest frame into `target`, which has this shape and holds frame `since`, if any; returns its number.
    ///
    /// Without a whole frame the target stays as it is.
    pub fn copy(&self, shape: [usize; 3], since: Option<u64>, target: &mut [u8]) -> Result<u64, Mismatch> {
        lock(&self.decoder).copy(shape, since, target)
    }

    /// Hold the session against its deadlines; tidy up.
    pub(crate) fn tick(&self, now: Instant) {
        let verdict = lock(&self.clock).check(&self.timeouts, self.published.name().is_some(), now);
        match verdict {
            Verdict::Fine => lock(&self.decoder).connection.rest(),
            Verdict::Late((kind, text)) => self.finish(kind, text),
            Verdict::Probe => {
                let connection = &mut lock(&self.decoder).connection;
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
