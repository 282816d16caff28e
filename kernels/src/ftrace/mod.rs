//! Decode ftrace's text formats: chunks of files become one Arrow table for each event, and a report of skipped lines.

use pyo3::prelude::*;

mod chunk;
pub mod fields;
pub mod forms;
pub mod graph;
mod latency;
pub mod line;
pub mod marks;
mod page;
mod part;
mod pass;
mod source;
mod statistics;
pub mod table;
mod texts;
pub mod values;

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    pass::register(m)
}
