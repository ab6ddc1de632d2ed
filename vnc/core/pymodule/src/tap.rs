//! Every frame of a session, for a recorder.

use std::sync::Arc;
use std::time::Duration;

use numpy::{PyArray1, PyArray3, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sessions::Copied;

/// A frame: its pixels, number, time, generation, and how many were refused before it.
type Item<'py> = (Bound<'py, PyArray3<u8>>, u64, f64, u64, u64);

/// A queue of copied frames.
#[pyclass(frozen)]
pub(crate) struct Tap(pub Arc<sessions::Tap>);

#[pymethods]
impl Tap {
    /// Return the oldest frame; None if there is none within `seconds`, or never again.
    fn take<'py>(&self, py: Python<'py>, seconds: f64) -> PyResult<Option<Item<'py>>> {
        let patience =
            Duration::try_from_secs_f64(seconds).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let Some(Copied { number, time, generation, size: [height, width], pixels, refused }) =
            py.detach(|| self.0.take(patience))
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
