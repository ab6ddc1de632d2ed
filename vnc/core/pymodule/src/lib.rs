//! `vnc._core`: the sessions crate, for Python.
//!
//! Between socket and finished frame nothing takes the GIL. Python learns of news through one descriptor and calls in
//! here (`python`) to take frames and send input; `arrays` knows which frame each array holds.

mod arrays;
mod python;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use crate::python::{Pump, Session};
}
