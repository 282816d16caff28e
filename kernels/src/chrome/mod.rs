//! Decode Chrome's JSON trace events, in files that are plain, gzip or in zip archives, into rows by phase.

mod counters;
mod decimal;
mod document;
mod event;
mod extent;
mod feed;
mod frames;
mod ids;
mod names;
mod placing;
mod properties;
mod repair;
mod resync;
mod system;
mod tables;
mod texts;
mod tracks;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use pyo3::prelude::*;

use crate::rows::RowPass;
use document::{Document, File};
use feed::Part;

/// A file, and the offset, size and packing of the part to read, unless it is read whole.
type FilePart = (String, Option<(u64, u64, bool)>);

/// Return an iterator over the chunks of files of trace events, then with `metadata`; see `dctv.readers.described`.
///
/// A path may come with the part of its file to read: offset, size, and whether that is a deflate stream.
/// `progress(done, total)` is called with bytes of files from the iterating thread; an exception in it ends the pass.
#[pyfunction]
#[pyo3(signature = (paths, threads=1, progress=None))]
fn chrome_pass(paths: Vec<FilePart>, threads: usize, progress: Option<Py<PyAny>>) -> RowPass {
    let size = |path: &String| std::fs::metadata(path).map_or(0, |data| data.len());
    let total = paths.iter().map(|(path, part)| part.map_or_else(|| size(path), |part| part.1)).sum();
    let file =
        |(path, part): FilePart| File { path, part: part.map(|(offset, size, packed)| Part { offset, size, packed }) };
    let done = Arc::new(AtomicU64::new(0));
    let files = paths.into_iter().map(file).collect();
    let document = Document::new(files, Arc::clone(&done));
    RowPass::start(document, threads, (done, total), progress)
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(chrome_pass, m)?)
}
