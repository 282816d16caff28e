//! Decode `trace.dat`, the binary file of trace-cmd, into one table for each event, and reports of losses.

mod decoder;
mod header;
mod input;
mod merge;
mod options;
mod pages;
mod report;
mod tables;
mod threads;

use pyo3::prelude::*;

use crate::rows::RowPass;
use decoder::Decoder;

/// Read files of trace-cmd; `progress` gets bytes done and total bytes, and raises to stop.
#[pyfunction]
#[pyo3(signature = (paths, threads, progress=None))]
fn trace_dat_pass(paths: Vec<String>, threads: usize, progress: Option<Py<PyAny>>) -> RowPass {
    RowPass::of_files(paths, threads, progress, Decoder::new)
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(trace_dat_pass, m)?)
}
