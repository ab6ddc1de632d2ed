//! `vnc._core`: the rfb crate behind reader threads, for Python.
//!
//! Reader threads (`pump`) own the sockets; between socket and finished frame nothing takes the GIL. Python
//! learns of news through one descriptor (`hub`) and calls in here (`python`) to take frames and send input.

mod deadlines;
mod hub;
mod pump;
mod python;
mod session;
mod socket;

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;

/// Lock, whoever panicked before: the session of a panic is finished, its data are only read after that.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use crate::python::{Pump, Session};
}
