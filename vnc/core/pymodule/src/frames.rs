//! What a server does with the frames of a program.

use numpy::{
    PyArray2, PyArrayMethods, PyReadonlyArray2, PyReadonlyArray3, PyReadwriteArray2, PyUntypedArrayMethods,
};
use pixels::{TILE, TILE_BYTES};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::BIG;

/// Copy a frame into a buffer; return the tiles in which it differs from the newest one, None if there are none.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "pyo3 passes arrays that it has borrowed by value")]
pub(crate) fn copy_frame<'py>(
    py: Python<'py>,
    frame: PyReadonlyArray3<'py, u8>,
    before: PyReadonlyArray2<'py, u8>,
    mut after: PyReadwriteArray2<'py, u8>,
) -> PyResult<Option<Bound<'py, PyArray2<bool>>>> {
    let &[height, width, 3] = frame.shape() else {
        return Err(PyValueError::new_err("a frame has the shape (height, width, 3)"));
    };
    let (rows, columns) = (height.div_ceil(TILE), width.div_ceil(TILE));
    let padded = [rows * TILE, columns * TILE_BYTES];
    if height == 0 || width == 0 || before.shape() != padded || after.shape() != padded {
        return Err(PyValueError::new_err(format!("the buffers of this frame have the shape {padded:?}")));
    }
    if !(frame.is_c_contiguous() && before.is_c_contiguous() && after.is_c_contiguous()) {
        return Err(PyValueError::new_err("an array is not C-contiguous"));
    }
    let (frame, before, after) = (frame.as_slice()?, before.as_slice()?, after.as_slice_mut()?);
    let mut changed = vec![false; rows * columns];
    let mut copy = || pixels::copy_frame(frame, width * 3, before, after, &mut changed);
    if frame.len() > BIG {
        py.detach(copy);
    } else {
        copy();
    }
    if !changed.contains(&true) {
        return Ok(None);
    }
    let grid = numpy::PyArray1::from_vec(py, changed).reshape([rows, columns])?;
    Ok(Some(grid))
}
