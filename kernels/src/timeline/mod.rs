//! Timelines: rows on lanes with an index to draw any part of them at any scale.

use pyo3::prelude::*;

mod cells;
mod columns;
mod fetch;
mod form;
mod given;
mod lane;
mod levels;
mod packing;
mod python;
mod times;
mod worth;

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<python::Lanes>()?;
    m.add_class::<packing::Packing>()
}
