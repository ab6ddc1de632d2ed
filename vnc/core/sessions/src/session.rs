//! One session, as reader threads and Python use it.

use std::io::{ErrorKind, Read};
use std::net::Shutdown;
use std::sync::{Arc, PoisonError, RwLock, TryLockError, Weak};
use std::time::Instant;

use mio::net::TcpStream;
use rfb::{Connection, Event};

use crate::deadlines::{Clock, Timeouts, Verdict};
use crate::decoder::Decoder;
use crate::hub::{Entry, Hub};
#[cfg(target_os = "linux")]
use crate::mapping::{Layout, Mapping, Unusable};
use crate::monotonic::monotonic;
use crate::notice::Notice;
use crate::plan::Plan;
use crate::player::Player;
use crate::process::Process;
use crate::published::{Changes, Failure, Published, kind};
use crate::socket::{CLOSED, error_text, write};
use crate::sync::{Mutex, lock};
use crate::tap::Tap;

mod copying;
mod planned;
mod tapped;

/// Bytes that one session may read before the other sessions of its thread get their turn.
const TURN: usize = 4 << 20;
/// Whether a socket announces bytes that arrive after a read that has not filled the buffer.
const SHORT_IS_EMPTY: bool = cfg!(target_os = "linux");

/// One connection to a VNC server.
pub struct Session {
    process: Process,
    entry: Arc<Entry>,
    published: Published,
    notice: Notice,
    /// Whether the caller reads and writes the bytes. Otherwise the session has a stream until it ends.
    fed: bool,
    /// Locked for reading to use the socket, for writing to close it.
    stream: RwLock<Option<TcpStream>>,
    decoder: Mutex<Decoder>,
    /// Bytes that the socket has not accepted yet; locked during a write, so that messages stay whole.
    outgoing: Mutex<Vec<u8>>,
    outgoing_limit: usize,
    /// Locked while a message of it is sent, so that after a replacement no replaced message is sent.
    plan: Mutex<Plan>,
    clock: Mutex<Clock>,
    timeouts: Timeouts,
    taps: Mutex<Vec<Arc<Tap>>>,
    /// Weak, so that sessions that have ended do not keep the hub's descriptor open.
    hub: Weak<Hub>,
    player: Weak<Player>,
}

/// The result of a turn of reading.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// The socket has no more bytes now.
    Done,
    /// The socket has more bytes.
    Again,
}

/// The parts of a new session.
pub(crate) struct Opening {
    pub id: u64,
    /// None if the caller reads and writes the bytes.
    pub stream: Option<TcpStream>,
    pub connection: Connection,
    pub outgoing_limit: usize,
    pub timeouts: Timeouts,
    pub hub: Weak<Hub>,
    pub player: Weak<Player>,
}

impl Session {
    pub(crate) fn new(opening: Opening) -> Self {
        let fed = opening.stream.is_none();
        Self {
            process: Process::this(),
            entry: Entry::new(opening.id),
            published: Published::default(),
            notice: Notice::default(),
            fed,
            stream: RwLock::new(opening.stream),
            decoder: Mutex::new(Decoder { connection: opening.connection }),
            outgoing: Mutex::new(Vec::new()),
            outgoing_limit: opening.outgoing_limit,
            plan: Mutex::default(),
            clock: Mutex::new(Clock::new(fed, Instant::now())),
            timeouts: opening.timeouts,
            taps: Mutex::default(),
            hub: opening.hub,
            player: opening.player,
        }
    }

    /// The id of this session in `Hub::drain`.
    pub fn id(&self) -> u64 {
        self.entry.id
    }

    /// What can be read of the session without a lock.
    pub const fn published(&self) -> &Published {
        &self.published
    }

    /// Whether the current process opened the session. A fork of it must not use the session.
    pub fn is_ours(&self) -> bool {
        self.process.is_this()
    }

    /// Whether the TCP connection was established.
    pub fn connected(&self) -> bool {
        lock(&self.clock).connected
    }

    /// Close the socket. In a fork of the process that opened the session this has no effect.
    pub fn close(&self) {
        if self.is_ours() {
            self.finish("lost", "closed by us".into());
        }
    }

    /// End the session. Only the first reason is kept.
    pub(crate) fn finish(&self, kind: &'static str, text: String) {
        let failure = self.close_connection().unwrap_or((kind, text));
        if !self.published.end(failure) {
            return;
        }
        let stream = self.stream.write().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(stream) = stream {
            // This fails if the peer has closed first. The descriptor is closed in both cases.
            let _ = stream.shutdown(Shutdown::Both);
        }
        lock(&self.taps).drain(..).for_each(|tap| tap.end());
        self.changed();
    }

    /// Free the connection's memory, and return the error that ended it, if any.
    ///
    /// If the decoder is locked, by this thread or another, `react` frees the memory later.
    fn close_connection(&self) -> Option<Failure> {
        let mut decoder = match self.decoder.try_lock() {
            Ok(decoder) => decoder,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        decoder.connection.close();
        decoder.connection.error().map(|error| (kind(error), error.to_string()))
    }

    /// Handle the end of the connection.
    pub(crate) fn end(&self, text: String) {
        match self.published.name() {
            Some(_) => self.finish("lost", text),
            None => self.finish("connect", "connection closed during the handshake".into()),
        }
    }

    /// Handle the end of the connection of a session whose bytes the caller moves.
    pub fn lost(&self) {
        self.end(CLOSED.into());
    }

    /// End the session because the server is not trusted.
    pub fn refuse(&self, reason: String) {
        self.finish("auth", reason);
    }

    /// List the session in the hub, if the hub still exists.
    fn changed(&self) {
        if let Some(hub) = self.hub.upgrade() {
            hub.changed(&self.entry);
        }
    }

    fn with_stream<T>(&self, use_it: impl FnOnce(&TcpStream) -> T) -> Option<T> {
        let stream = self.stream.read().unwrap_or_else(PoisonError::into_inner);
        stream.as_ref().map(use_it)
    }

    /// Handle a readiness event of the socket: finish connecting, write waiting bytes, read and decode.
    ///
    /// On Linux, a read that does not fill the buffer has emptied the socket, so it is the last one of the turn; elsewhere
    /// only a refused read announces further bytes. If the peer is `closing`, reading continues to the end of the stream.
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
                    self.react_to_all(&mut decoder);
                    left = left.saturating_sub(count);
                    if decoder.connection.error().is_some() || SHORT_IS_EMPTY && count < room && !closing {
                        return Turn::Done;
                    }
                    if left == 0 {
                        return Turn::Again;
                    }
                    continue;
                }
                Some(Err(error)) if error.kind() == ErrorKind::WouldBlock => return Turn::Done,
                Some(Err(error)) if error.kind() == ErrorKind::Interrupted => continue,
                Some(Err(error)) => error_text(&error),
            };
            drop(decoder);
            self.end(ended);
            return Turn::Done;
        }
    }

    /// Return whether the connection is established; end the session if it failed.
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
                self.finish("connect", error_text(&error));
                false
            }
            Some(Ok(false)) | None => false,
        }
    }

    /// Process bytes that the caller has read. Then send what `data_to_send` returns.
    pub fn receive(&self, bytes: &[u8]) {
        let mut decoder = lock(&self.decoder);
        decoder.connection.receive(bytes);
        self.react_to_all(&mut decoder);
    }

    /// Continue the handshake after the caller has established TLS.
    pub fn secured(&self) {
        let mut decoder = lock(&self.decoder);
        decoder.connection.secured();
        self.react(&mut decoder);
    }

    /// Return the bytes that the caller must write now.
    pub fn data_to_send(&self) -> Vec<u8> {
        std::mem::take(&mut *lock(&self.outgoing))
    }

    /// React to received bytes, after each frame if every frame is wanted.
    fn react_to_all(&self, decoder: &mut Decoder) {
        self.react(decoder);
        while decoder.connection.resume() {
            self.react(decoder);
        }
    }

    /// React to received bytes: send the answers, publish the changes, list the session if there is news.
    fn react(&self, decoder: &mut Decoder) {
        let connection = &mut decoder.connection;
        let answer = connection.data_to_send();
        if !answer.is_empty() {
            self.send(&answer);
        }
        let mut changes = Changes {
            frames: connection.frames(),
            generation: connection.generation(),
            long_cut_texts: connection.long_cut_texts(),
            shares: connection.shares(),
            more_buttons: connection.more_buttons(),
            ..Changes::default()
        };
        let (mut news, mut drawn) = (false, rfb::Totals::default());
        while let Some(event) = connection.next_event() {
            match event {
                Event::Ready(init) => {
                    changes.size = Some((init.width, init.height));
                    (changes.name, news) = (Some(init.name), true);
                }
                Event::Resized(width, height) => (changes.size, news) = (Some((width, height)), true),
                Event::Frame(totals) => drawn += totals,
                Event::StartTls { certificate } => (changes.certificate, news) = (Some(certificate), true),
                Event::Offer(offer) => (changes.offer, news) = (Some(offer), true),
                Event::Cursor(_) | Event::Bell => {}
            }
        }
        let is_frame = changes.frames > self.published.frames();
        if is_frame {
            let time = monotonic();
            changes.drawn = Some((drawn, time));
            self.copy_to_taps(connection, time);
        }
        lock(&self.clock).receive(connection.unfinished(), Instant::now());
        news |= self.published.publish(changes);
        news |= is_frame && self.notice.frame();
        if let Some(error) = connection.error() {
            self.finish(kind(error), error.to_string());
        } else if news {
            self.changed();
        }
        if self.published.failure().is_some() {
            connection.close();
        }
    }

    /// Request the whole screen, and return the number of this refresh; see `Published::generation`.
    pub fn refresh(&self) -> u64 {
        let connection = &mut lock(&self.decoder).connection;
        let generation = connection.refresh();
        self.send(&connection.data_to_send());
        generation
    }

    /// Choose whether frames list the session in the hub, as they do at first: one frame until `copy`. Return whether there
    /// is a frame that was neither copied nor listed; it is not listed.
    pub fn listen(&self, listens: bool) -> bool {
        self.notice.listen(listens)
    }

    #[cfg(target_os = "linux")]
    /// From now on, read frames from the memory that the server has offered. `memory` must be open during the call.
    pub fn map(&self, memory: std::os::fd::RawFd, layout: Layout) -> Result<(), Unusable> {
        let connection = &mut lock(&self.decoder).connection;
        let screen = connection.screen();
        let mapping = Mapping::new(memory, layout, (screen.width(), screen.height()))?;
        connection.map(Box::new(mapping));
        self.send(&connection.data_to_send());
        Ok(())
    }

    /// Write whole messages. Bytes that the socket does not accept now are written when it is ready again.
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
            Some(Err(error)) => self.end(error_text(&error)),
            Some(Ok(())) if waiting > self.outgoing_limit => {
                self.end(format!("the server does not read; {waiting} bytes are waiting for it"));
            }
            _ if self.fed => self.changed(),
            _ => {}
        }
    }

    /// Check the deadlines, and free memory that is not needed now.
    pub(crate) fn tick(&self, now: Instant) {
        let verdict = lock(&self.clock).check(&self.timeouts, self.published.name().is_some(), now);
        match verdict {
            Verdict::Fine => lock(&self.decoder).connection.trim(),
            Verdict::Late((kind, text)) => self.finish(kind, text),
            Verdict::Probe => {
                let connection = &mut lock(&self.decoder).connection;
                connection.probe();
                self.send(&connection.data_to_send());
            }
        }
    }
}
