//! Span operators over streams sorted by time.

use pyo3::prelude::*;

mod active;
mod ahead;
mod cancel;
mod checks;
mod clock;
mod covered;
mod cuts;
mod departition;
mod event_join;
mod failure;
mod gather;
mod groups;
mod held;
mod inner;
mod meter;
mod nest;
mod opening;
mod outer;
mod partition;
mod partition_pieces;
mod pieces;
mod required;
mod rows;
mod series;
mod sides;
mod slots;
mod source;
mod span_join;
mod span_pieces;
mod spill;
mod spool;
mod stream;
mod values;

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<cancel::Cancel>()?;
    m.add_function(wrap_pyfunction!(span_join::span_join, m)?)?;
    m.add_function(wrap_pyfunction!(event_join::event_join, m)?)?;
    m.add_function(wrap_pyfunction!(span_pieces::span_pieces, m)?)?;
    m.add_function(wrap_pyfunction!(partition_pieces::partition_pieces, m)?)?;
    m.add_function(wrap_pyfunction!(series::series_to_spans, m)?)?;
    m.add_function(wrap_pyfunction!(ahead::ahead, m)?)?;
    m.add_class::<meter::Meter>()?;
    m.add_function(wrap_pyfunction!(meter::metered, m)?)?;
    m.add_class::<spool::Spool>()?;
    m.add_class::<nest::Counter>()?;
    m.add_function(wrap_pyfunction!(nest::nest, m)?)?;
    m.add_class::<rows::Rows>()?;
    m.add_function(wrap_pyfunction!(rows::rows, m)?)?;
    m.add_function(wrap_pyfunction!(rows::schema, m)?)?;
    m.add_function(wrap_pyfunction!(departition::departition, m)?)?;
    Ok(())
}
