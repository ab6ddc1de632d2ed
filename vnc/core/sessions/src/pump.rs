//! A few threads that read many sockets and never touch the interpreter.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Registry, Token, Waker};
use rfb::{Config, Connection};

use crate::deadlines::Timeouts;
use crate::hub::Hub;
use crate::process::Process;
use crate::session::{Opening, Session, Turn};
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::{Mutex, lock};

const WAKER: Token = Token(usize::MAX);
/// How often deadlines are looked at.
const TICK: Duration = Duration::from_millis(100);

/// One thread's sockets.
struct Reader {
    registry: Registry,
    waker: Waker,
    sessions: Mutex<HashMap<usize, Arc<Session>>>,
    stop: AtomicBool,
}

/// Reader threads, and the sessions on them.
pub struct Pump {
    process: Process,
    running: Mutex<Option<Running>>,
    next: AtomicU64,
}

/// What has descriptors and threads.
struct Running {
    readers: Vec<Arc<Reader>>,
    threads: Vec<JoinHandle<()>>,
    hub: Arc<Hub>,
}

impl Reader {
    fn get(&self, token: usize) -> Option<Arc<Session>> {
        lock(&self.sessions).get(&token).cloned()
    }

    fn run(&self, mut poll: Poll) {
        let mut events = Events::with_capacity(256);
        let mut again: Vec<(usize, bool)> = Vec::new();
        let mut tick = Instant::now() + TICK;
        while !self.stop.load(Ordering::Acquire) {
            let now = Instant::now();
            let wait = if again.is_empty() { tick.saturating_duration_since(now) } else { Duration::ZERO };
            // Interrupted by a signal: as if nothing had happened.
            let _ = poll.poll(&mut events, Some(wait));
            let mut turns = std::mem::take(&mut again);
            let news = events.iter().filter(|event| event.token() != WAKER);
            turns.extend(news.map(|event| (event.token().0, event.is_read_closed() || event.is_error())));
            for (token, closing) in turns {
                if self.get(token).is_some_and(|session| turn(&session, closing) == Turn::Again) {
                    again.push((token, closing));
                }
            }
            let now = Instant::now();
            if now >= tick {
                tick = now + TICK;
                self.tick(now);
            }
        }
    }

    fn tick(&self, now: Instant) {
        for session in self.current() {
            session.tick(now);
        }
    }

    /// The sessions that are not over; the others are forgotten.
    fn current(&self) -> Vec<Arc<Session>> {
        let mut sessions = lock(&self.sessions);
        sessions.retain(|_, session| session.published().failure().is_none());
        sessions.values().cloned().collect()
    }
}

/// A fault in one session's decoder must not end the others of its thread.
fn turn(session: &Arc<Session>, closing: bool) -> Turn {
    catch_unwind(AssertUnwindSafe(|| session.ready(closing))).unwrap_or_else(|_| {
        session.finish("protocol", "the decoder panicked".into());
        Turn::Done
    })
}

impl Running {
    fn start(threads: usize) -> std::io::Result<Self> {
        let mut running = Self { readers: Vec::new(), threads: Vec::new(), hub: Arc::new(Hub::new()?) };
        for number in 0..threads.max(1) {
            if let Err(error) = running.add_reader(number) {
                running.stop();
                return Err(error);
            }
        }
        Ok(running)
    }

    fn add_reader(&mut self, number: usize) -> std::io::Result<()> {
        let poll = Poll::new()?;
        let reader = Arc::new(Reader {
            registry: poll.registry().try_clone()?,
            waker: Waker::new(poll.registry(), WAKER)?,
            sessions: Mutex::new(HashMap::new()),
            stop: AtomicBool::new(false),
        });
        let runner = Arc::clone(&reader);
        let name = format!("vnc-{number}");
        self.threads.push(std::thread::Builder::new().name(name).spawn(move || runner.run(poll))?);
        self.readers.push(reader);
        Ok(())
    }

    fn session(
        &self,
        id: u64,
        stream: Option<TcpStream>,
        config: Config,
        timeouts: Timeouts,
    ) -> Arc<Session> {
        Arc::new(Session::new(Opening {
            id,
            stream,
            outgoing_limit: config.limits.outgoing,
            connection: Connection::new(config),
            timeouts,
            hub: Arc::downgrade(&self.hub),
        }))
    }

    /// End all sessions and threads.
    fn stop(self) {
        for reader in &self.readers {
            reader.stop.store(true, Ordering::Release);
            // A thread that cannot be woken looks at `stop` at its next tick.
            let _ = reader.waker.wake();
        }
        for thread in self.threads {
            // Panics in sessions were caught; there is nothing in a reader's own result.
            let _ = thread.join();
        }
        for reader in &self.readers {
            for session in reader.current() {
                session.finish("lost", "closed".into());
            }
        }
    }
}

impl Pump {
    /// So many reader threads, without a session.
    pub fn new(threads: usize) -> std::io::Result<Self> {
        let running = Mutex::new(Some(Running::start(threads)?));
        Ok(Self { process: Process::this(), running, next: AtomicU64::new(0) })
    }

    /// Whether this is the process that made it; any other must leave it alone.
    pub fn is_ours(&self) -> bool {
        self.process.is_this()
    }

    /// Where its sessions are listed that have news; None after `close`.
    pub fn hub(&self) -> Option<Arc<Hub>> {
        lock(&self.running).as_ref().map(|running| Arc::clone(&running.hub))
    }

    /// Begin to connect; the session says itself how that goes.
    pub fn open(
        &self,
        address: SocketAddr,
        config: Config,
        timeouts: Timeouts,
    ) -> std::io::Result<Arc<Session>> {
        self.add(|running, reader, id| {
            let mut stream = TcpStream::connect(address)?;
            // INVARIANT: held until the session is listed, so that its first event finds it.
            let mut sessions = lock(&reader.sessions);
            let token = Token(id as usize);
            reader.registry.register(&mut stream, token, Interest::READABLE | Interest::WRITABLE)?;
            let session = running.session(id, Some(stream), config, timeouts);
            sessions.insert(token.0, Arc::clone(&session));
            Ok(session)
        })
    }

    /// A session whose bytes the caller moves; here it is held against its deadlines.
    pub fn feed(&self, config: Config, timeouts: Timeouts) -> std::io::Result<Arc<Session>> {
        self.add(|running, reader, id| {
            let session = running.session(id, None, config, timeouts);
            lock(&reader.sessions).insert(id as usize, Arc::clone(&session));
            Ok(session)
        })
    }

    fn add<T>(&self, add: impl FnOnce(&Running, &Reader, u64) -> std::io::Result<T>) -> std::io::Result<T> {
        let running = lock(&self.running);
        let running = running.as_ref().ok_or(std::io::ErrorKind::NotConnected)?;
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        add(running, &running.readers[id as usize % running.readers.len()], id)
    }

    /// End all sessions and threads. In a process that was forked off: no effect, they are the parent's.
    pub fn close(&self) {
        if self.is_ours() {
            let running = lock(&self.running).take();
            running.into_iter().for_each(Running::stop);
        }
    }
}

impl Drop for Pump {
    fn drop(&mut self) {
        if self.is_ours() {
            self.close();
        } else if let Ok(Some(running)) = self.running.get_mut() {
            // Threads that are not in this process must not even be detached.
            running.threads.drain(..).for_each(std::mem::forget);
        }
    }
}
