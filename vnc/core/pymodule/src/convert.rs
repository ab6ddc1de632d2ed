//! Conversion of pixels between arrays.

use numpy::ndarray::{ArrayView3, ArrayViewMut3};
use numpy::{PyArray3, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::BIG;

/// Convert an array of B G R X pixels, shape (height, width, 4), into one of R G B pixels, shape (height, width, 3). The
/// pixels of a row are consecutive; rows may be anywhere.
#[pyfunction]
pub(crate) fn bgrx_to_rgb(
    py: Python<'_>,
    source: &Bound<'_, PyArray3<u8>>,
    target: &Bound<'_, PyArray3<u8>>,
) -> PyResult<()> {
    let [rows, columns] = [target.shape()[0], target.shape()[1]];
    if target.shape()[2] != 3 || source.shape() != [rows, columns, 4] {
        return Err(PyValueError::new_err(format!(
            "source {:?} and target {:?} are not (height, width, 4) and (height, width, 3)",
            source.shape(),
            target.shape()
        )));
    }
    let refused = |error: &dyn std::fmt::Display| PyValueError::new_err(error.to_string());
    let source = source.try_readonly().map_err(|error| refused(&error))?;
    let mut target = target.try_readwrite().map_err(|error| refused(&error))?;
    let (source, target) = (source.as_array(), target.as_array_mut());
    let large = source.len() > BIG;
    let whole = if large { py.detach(|| convert(&source, target)) } else { convert(&source, target) };
    if whole { Ok(()) } else { Err(PyValueError::new_err("the pixels of a row are not consecutive")) }
}

/// Return false if the pixels of a row are not consecutive.
fn convert(source: &ArrayView3<'_, u8>, mut target: ArrayViewMut3<'_, u8>) -> bool {
    for (pixels, mut row) in source.outer_iter().zip(target.outer_iter_mut()) {
        let (Some(pixels), Some(row)) = (pixels.to_slice(), row.as_slice_mut()) else { return false };
        pixels::bgrx_to_rgb(std::iter::once((pixels, row)));
    }
    true
}
