//! The classes of the Python module; vnc/_core.pyi describes them for callers.

use std::net::{IpAddr, SocketAddr, SocketAddrV6};
use std::sync::Arc;
use std::time::Duration;

use numpy::{PyArray3, PyArrayMethods, PyReadwriteArray3, PyUntypedArrayMethods};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rfb::{Config, Credentials, Limits, Tls};
use sessions::{Mismatch, Timeouts, error_text};

use crate::BIG;
use crate::arrays::Arrays;
use crate::reduction::{Reduction, source, writable};
use crate::tap::Tap;
use crate::trust::Trust;

/// Reader threads and their sessions.
#[pyclass(frozen)]
pub(crate) struct Pump(sessions::Pump);

/// One connection.
#[pyclass(frozen)]
pub(crate) struct Session {
    session: Arc<sessions::Session>,
    arrays: Arrays,
}

impl From<Arc<sessions::Session>> for Session {
    fn from(session: Arc<sessions::Session>) -> Self {
        Self { session, arrays: Arrays::default() }
    }
}

/// Convert an error of the system to an `OSError` with its number.
fn os_error(error: &std::io::Error) -> PyErr {
    PyOSError::new_err((error.raw_os_error(), error_text(error)))
}

/// Raise an error in a fork of the process that opened the object: no reader threads exist there, and locks may stay
/// locked for ever.
fn check_process(ours: bool) -> PyResult<()> {
    if ours {
        Ok(())
    } else {
        Err(PyRuntimeError::new_err(
            "this process was forked from the one that opened the session; open a new one here",
        ))
    }
}

#[pymethods]
impl Pump {
    #[new]
    fn new(threads: usize) -> PyResult<Self> {
        sessions::Pump::new(threads).map(Self).map_err(|error| os_error(&error))
    }

    /// The descriptor that is readable while sessions have news, on Windows the handle of a socket; -1 after `close`.
    fn fileno(&self) -> PyResult<i64> {
        check_process(self.0.is_ours())?;
        Ok(self.0.hub().map_or(-1, |hub| hub.descriptor()))
    }

    /// Return the ids of the sessions with news since the last call.
    fn drain(&self) -> PyResult<Vec<u64>> {
        check_process(self.0.is_ours())?;
        Ok(self.0.hub().map(|hub| hub.drain()).unwrap_or_default())
    }

    /// Start to connect to a numeric address, over TLS if there is `trust`.
    ///
    /// `scope`: the number of the interface of a link-local IPv6 address, otherwise 0.
    /// `limits`: framebuffer width, framebuffer height, text, cut text, outgoing.
    /// `timeouts`: connect, handshake, message, probe interval, probe deadline, in seconds.
    #[allow(clippy::too_many_arguments, reason = "the parameters of vnc/_core.pyi")]
    fn open(
        &self,
        host: &str,
        port: u16,
        scope: u32,
        trust: Option<&Trust>,
        username: Option<Vec<u8>>,
        password: Option<Vec<u8>>,
        encodings: Vec<i32>,
        limits: (u16, u16, usize, usize, usize),
        timeouts: [f64; 5],
    ) -> PyResult<Session> {
        check_process(self.0.is_ours())?;
        let address: IpAddr =
            host.parse().map_err(|_| PyValueError::new_err(format!("{host:?} is not an IP address")))?;
        let address = match address {
            IpAddr::V4(_) => SocketAddr::new(address, port),
            IpAddr::V6(address) => SocketAddrV6::new(address, port, 0, scope).into(),
        };
        let tls = trust.map_or(Tls::Off, |trust| trust.required);
        let credentials = Credentials { username, password, tls };
        let config = Config { credentials, encodings, limits: bounds(limits) };
        let session =
            self.0.open(address, trust.map(|trust| trust.inner.clone()), config, deadlines(timeouts)?);
        session.map(Session::from).map_err(|error| os_error(&error))
    }

    /// Return a session over TLS whose bytes the caller reads and writes; otherwise like `open`.
    fn feed(
        &self,
        anonymous: bool,
        username: Option<Vec<u8>>,
        password: Option<Vec<u8>>,
        encodings: Vec<i32>,
        limits: (u16, u16, usize, usize, usize),
        timeouts: [f64; 5],
    ) -> PyResult<Session> {
        check_process(self.0.is_ours())?;
        let tls = if anonymous { Tls::Anonymous } else { Tls::Certificate };
        let credentials = Credentials { username, password, tls };
        let config = Config { credentials, encodings, limits: bounds(limits) };
        let session = self.0.feed(config, deadlines(timeouts)?);
        session.map(Session::from).map_err(|error| os_error(&error))
    }

    /// End all sessions and threads. In a forked process this has no effect.
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
    let [connect, handshake, message, probe_interval, probe_deadline] = durations;
    Ok(Timeouts { connect, handshake, message, probe_interval, probe_deadline })
}

#[pymethods]
impl Session {
    /// The id of this session in `Pump.drain`.
    #[getter]
    fn id(&self) -> u64 {
        self.session.id()
    }

    /// Whether the TCP connection was established.
    #[getter]
    fn connected(&self) -> bool {
        self.session.connected()
    }

    /// Whether the handshake is complete.
    #[getter]
    fn ready(&self) -> bool {
        self.session.published().name().is_some()
    }

    #[getter]
    fn name(&self) -> &str {
        self.session.published().name().unwrap_or_default()
    }

    #[getter]
    fn shape(&self) -> (u32, u32, u32) {
        let (width, height) = self.session.published().size();
        (height, width, 3)
    }

    #[getter]
    fn frames(&self) -> u64 {
        self.session.published().frames()
    }

    #[getter]
    fn frame_time(&self) -> f64 {
        self.session.published().frame_time()
    }

    #[getter]
    fn generation(&self) -> u64 {
        self.session.published().generation()
    }

    /// Why the session ended: a branch of the error tree, and a text.
    #[getter]
    fn error(&self) -> Option<(&'static str, String)> {
        self.session.published().failure().cloned()
    }

    /// The totals: updates, rects, pixels, bytes, clipboard texts longer than the limit.
    #[getter]
    fn stats(&self) -> (u64, u64, u64, u64, u64) {
        self.session.published().totals()
    }

    /// Request the whole screen; return the number of the refresh, which `generation` reaches when it is complete.
    fn refresh(&self, py: Python<'_>) -> PyResult<u64> {
        check_process(self.session.is_ours())?;
        Ok(py.detach(|| self.session.refresh()))
    }

    /// Choose whether `Pump.drain` returns the session for frames; return whether there is one that was neither taken nor
    /// returned.
    fn listen(&self, py: Python<'_>, listens: bool) -> bool {
        py.detach(|| self.session.listen(listens))
    }

    /// Announce when the caller takes a frame next, in seconds of `time.monotonic()`.
    fn next_look(&self, py: Python<'_>, look: f64) -> PyResult<()> {
        check_process(self.session.is_ours())?;
        if !look.is_finite() {
            return Err(PyValueError::new_err(format!("a look at {look} is never")));
        }
        py.detach(|| self.session.next_look(look));
        Ok(())
    }

    /// The offer of shared frames: the token, and the path of the socket that gives the memory for it.
    #[getter]
    fn offer<'py>(&self, py: Python<'py>) -> Option<(Bound<'py, PyBytes>, &str)> {
        let offer = self.session.published().offer()?;
        Some((PyBytes::new(py, &offer.token), &offer.path))
    }

    /// Whether the server takes pointer events with more than eight buttons.
    #[getter]
    fn more_buttons(&self) -> bool {
        self.session.published().more_buttons()
    }

    /// Whether the pixels of the newest update came through shared memory.
    #[getter]
    fn shares(&self) -> bool {
        self.session.published().shares()
    }

    /// Read frames from shared memory from now on. Only Linux has this method.
    ///
    /// `layout`: buffers, width, height, stride, offset of the first buffer, distance between buffers.
    #[cfg(target_os = "linux")]
    fn map(&self, py: Python<'_>, memory: i32, layout: (u16, u32, u32, u32, u32, u64)) -> PyResult<()> {
        check_process(self.session.is_ours())?;
        let (buffers, width, height, stride, offset, distance) = layout;
        let layout = sessions::Layout { buffers, width, height, stride, offset, distance };
        let mapped = py.detach(|| self.session.map(memory, layout));
        mapped.map_err(|unusable| PyValueError::new_err(unusable.to_string()))
    }

    /// Return a queue of every frame from the newest on, for `limit` bytes of pixels.
    fn tap(&self, py: Python<'_>, limit: usize) -> PyResult<Tap> {
        check_process(self.session.is_ours())?;
        let tap = Arc::new(sessions::Tap::new(limit));
        py.detach(|| self.session.add_tap(&tap));
        Ok(Tap(tap))
    }

    /// Write whole messages.
    fn send(&self, messages: &[u8]) -> PyResult<()> {
        check_process(self.session.is_ours())?;
        self.session.send(messages);
        Ok(())
    }

    /// Drop the planned messages for `since` or later, and plan others; return how many were dropped.
    fn plan(&self, since: f64, messages: Vec<(f64, Vec<u8>)>) -> PyResult<usize> {
        check_process(self.session.is_ours())?;
        Ok(self.session.plan(since, messages))
    }

    /// Return when planned messages were sent since the last call.
    fn played(&self) -> PyResult<Vec<f64>> {
        check_process(self.session.is_ours())?;
        Ok(self.session.played())
    }

    /// Process bytes that the caller has read. Then `data_to_send` returns the answer.
    fn receive(&self, py: Python<'_>, data: &[u8]) {
        py.detach(|| self.session.receive(data));
    }

    /// Return the bytes that the caller must write now.
    fn data_to_send<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.session.data_to_send())
    }

    /// Whether the server presents a certificate in the TLS that begins; None before TLS begins.
    #[getter]
    fn certificate(&self) -> Option<bool> {
        self.session.published().certificate()
    }

    /// Continue the handshake after the caller has established TLS.
    fn secured(&self, py: Python<'_>) {
        py.detach(|| self.session.secured());
    }

    /// Handle the end of a connection whose bytes the caller moves.
    fn lost(&self) {
        self.session.lost();
    }

    /// End the session because the server is not trusted.
    fn refuse(&self, reason: String) {
        self.session.refuse(reason);
    }

    /// Close the socket. In a forked process this has no effect.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.session.close());
    }

    /// Copy the newest frame into an array, and return its number. Only changes since the array's last `take` are copied.
    /// With a reduction, the array contains its pictures.
    #[pyo3(signature = (out, reduction = None))]
    fn take(
        &self,
        py: Python<'_>,
        out: &Bound<'_, PyArray3<u8>>,
        reduction: Option<&Reduction>,
    ) -> PyResult<u64> {
        check_process(self.session.is_ours())?;
        let key = (out.data() as usize, reduction.map_or(0, |reduction| reduction.id));
        let since = self.arrays.frame_in(py, key);
        let shape = source(out.shape(), reduction)?;
        let (width, height) = self.session.published().size();
        // A frame's number is published before the frame is announced, so an equal number means no new frame.
        if let Some(frames) = since
            && frames == self.session.published().frames()
            && shape == [height as usize, width as usize, 3]
        {
            return Ok(frames);
        }
        let mut target = out.try_readwrite().map_err(|error| PyValueError::new_err(error.to_string()))?;
        let frames = self.copy(py, shape, since, reduction, &mut target)?;
        self.arrays.record(out, key, frames, since.is_some());
        Ok(frames)
    }
}

impl Session {
    fn copy(
        &self,
        py: Python<'_>,
        shape: [usize; 3],
        since: Option<u64>,
        reduction: Option<&Reduction>,
        out: &mut PyReadwriteArray3<'_, u8>,
    ) -> PyResult<u64> {
        let target = writable(out)?;
        let reduction = reduction.map(|reduction| &reduction.inner);
        let small = since.is_some() || target.len() <= BIG && reduction.is_none();
        let now = if small { self.session.try_copy(shape, since, reduction, target) } else { None };
        let copied = now.unwrap_or_else(|| py.detach(|| self.session.copy(shape, since, reduction, target)));
        copied.map_err(|Mismatch([height, width, _])| {
            let [rows, columns, depth] = shape;
            PyValueError::new_err(format!(
                "array of shape ({rows}, {columns}, {depth}), the screen is ({height}, {width}, 3)"
            ))
        })
    }
}
