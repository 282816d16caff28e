//! Span operators over streams sorted by time.

use pyo3::prelude::*;

mod active;
mod cancel;
mod failure;
mod gather;
mod inner;
mod outer;
mod partition;
mod pieces;
mod sides;
mod source;
mod span_join;
mod stream;

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<cancel::Cancel>()?;
    m.add_function(wrap_pyfunction!(span_join::span_join, m)?)?;
    Ok(())
}
