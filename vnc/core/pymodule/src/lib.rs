//! `vnc._core`: the sessions crate as a Python module.
//!
//! Nothing between socket and finished frame takes the GIL. One descriptor wakes Python for news; Python then calls
//! `python` to take frames and send input; `trust` is what it says about TLS. `arrays` remembers which frame each array
//! contains, and `reduction` makes smaller pictures. `tap` has every frame, for recorders. `frames` and `convert` are for
//! servers.

mod arrays;
mod convert;
mod frames;
mod python;
mod reduction;
mod tap;
mod trust;

use pyo3::prelude::*;

/// An operation on more bytes than this releases the GIL.
const BIG: usize = 64 << 10;

#[pymodule(gil_used = false)]
mod _core {
    use numpy::{PyArray1, PyArrayMethods};
    use pyo3::prelude::*;

    /// Borrow an array once, because the numpy crate imports Python modules under a lock at the first borrow. That must
    /// not happen within a `take`.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        PyArray1::<u8>::zeros(module.py(), 1, false).try_readonly()?;
        #[cfg(not(target_os = "linux"))]
        follow_clock(module.py())?;
        Ok(())
    }

    /// Let the sessions tell the times of frames in terms of `time.monotonic()`.
    #[cfg(not(target_os = "linux"))]
    fn follow_clock(py: Python<'_>) -> PyResult<()> {
        let monotonic = py.import("time")?.getattr("monotonic")?;
        monotonic.call0()?.extract::<f64>()?;
        sessions::set_monotonic(|| {
            monotonic.call0().and_then(|seconds| seconds.extract()).unwrap_or_default()
        });
        Ok(())
    }

    #[pymodule_export]
    use crate::convert::bgrx_to_rgb;
    #[pymodule_export]
    use crate::frames::{Damage, copy_frame};
    #[pymodule_export]
    use crate::python::{Pump, Session};
    #[pymodule_export]
    use crate::reduction::Reduction;
    #[pymodule_export]
    use crate::tap::Tap;
    #[pymodule_export]
    use crate::trust::Trust;
}
