//! One session, as reader threads and Python use it.

use std::net::Shutdown;
use std::sync::{Arc, OnceLock, PoisonError, RwLock, TryLockError, Weak};
use std::time::Instant;

use mio::net::TcpStream;
use rfb::Connection;

use crate::deadlines::{Clock, Timeouts, Verdict};
use crate::decoder::Decoder;
use crate::hub::{Entry, Hub};
use crate::looks::Looks;
#[cfg(target_os = "linux")]
use crate::mapping::{Layout, Mapping, Unusable};
use crate::notice::Notice;
use crate::plan::Plan;
use crate::player::Player;
use crate::process::Process;
use crate::published::{Failure, Published, kind};
use crate::socket::CLOSED;
use crate::sync::{Mutex, lock};
use crate::tap::Tap;
use crate::tls::{Tls, Trust, UNSUPPORTED};

mod copying;
mod planned;
mod reading;
mod requested;
mod sending;
mod tapped;

pub(crate) use reading::{SEALED, Turn};

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
    /// The settings of TLS, if the session itself encrypts and decrypts.
    trust: Option<Trust>,
    /// Set when TLS begins. INVARIANT: nothing else is locked while this is.
    tls: OnceLock<Mutex<Tls>>,
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

/// The parts of a new session.
pub(crate) struct Opening {
    pub id: u64,
    /// None if the caller reads and writes the bytes.
    pub stream: Option<TcpStream>,
    pub trust: Option<Trust>,
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
            trust: opening.trust,
            tls: OnceLock::new(),
            decoder: Mutex::new(Decoder { connection: opening.connection, looks: Looks::default() }),
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
            // Some servers end a handshake so if they have no cipher suite in common with the client.
            None if self.tls.get().is_some_and(|tls| lock(tls).is_handshaking()) => {
                self.finish(UNSUPPORTED, "the server ended the handshake of TLS".into());
            }
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

    /// Request the whole screen, and return the number of this refresh; see `Published::generation`.
    pub fn refresh(&self) -> u64 {
        let connection = &mut lock(&self.decoder).connection;
        let generation = connection.refresh();
        self.send(&connection.data_to_send());
        generation
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
