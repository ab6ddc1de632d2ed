//! `vnc._core`: the sessions crate, for Python.
//!
//! Between socket and finished frame nothing takes the GIL. Python learns of news through one descriptor and calls in
//! here (`python`) to take frames and send input; `arrays` knows which frame each array holds.

mod arrays;
mod python;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _core {
    use numpy::{PyArray1, PyArrayMethods};
    use pyo3::prelude::*;

    /// Have the numpy crate set itself up: it imports Python modules under a lock of its own the first time that an
    /// array is borrowed, which must not be within a `take`.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        PyArray1::<u8>::zeros(module.py(), 1, false).try_readonly()?;
        Ok(())
    }

    #[pymodule_export]
    use crate::python::{Pump, Session};
}
