//! Kernels over calls of threads: filters with sampling, as specified by users.

use pyo3::prelude::*;

mod args;
mod columns;
mod decide;
mod dump;
mod engine;
mod filter;
mod frames;
mod functions;
mod layout;
mod lines;
mod missed;
mod paint;
mod patterns;
mod replay;
mod report;
mod rules;
mod stored;
mod style;
mod sums;
mod switching;
mod ties;
mod tree;
mod walk;

pub use columns::Columns;
pub use engine::{ENTRY, EXIT};
pub use layout::put;
pub use replay::UNTIMED;

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<replay::Replay>()?;
    m.add_class::<sums::TimeSums>()?;
    m.add_class::<report::FunctionSums>()?;
    m.add_class::<report::ThreadSums>()?;
    m.add_class::<report::CallSums>()?;
    m.add_class::<lines::StoredReplay>()?;
    m.add_class::<missed::Missed>()?;
    m.add_class::<tree::TreeNode>()?;
    m.add_class::<tree::TreePath>()?;
    m.add_class::<tree::CallTree>()?;
    m.add_class::<dump::Dump>()?;
    m.add_function(wrap_pyfunction!(patterns::call_pattern_fault, m)?)?;
    m.add_function(wrap_pyfunction!(filter::filter_calls, m)?)
}
