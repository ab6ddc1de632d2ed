//! The classes that Python sees; see vnc/_core.pyi.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::{Arc, Mutex, TryLockError};
use std::time::Duration;

use numpy::{PyArray3, PyArrayMethods, PyReadwriteArray3, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyWeakrefReference};
use rfb::{Config, Connection, Credentials, Limits, Tls};

use crate::deadlines::Timeouts;
use crate::lock;
use crate::pump;
use crate::session::Shared;
use crate::socket::CLOSED;

/// A copy of more bytes than this lets other Python threads run meanwhile.
const BIG: usize = 64 << 10;
/// Arrays a session remembers as its readers.
const READERS: usize = 4;

/// Reader threads and the sessions on them.
#[pyclass(frozen)]
pub(crate) struct Pump(pump::Pump);

/// One connection.
#[pyclass(frozen)]
pub(crate) struct Session {
    shared: Arc<Shared>,
    readers: Mutex<Vec<Taken>>,
}

/// An array that frames were taken into, and the frame that it holds.
struct Taken {
    /// Whoever owns the memory; while it lives, the address means this array.
    owner: Py<PyWeakrefReference>,
    data: usize,
    frames: u64,
}

#[pymethods]
impl Pump {
    #[new]
    fn new(threads: usize) -> PyResult<Self> {
        Ok(Self(pump::Pump::new(threads)?))
    }

    /// Readable when `drain` has something to tell.
    fn fileno(&self) -> i32 {
        self.0.hub().descriptor()
    }

    /// The ids of the sessions with news.
    fn drain(&self) -> Vec<u64> {
        self.0.hub().drain()
    }

    /// Begin to connect to a numeric address.
    ///
    /// `limits`: framebuffer width, framebuffer height, text, cut text, outgoing.
    /// `timeouts`: connect, handshake, update, probe interval, probe deadline, in seconds.
    fn open(
        &self,
        host: &str,
        port: u16,
        password: Option<Vec<u8>>,
        encodings: Vec<i32>,
        limits: (u16, u16, usize, usize, usize),
        timeouts: [f64; 5],
    ) -> PyResult<Session> {
        let address: IpAddr =
            host.parse().map_err(|_| PyValueError::new_err(format!("{host:?} is no IP address")))?;
        let credentials = Credentials { password, ..Credentials::default() };
        let config = Config { credentials, encodings, limits: bounds(limits) };
        let shared = self.0.open(SocketAddr::new(address, port), config, deadlines(timeouts)?)?;
        Ok(Session { shared, readers: Mutex::default() })
    }

    /// A session over TLS, on a connection of the caller's; otherwise as `open`.
    fn feed(
        &self,
        anonymous: bool,
        username: Option<Vec<u8>>,
        password: Option<Vec<u8>>,
        encodings: Vec<i32>,
        limits: (u16, u16, usize, usize, usize),
        timeouts: [f64; 5],
    ) -> PyResult<Session> {
        let tls = if anonymous { Tls::Anonymous } else { Tls::Certificate };
        let credentials = Credentials { username, password, tls };
        let config = Config { credentials, encodings, limits: bounds(limits) };
        Ok(Session { shared: self.0.feed(config, deadlines(timeouts)?), readers: Mutex::default() })
    }

    /// End all sessions and threads.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.0.close());
    }
}

fn bounds(limits: (u16, u16, usize, usize, usize)) -> Limits {
    let (framebuffer_width, framebuffer_height, text, cut_text, outgoing) = limits;
    Limits { framebuffer_width, framebuffer_height, text, cut_text, outgoing, ..Limits::default() }
}

fn deadlines(seconds: [f64; 5]) -> PyResult<Timeouts> {
    let mut durations = [Duration::ZERO; 5];
    for (duration, seconds) in durations.iter_mut().zip(seconds) {
        *duration =
            Duration::try_from_secs_f64(seconds).map_err(|error| PyValueError::new_err(error.to_string()))?;
    }
    let [connect, handshake, update, probe_interval, probe_deadline] = durations;
    Ok(Timeouts { connect, handshake, update, probe_interval, probe_deadline })
}

#[pymethods]
impl Session {
    /// What `Pump.drain` calls this session.
    #[getter]
    fn id(&self) -> u64 {
        self.shared.id
    }

    /// Whether the handshake is over.
    #[getter]
    fn ready(&self) -> bool {
        self.shared.name.get().is_some()
    }

    #[getter]
    fn name(&self) -> &str {
        self.shared.name.get().map_or("", String::as_str)
    }

    #[getter]
    fn shape(&self) -> (u32, u32, u32) {
        let size = self.shared.counters.size.load(Acquire);
        (size >> 16, size & 0xffff, 3)
    }

    #[getter]
    fn frames(&self) -> u64 {
        self.shared.counters.frames.load(Acquire)
    }

    #[getter]
    fn frame_time(&self) -> f64 {
        f64::from_bits(self.shared.counters.frame_time.load(Relaxed))
    }

    #[getter]
    fn generation(&self) -> u64 {
        self.shared.counters.generation.load(Acquire)
    }

    /// Why the session is over: a branch of the error tree and a text.
    #[getter]
    fn error(&self) -> Option<(&'static str, String)> {
        self.shared.failure.get().cloned()
    }

    /// Updates, rectangles, pixels, bytes.
    #[getter]
    fn stats(&self) -> (u64, u64, u64, u64) {
        let counters = &self.shared.counters;
        let frames = counters.frames.load(Relaxed);
        (frames, counters.rects.load(Relaxed), counters.pixels.load(Relaxed), counters.bytes.load(Relaxed))
    }

    /// Ask for the whole screen; returns the generation that will hold it.
    fn refresh(&self, py: Python<'_>) -> u64 {
        py.detach(|| {
            let mut connection = lock(&self.shared.connection);
            let generation = connection.refresh();
            self.shared.send(&connection.data_to_send());
            generation
        })
    }

    /// Write whole messages.
    fn send(&self, messages: &[u8]) {
        self.shared.send(messages);
    }

    /// Take bytes from the server of a session that is fed; then `data_to_send` has the answer.
    fn receive(&self, py: Python<'_>, data: &[u8]) {
        py.detach(|| self.shared.receive(data));
    }

    /// Bytes for the server of a session that is fed.
    fn data_to_send<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.shared.data_to_send())
    }

    /// Whether the server shows a certificate in the TLS that is to begin; None before that.
    #[getter]
    fn certificate(&self) -> Option<bool> {
        self.shared.certificate.get().copied()
    }

    /// TLS has begun.
    fn secured(&self) {
        self.shared.secured();
    }

    /// The connection of a session that is fed has ended.
    fn lost(&self) {
        self.shared.lost(CLOSED.into());
    }

    /// The server is not to be trusted.
    fn refuse(&self, reason: String) {
        self.shared.finish("auth", reason);
    }

    /// Close the socket.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.shared.finish("lost", "closed by us".into()));
    }

    /// Copy what has changed since the last take into this array.
    fn take(&self, py: Python<'_>, out: &Bound<'_, PyArray3<u8>>) -> PyResult<u64> {
        let data = out.data() as usize;
        let since = self.last_taken(py, data);
        // INVARIANT: `frames` is stored before Python is told, so an equal number means nothing new.
        if since.is_some_and(|frames| frames == self.shared.counters.frames.load(Acquire)) {
            let (height, width, _) = self.shape();
            if out.shape() == [height as usize, width as usize, 3] {
                return Ok(since.unwrap_or_default());
            }
        }
        let mut target = out.try_readwrite().map_err(|error| PyValueError::new_err(error.to_string()))?;
        let frames = self.copy(py, since, &mut target)?;
        if since.is_none() || !self.note(data, frames) {
            self.remember(out, data, frames);
        }
        Ok(frames)
    }
}

impl Session {
    /// The frame that the array at `data` holds, if it was taken into and still is the same array.
    fn last_taken(&self, py: Python<'_>, data: usize) -> Option<u64> {
        let readers = lock(&self.readers);
        let taken = readers.iter().find(|taken| taken.data == data)?;
        taken.owner.bind(py).upgrade().map(|_| taken.frames)
    }

    /// The known array at `data` holds another frame now; returns whether it is known still.
    fn note(&self, data: usize, frames: u64) -> bool {
        let mut readers = lock(&self.readers);
        let known = readers.iter_mut().find(|taken| taken.data == data);
        known.map(|taken| taken.frames = frames).is_some()
    }

    fn remember(&self, out: &Bound<'_, PyArray3<u8>>, data: usize, frames: u64) {
        let owner = owner(out);
        let mut readers = lock(&self.readers);
        readers.retain(|taken| taken.data != data);
        readers.truncate(READERS - 1);
        // Memory whose owner cannot be watched is copied whole every time.
        if let Ok(owner) = PyWeakrefReference::new(&owner) {
            readers.insert(0, Taken { owner: owner.unbind(), data, frames });
        }
    }

    fn copy(&self, py: Python<'_>, since: Option<u64>, out: &mut PyReadwriteArray3<'_, u8>) -> PyResult<u64> {
        let shape: [usize; 3] = out.shape().try_into().unwrap_or_default();
        let target = out.as_slice_mut().map_err(|_| PyValueError::new_err("the array is not contiguous"))?;
        let shared = &*self.shared;
        let small = since.is_some() || target.len() <= BIG;
        if small {
            match self.shared.connection.try_lock() {
                Ok(connection) => return copy_from(shared, &connection, shape, since, target),
                Err(TryLockError::Poisoned(poisoned)) => {
                    return copy_from(shared, &poisoned.into_inner(), shape, since, target);
                }
                Err(TryLockError::WouldBlock) => {}
            }
        }
        py.detach(|| copy_from(shared, &lock(&shared.connection), shape, since, target))
    }
}

/// The object whose life is the life of the array's memory.
fn owner<'py>(out: &Bound<'py, PyArray3<u8>>) -> Bound<'py, PyAny> {
    let mut owner = out.clone().into_any();
    while let Ok(base) = owner.getattr("base") {
        if base.is_none() {
            break;
        }
        owner = base;
    }
    owner
}

fn copy_from(
    shared: &Shared,
    connection: &Connection,
    shape: [usize; 3],
    since: Option<u64>,
    target: &mut [u8],
) -> PyResult<u64> {
    // INVARIANT: under the connection's lock, as it is set: whoever has the newest frame is told of the next.
    shared.announced.store(false, Relaxed);
    let screen = connection.screen();
    let (height, width) = (usize::from(screen.height()), usize::from(screen.width()));
    if shape != [height, width, 3] {
        let [rows, columns, depth] = shape;
        return Err(PyValueError::new_err(format!(
            "array of shape ({rows}, {columns}, {depth}), the screen is ({height}, {width}, 3)"
        )));
    }
    match since {
        // Half of an update may be on the screen: the array's own, older frame is whole.
        Some(frames) if connection.torn() => return Ok(frames),
        None if connection.torn() && connection.error().is_some() => return Ok(0),
        Some(frames) => {
            screen.copy_damage(frames, target);
        }
        None => target.copy_from_slice(screen.pixels()),
    }
    Ok(connection.frames())
}
