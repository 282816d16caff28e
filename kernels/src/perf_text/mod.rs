//! Decoders of the text of perf and flame graphs: `perf script` and collapsed stacks.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use pyo3::prelude::*;

mod collapsed;
pub mod line;
pub mod lines;
pub mod payload;
mod script;

use crate::rows::{Decode, RowPass};
use collapsed::Collapsed;
use lines::Lines;
use script::Script;

fn pass<D: Decode>(
    paths: Vec<PathBuf>,
    threads: usize,
    progress: Option<Py<PyAny>>,
    decoder: fn(Lines) -> D,
) -> RowPass {
    let sizes = paths.iter().map(|path| std::fs::metadata(path).map_or(0, |metadata| metadata.len()));
    let total = sizes.sum();
    let done = Arc::new(AtomicU64::new(0));
    let lines = Lines::new(paths, Arc::clone(&done));
    RowPass::start(decoder(lines), threads, (done, total), progress)
}

/// Read the text of `perf script`; see `RowPass`.
#[pyfunction]
#[pyo3(signature = (paths, threads, progress=None))]
fn perf_script_pass(paths: Vec<PathBuf>, threads: usize, progress: Option<Py<PyAny>>) -> RowPass {
    pass(paths, threads, progress, Script::new)
}

/// Read collapsed stacks; see `RowPass`.
#[pyfunction]
#[pyo3(signature = (paths, threads, progress=None))]
fn collapsed_pass(paths: Vec<PathBuf>, threads: usize, progress: Option<Py<PyAny>>) -> RowPass {
    pass(paths, threads, progress, Collapsed::new)
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(perf_script_pass, m)?)?;
    m.add_function(wrap_pyfunction!(collapsed_pass, m)?)
}
