//! A few threads that read many sockets and never take Python's GIL.

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
use crate::player::Player;
use crate::process::Process;
use crate::session::{Opening, SEALED, Session, Turn};
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::{Mutex, lock};
use crate::tls::Trust;

const WAKER: Token = Token(usize::MAX);
/// The interval between checks of the deadlines.
const TICK: Duration = Duration::from_millis(100);

/// The sockets of one thread.
struct Reader {
    registry: Registry,
    waker: Waker,
    sessions: Mutex<HashMap<usize, Arc<Session>>>,
    stop: AtomicBool,
}

/// Reader threads and their sessions.
pub struct Pump {
    process: Process,
    running: Mutex<Option<Running>>,
    next: AtomicU64,
}

/// The threads and descriptors of a pump that is not closed.
struct Running {
    readers: Vec<Arc<Reader>>,
    threads: Vec<JoinHandle<()>>,
    hub: Arc<Hub>,
    player: Arc<Player>,
}

impl Reader {
    fn get(&self, token: usize) -> Option<Arc<Session>> {
        lock(&self.sessions).get(&token).cloned()
    }

    fn run(&self, mut poll: Poll) {
        let mut events = Events::with_capacity(256);
        let mut again: Vec<(usize, bool)> = Vec::new();
        let mut sealed = vec![0; SEALED];
        let mut tick = Instant::now() + TICK;
        while !self.stop.load(Ordering::Acquire) {
            let now = Instant::now();
            let wait = if again.is_empty() { tick.saturating_duration_since(now) } else { Duration::ZERO };
            // After an interruption by a signal there are no events.
            let _ = poll.poll(&mut events, Some(wait));
            let mut turns = std::mem::take(&mut again);
            let news = events.iter().filter(|event| event.token() != WAKER);
            turns.extend(news.map(|event| (event.token().0, event.is_read_closed() || event.is_error())));
            for (token, closing) in turns {
                if self.get(token).is_some_and(|session| turn(&session, closing, &mut sealed) == Turn::Again)
                {
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

    /// Drop the sessions that have ended, and return the others.
    fn current(&self) -> Vec<Arc<Session>> {
        let mut sessions = lock(&self.sessions);
        sessions.retain(|_, session| session.published().failure().is_none());
        sessions.values().cloned().collect()
    }
}

/// Give a session its turn. A panic in its decoder ends this session and no other of the thread.
fn turn(session: &Arc<Session>, closing: bool, sealed: &mut [u8]) -> Turn {
    catch_unwind(AssertUnwindSafe(|| session.ready(closing, sealed))).unwrap_or_else(|_| {
        session.finish("protocol", "the decoder panicked".into());
        Turn::Done
    })
}

impl Running {
    fn start(threads: usize) -> std::io::Result<Self> {
        let mut running = Self {
            readers: Vec::new(),
            threads: Vec::new(),
            hub: Arc::new(Hub::new()?),
            player: Arc::default(),
        };
        let readers = (0..threads.max(1)).try_for_each(|number| running.add_reader(number));
        match readers.and_then(|()| running.add_player()) {
            Ok(()) => Ok(running),
            Err(error) => {
                running.stop();
                Err(error)
            }
        }
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

    fn add_player(&mut self) -> std::io::Result<()> {
        let player = Arc::clone(&self.player);
        let thread = std::thread::Builder::new().name("vnc-input".into()).spawn(move || player.run())?;
        self.threads.push(thread);
        Ok(())
    }

    fn session(
        &self,
        id: u64,
        stream: Option<TcpStream>,
        trust: Option<Trust>,
        config: Config,
        timeouts: Timeouts,
    ) -> Arc<Session> {
        Arc::new(Session::new(Opening {
            id,
            stream,
            trust,
            outgoing_limit: config.limits.outgoing,
            connection: Connection::new(config),
            timeouts,
            hub: Arc::downgrade(&self.hub),
            player: Arc::downgrade(&self.player),
        }))
    }

    /// End all sessions and threads.
    fn stop(self) {
        for reader in &self.readers {
            reader.stop.store(true, Ordering::Release);
            // A thread that cannot be woken reads `stop` at its next tick.
            let _ = reader.waker.wake();
        }
        self.player.stop();
        for thread in self.threads {
            // Panics in sessions are caught in `turn`, and a reader returns nothing.
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
    /// Start reader threads.
    pub fn new(threads: usize) -> std::io::Result<Self> {
        let running = Mutex::new(Some(Running::start(threads)?));
        Ok(Self { process: Process::this(), running, next: AtomicU64::new(0) })
    }

    /// Whether the current process created the pump. A fork of it must not use the pump.
    pub fn is_ours(&self) -> bool {
        self.process.is_this()
    }

    /// The list of the sessions with news; None after `close`.
    pub fn hub(&self) -> Option<Arc<Hub>> {
        lock(&self.running).as_ref().map(|running| Arc::clone(&running.hub))
    }

    /// Start to connect, and return the session, which reports success or failure. With `trust` it uses TLS, which the
    /// configuration must require.
    pub fn open(
        &self,
        address: SocketAddr,
        trust: Option<Trust>,
        config: Config,
        timeouts: Timeouts,
    ) -> std::io::Result<Arc<Session>> {
        self.add(|running, reader, id| {
            let mut stream = TcpStream::connect(address)?;
            // INVARIANT: locked until the session is in the map, so that its first event finds it.
            let mut sessions = lock(&reader.sessions);
            let token = Token(id as usize);
            reader.registry.register(&mut stream, token, Interest::READABLE | Interest::WRITABLE)?;
            let session = running.session(id, Some(stream), trust, config, timeouts);
            sessions.insert(token.0, Arc::clone(&session));
            Ok(session)
        })
    }

    /// Return a session whose bytes the caller reads and writes. The pump only checks its deadlines.
    pub fn feed(&self, config: Config, timeouts: Timeouts) -> std::io::Result<Arc<Session>> {
        self.add(|running, reader, id| {
            let session = running.session(id, None, None, config, timeouts);
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

    /// End all sessions and threads. In a fork of the process that created the pump this has no effect.
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
            // The threads belong to the parent process, so their handles must not even be dropped.
            running.threads.drain(..).for_each(std::mem::forget);
        }
    }
}
