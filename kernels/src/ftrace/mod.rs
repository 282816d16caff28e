//! Decoder of ftrace's text forms: files -> one Arrow table for each event, and what was skipped.

use std::path::Path;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3_arrow::PyTable;

mod block;
mod chunk;
pub mod fields;
mod finish;
pub mod forms;
pub mod graph;
mod latency;
pub mod line;
pub mod marks;
mod page;
mod pass;
mod read;
mod source;
pub mod table;
mod texts;

use block::{Block, REASONS};
use read::FileResult;

/// Read ftrace text; `progress` gets bytes done and bytes in all, and stops the reading by raising.
///
/// Returns `tables`: list of (name, Arrow table, unsorted, [(printed name, count)]), each with `_ts: int64[n] ns` from the
/// first event of all files, `files`: list of what was met in each, and `start`, `last`: int ns.
#[pyfunction]
#[pyo3(signature = (paths, threads, progress=None))]
fn decode_ftrace<'py>(
    py: Python<'py>,
    paths: Vec<String>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (files, trace) = py.detach(|| {
        let sizes: Vec<u64> = paths.iter().map(|p| std::fs::metadata(p).map_or(0, |m| m.len())).collect();
        let total: u64 = sizes.iter().sum();
        let mut before = 0;
        let mut files = Vec::new();
        let mut blocks = Vec::new();
        for (path, size) in paths.iter().zip(sizes) {
            let tick = |done: u64| match &progress {
                Some(call) => Python::attach(|py| call.call1(py, (before + done, total)).map(drop)),
                None => Ok(()),
            };
            let mut file = read::file(Path::new(path), threads.clamp(1, 64), tick)
                .map_err(|error| PyOSError::new_err((path.clone(), error.to_string())))??;
            files.push(Met::of(&file));
            blocks.append(&mut file.blocks);
            before += size;
        }
        let trace = finish::finish(blocks).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok::<_, PyErr>((files, trace))
    })?;
    let result = PyDict::new(py);
    let mut tables = Vec::new();
    for table in trace.tables {
        let data = PyTable::try_new(table.batches, table.schema)?;
        tables.push((table.name, data.into_pyarrow(py)?, table.unsorted, table.printed));
    }
    result.set_item("tables", tables)?;
    result.set_item("start", trace.start)?;
    result.set_item("last", trace.last)?;
    result.set_item("invalid", trace.invalid)?;
    result.set_item("left_out", trace.left_out)?;
    let files: PyResult<Vec<_>> = files.into_iter().map(|file| file.into_dict(py)).collect();
    result.set_item("files", files?)?;
    Ok(result)
}

/// What was met in one file.
struct Met {
    /// Reason's key and text, count, line of the first, and how that begins.
    skips: Vec<(&'static str, &'static str, u64, u64, String)>,
    lines: u64,
    events: u64,
    blank: u64,
    headers: u64,
    promised: u64,
    open: bool,
    foreign: u64,
    damaged: u64,
    broken: Option<String>,
    tracer: Option<String>,
    kernel: Option<String>,
}

impl Met {
    fn of(file: &FileResult) -> Met {
        let sum = |of: fn(&Block) -> u64| file.blocks.iter().map(of).sum::<u64>();
        let first = |of: fn(&Block) -> Option<&Vec<u8>>| {
            file.blocks.iter().find_map(of).map(|text| String::from_utf8_lossy(text).into_owned())
        };
        Met {
            skips: skips(file),
            lines: sum(|b| b.lines) + file.endless,
            events: sum(|b| b.events),
            blank: sum(|b| b.blank),
            headers: sum(|b| b.headers),
            promised: sum(|b| b.promised),
            open: file.open,
            foreign: file.foreign,
            damaged: file.damaged,
            broken: file.broken.clone(),
            tracer: first(|b| b.tracer.as_ref()),
            kernel: first(|b| b.kernel.as_ref()),
        }
    }

    fn into_dict(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("skips", self.skips)?;
        dict.set_item("lines", self.lines)?;
        dict.set_item("events", self.events)?;
        dict.set_item("blank", self.blank)?;
        dict.set_item("headers", self.headers)?;
        dict.set_item("promised", self.promised)?;
        dict.set_item("open", self.open)?;
        dict.set_item("foreign", self.foreign)?;
        dict.set_item("damaged", self.damaged)?;
        dict.set_item("broken", self.broken)?;
        dict.set_item("tracer", self.tracer)?;
        dict.set_item("kernel", self.kernel)?;
        Ok(dict)
    }
}

fn skips(file: &FileResult) -> Vec<(&'static str, &'static str, u64, u64, String)> {
    let mut skips = Vec::new();
    for (reason, key, text) in REASONS {
        let mut before = 0;
        let mut all = (0u64, 0, String::new());
        for block in &file.blocks {
            let count = &block.counts[reason as usize];
            if count.count > 0 && all.0 == 0 {
                all = (0, before + count.line, String::from_utf8_lossy(&count.example).into_owned());
            }
            all.0 = all.0.saturating_add(count.count);
            before += block.lines;
        }
        if reason == block::Reason::TooLong {
            all.0 += file.endless;
        }
        if all.0 > 0 {
            skips.push((key, text, all.0, all.1, all.2));
        }
    }
    skips
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    pass::register(m)?;
    m.add_function(wrap_pyfunction!(decode_ftrace, m)?)
}
