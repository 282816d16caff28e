//! Decoders of the text of perf and flame graphs: `perf script` and collapsed stacks.

use std::path::PathBuf;

use pyo3::prelude::*;

mod collapsed;
pub mod line;
pub mod lines;
pub mod payload;
mod script;

use crate::rows::RowPass;
use collapsed::Collapsed;
use lines::Lines;
use script::Script;

/// Read the text of `perf script`; see `RowPass`.
#[pyfunction]
#[pyo3(signature = (paths, threads, progress=None))]
fn perf_script_pass(paths: Vec<PathBuf>, threads: usize, progress: Option<Py<PyAny>>) -> RowPass {
    RowPass::of_files(paths, threads, progress, |paths, done| Script::new(Lines::new(paths, done)))
}

/// Read collapsed stacks; see `RowPass`.
#[pyfunction]
#[pyo3(signature = (paths, threads, progress=None))]
fn collapsed_pass(paths: Vec<PathBuf>, threads: usize, progress: Option<Py<PyAny>>) -> RowPass {
    RowPass::of_files(paths, threads, progress, |paths, done| Collapsed::new(Lines::new(paths, done)))
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(perf_script_pass, m)?)?;
    m.add_function(wrap_pyfunction!(collapsed_pass, m)?)
}
