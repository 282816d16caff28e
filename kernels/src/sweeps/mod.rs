//! Span operators over streams sorted by time.

use pyo3::prelude::*;

mod active;
mod aggregates;
mod cancel;
mod checks;
mod clock;
mod counter;
mod covered;
mod cuts;
mod departition;
mod event_join;
mod failure;
mod fold;
mod gather;
mod group_pieces;
mod groups;
mod held;
mod inner;
mod moves;
mod nest;
mod outer;
mod paired;
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
mod stacks;
mod stream;
mod totals;
mod trie;
mod values;

mod check;
mod concurrency;
mod flatten;
mod gaps;
mod label;
mod lanes;
mod merge;
mod sessions;
mod single;
mod truncate;

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<cancel::Cancel>()?;
    m.add_function(wrap_pyfunction!(span_join::span_join, m)?)?;
    m.add_function(wrap_pyfunction!(event_join::event_join, m)?)?;
    m.add_function(wrap_pyfunction!(span_pieces::span_pieces, m)?)?;
    m.add_function(wrap_pyfunction!(span_pieces::span_group, m)?)?;
    m.add_function(wrap_pyfunction!(partition_pieces::partition_pieces, m)?)?;
    m.add_function(wrap_pyfunction!(series::series_to_spans, m)?)?;
    m.add_class::<counter::Counter>()?;
    m.add_function(wrap_pyfunction!(nest::nest, m)?)?;
    m.add_function(wrap_pyfunction!(paired::nest_pairs, m)?)?;
    m.add_function(wrap_pyfunction!(stacks::stack_history, m)?)?;
    m.add_function(wrap_pyfunction!(stacks::stack_contents, m)?)?;
    m.add_class::<rows::Rows>()?;
    m.add_function(wrap_pyfunction!(rows::rows, m)?)?;
    m.add_function(wrap_pyfunction!(rows::schema, m)?)?;
    m.add_function(wrap_pyfunction!(departition::departition, m)?)?;
    m.add_function(wrap_pyfunction!(check::checked, m)?)?;
    m.add_function(wrap_pyfunction!(concurrency::concurrency, m)?)?;
    m.add_function(wrap_pyfunction!(flatten::flatten, m)?)?;
    m.add_function(wrap_pyfunction!(gaps::fill_gaps, m)?)?;
    m.add_function(wrap_pyfunction!(label::label_events, m)?)?;
    m.add_function(wrap_pyfunction!(lanes::lanes, m)?)?;
    m.add_function(wrap_pyfunction!(merge::merge_adjacent, m)?)?;
    m.add_function(wrap_pyfunction!(sessions::sessions, m)?)?;
    m.add_function(wrap_pyfunction!(truncate::truncate, m)?)?;
    Ok(())
}
