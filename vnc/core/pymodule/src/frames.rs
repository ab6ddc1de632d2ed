//! What a server does with the frames of a program.

use numpy::{
    PyArray2, PyArrayMethods, PyReadonlyArray2, PyReadonlyArray3, PyReadwriteArray2, PyUntypedArrayMethods,
};
use pixels::{Area, TILE, TILE_BYTES};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

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

/// The tiles of a screen that one client has not received yet.
#[pyclass(module = "vnc._core")]
pub(crate) struct Damage(pixels::Damage);

#[pymethods]
impl Damage {
    #[new]
    fn new(width: u16, height: u16) -> PyResult<Damage> {
        if width == 0 || height == 0 {
            return Err(PyValueError::new_err(format!("a screen of {width}x{height} pixels has no tiles")));
        }
        Ok(Damage(pixels::Damage::new(width, height)))
    }

    #[allow(clippy::needless_pass_by_value, reason = "pyo3 passes arrays that it has borrowed by value")]
    fn add(&mut self, grid: PyReadonlyArray2<'_, bool>) -> PyResult<()> {
        let grid = grid.as_slice()?;
        if grid.len() != self.0.tiles() {
            let message = format!("{} flags for {} tiles", grid.len(), self.0.tiles());
            return Err(PyValueError::new_err(message));
        }
        self.0.add(grid);
        Ok(())
    }

    fn add_rect(&mut self, rect: (u16, u16, u16, u16)) {
        self.0.add_area(rect.into());
    }

    fn take<'py>(
        &mut self,
        py: Python<'py>,
        region: (u16, u16, u16, u16),
        tail: &[u8],
    ) -> Bound<'py, PyBytes> {
        let areas = self.0.take(region.into());
        PyBytes::new(py, &wire(&areas, tail))
    }
}

/// The areas in network byte order, each with `tail` after it.
fn wire(areas: &[Area], tail: &[u8]) -> Vec<u8> {
    let mut wire = Vec::with_capacity(areas.len() * (size_of::<Area>() + tail.len()));
    for area in areas {
        wire.extend(area.iter().flat_map(|number| number.to_be_bytes()));
        wire.extend_from_slice(tail);
    }
    wire
}
