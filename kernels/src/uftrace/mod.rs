//! Data directories of uftrace: records of many tasks, merged by time, matched to calls.

mod calls;
mod decode;
mod demangle;
mod dump;
mod events;
mod extended;
mod external;
mod feed;
mod kernel_events;
mod matched;
mod merged;
mod metadata;
mod payload;
mod perf;
mod record;
mod setup;
mod source;
mod symbols;
mod tables;
mod task;
mod winners;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use pyo3::prelude::*;

use crate::rows::RowPass;
use decode::Decoder;
use setup::Setup;

/// Decode a data directory, whose small files were already read, into chunks.
#[pyfunction]
fn uftrace_pass(setup: Setup, threads: usize, progress: Option<Py<PyAny>>) -> RowPass {
    let done = Arc::new(AtomicU64::new(0));
    let total = setup.bytes;
    RowPass::start(Decoder::new(setup, Arc::clone(&done)), threads, (done, total), progress)
}

/// Names in uftrace's form; names that are not mangled are unchanged.
#[pyfunction]
fn uftrace_names(names: Vec<String>) -> Vec<String> {
    let shown = names.into_iter();
    shown.map(|name| demangle::demangle(&name).unwrap_or(name)).collect()
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<dump::UftraceDump>()?;
    m.add_function(wrap_pyfunction!(uftrace_pass, m)?)?;
    m.add_function(wrap_pyfunction!(uftrace_names, m)?)
}
