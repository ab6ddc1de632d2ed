//! Every frame of a session, for a recorder.

use std::sync::Arc;

use numpy::{PyArray1, PyArray3, PyArrayMethods};
use pyo3::prelude::*;
use sessions::Copied;

/// A frame: its pixels, number, time, generation, and how many were refused before it.
type Item<'py> = (Bound<'py, PyArray3<u8>>, u64, f64, u64, u64);

/// A queue of copied frames.
#[pyclass(frozen)]
pub(crate) struct Tap(pub Arc<sessions::Tap>);

#[pymethods]
impl Tap {
    /// Return the oldest frame, or wait for one; None if the tap has ended and is empty.
    fn take<'py>(&self, py: Python<'py>) -> PyResult<Option<Item<'py>>> {
        let Some(Copied { number, time, generation, size: [height, width], pixels, refused }) =
            py.detach(|| self.0.take())
        else {
            return Ok(None);
        };
        let pixels = PyArray1::from_vec(py, pixels).reshape([height, width, 3])?;
        Ok(Some((pixels, number, time, generation, refused)))
    }

    /// How many frames were refused after the newest that was not.
    #[getter]
    fn refused(&self) -> u64 {
        self.0.refused()
    }

    /// Add nothing from now on.
    fn end(&self) {
        self.0.end();
    }
}
