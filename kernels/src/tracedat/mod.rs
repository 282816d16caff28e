//! Decoder of `trace.dat`, the binary file of trace-cmd: files -> one table for each event, and reports of losses.

mod decoder;
mod header;
mod input;
mod merge;
mod options;
mod pages;
mod report;
mod tables;
mod threads;

use std::sync::Arc;

use pyo3::prelude::*;

use crate::rows::RowPass;
use decoder::Decoder;

/// Read files of trace-cmd; `progress` gets bytes done and total bytes, and raises to stop.
#[pyfunction]
#[pyo3(signature = (paths, threads, progress=None))]
fn trace_dat_pass(paths: Vec<String>, threads: usize, progress: Option<Py<PyAny>>) -> RowPass {
    let sizes = paths.iter().map(|path| std::fs::metadata(path).map_or(0, |statistics| statistics.len()));
    let total = sizes.fold(0, u64::saturating_add);
    let done = Arc::default();
    let decoder = Decoder::new(paths, Arc::clone(&done));
    RowPass::start(decoder, threads, (done, total), progress)
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(trace_dat_pass, m)?)
}
