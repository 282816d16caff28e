//! Data directories of uftrace: records of many tasks, merged by time, matched to calls.

mod calls;
mod decode;
mod events;
mod external;
mod facts;
mod feed;
mod merged;
mod payload;
mod perf;
mod record;
mod setup;
mod source;
mod symbols;
mod tables;
mod task;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use pyo3::prelude::*;

use crate::rows::RowPass;
use decode::Decoder;
use setup::Setup;

/// A data directory, whose small files were read -> its chunks.
#[pyfunction]
fn uftrace_pass(setup: Setup, threads: usize, progress: Option<Py<PyAny>>) -> RowPass {
    let done = Arc::new(AtomicU64::new(0));
    let total = setup.bytes;
    RowPass::start(
        Decoder::new(setup, Arc::clone(&done)),
        threads,
        (done, total),
        progress,
    )
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(uftrace_pass, m)?)
}
