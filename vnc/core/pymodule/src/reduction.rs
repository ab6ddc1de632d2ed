//! Smaller pictures of frames.

use std::sync::atomic::{AtomicU64, Ordering};

use numpy::{PyArray3, PyArrayMethods, PyReadwriteArray3, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The number of the newest reduction; 0 stands for whole frames.
static NEWEST: AtomicU64 = AtomicU64::new(0);

/// Which smaller picture to make of frames of one shape.
#[pyclass(frozen)]
pub(crate) struct Reduction {
    pub id: u64,
    pub inner: rfb::Reduction,
}

#[pymethods]
impl Reduction {
    #[new]
    fn new(shape: [u16; 3], part: rfb::Part, size: [u16; 2], grey: bool) -> PyResult<Self> {
        let inner = rfb::Reduction::new(shape, part, size, grey).ok_or_else(|| {
            PyValueError::new_err(format!(
                "part {part:?} of a frame of shape {shape:?} cannot become {size:?}, grey: {grey}"
            ))
        })?;
        Ok(Self { id: NEWEST.fetch_add(1, Ordering::Relaxed) + 1, inner })
    }

    /// Draw the picture of a frame.
    fn draw(
        &self,
        py: Python<'_>,
        frame: &Bound<'_, PyArray3<u8>>,
        mut out: PyReadwriteArray3<'_, u8>,
    ) -> PyResult<()> {
        if source(out.shape(), Some(self))? != frame.shape() {
            return Err(PyValueError::new_err(format!("the frame has the shape {:?}", frame.shape())));
        }
        let frame = frame.try_readonly().map_err(|error| PyValueError::new_err(error.to_string()))?;
        check_order(frame.is_c_contiguous())?;
        let pixels = frame.as_slice()?;
        let picture = writable(&mut out)?;
        py.detach(|| self.inner.draw(pixels, picture));
        Ok(())
    }
}

/// Return the shape of the frames that an array of this shape is for: its own, or the source of the reduction.
pub(crate) fn source(shape: &[usize], reduction: Option<&Reduction>) -> PyResult<[usize; 3]> {
    match reduction {
        None => Ok(shape.try_into().unwrap_or_default()),
        Some(Reduction { inner, .. }) if shape == inner.target() => Ok(inner.source()),
        Some(Reduction { inner, .. }) => Err(PyValueError::new_err(format!(
            "array of shape {shape:?}, the picture is {:?}",
            inner.target()
        ))),
    }
}

/// Return the bytes of an array.
pub(crate) fn writable<'a>(out: &'a mut PyReadwriteArray3<'_, u8>) -> PyResult<&'a mut [u8]> {
    check_order(out.is_c_contiguous())?;
    Ok(out.as_slice_mut()?)
}

/// Refuse the order of Fortran, of which a slice can be made too.
fn check_order(is_c: bool) -> PyResult<()> {
    if is_c { Ok(()) } else { Err(PyValueError::new_err("the array is not C-contiguous")) }
}
