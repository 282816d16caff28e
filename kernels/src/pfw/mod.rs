//! Decoder of DFTracer's JSON lines: files, plain or gzip, into one Arrow table per event name.

mod chunk;
mod decode;
pub mod facts;
mod finish;
mod gathered;
mod growing;
mod hashes;
mod ledger;
mod metadata;
pub mod names;
mod pass;
mod record;
mod report;
mod select;
mod sorted;
mod tables;
mod told;
mod trace;

use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3_arrow::PyTable;

use crate::access::Limits;
use trace::{File, Job, Trace};

/// Path, bytes of text, events, metadata records, invalid lines, other lines, time unit, range of timestamps in that unit.
type FileRow = (String, u64, u64, u64, u64, u64, String, Option<(i64, i64)>);
/// Path, reason, count, example, whether the trace is incomplete.
type TroubleRow = (String, &'static str, u64, String, bool);

/// What `decode_pfw` gives.
#[pyclass(frozen, get_all)]
struct PfwTrace {
    /// Event name and its table, sorted by `_ts`, in order of first appearance.
    events: Vec<(String, Py<PyAny>)>,
    metadata: Py<PyAny>,
    files: Vec<FileRow>,
    troubles: Vec<TroubleRow>,
    /// Absolute nanoseconds of the first event.
    start_ns: i64,
    /// The latest end of an event, in nanoseconds since the first one.
    last_ts: i64,
}

/// Files of DFTracer JSON lines, plain or gzip -> PfwTrace with one pyarrow table per event name.
///
/// Columns of each table: `_ts: int64[n] ns since the first event, ascending, no nulls`, `dur: int64[n] ns`, `cat`, `pid`, `tid`,
/// `id`, `ph`, `type`, then the members of args, each typed by its values, texts of hashes beside the hashes.
/// `progress(done, total)` is called with bytes of files from the calling thread; what it raises ends the decoding.
#[pyfunction]
#[pyo3(signature = (paths, threads=1, progress=None, *, block_size=8 << 20, line_limit=64 << 20))]
fn decode_pfw(
    py: Python<'_>,
    paths: Vec<String>,
    threads: usize,
    progress: Option<Py<PyAny>>,
    block_size: usize,
    line_limit: usize,
) -> PyResult<PfwTrace> {
    let files = paths.into_iter().map(File::new).collect();
    let limits = Limits {
        block: block_size.clamp(1, 1 << 30),
        line: line_limit.clamp(1, 1 << 30),
        chunk: u64::MAX,
        joined: b"",
    };
    let job = Arc::new(Job::new(files, limits, threads));
    let (sender, receiver) = channel();
    let receiver = Mutex::new(receiver);
    let worker = Arc::clone(&job);
    let handle = std::thread::spawn(move || {
        // The receiver only goes away when the call was interrupted.
        let _ = sender.send(worker.run());
    });
    let outcome = loop {
        match py.detach(|| wait(&receiver)) {
            Ok(outcome) => break outcome,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyValueError::new_err("the decoder ended unexpectedly"));
            }
            Err(RecvTimeoutError::Timeout) => {
                if let Err(error) = tell(py, job.progress(), progress.as_ref()) {
                    job.cancelled.store(true, Ordering::Relaxed);
                    // A panic in the worker is no news for somebody who gave up.
                    let _ = py.detach(|| handle.join());
                    return Err(error);
                }
            }
        }
    };
    tell(py, job.progress(), progress.as_ref())?;
    match outcome {
        Ok(Some(trace)) => convert(py, &job, trace),
        Ok(None) => Err(PyValueError::new_err("cancelled")),
        Err(error) => Err(PyValueError::new_err(error.to_string())),
    }
}

fn wait<T>(receiver: &Mutex<Receiver<T>>) -> Result<T, RecvTimeoutError> {
    let receiver = receiver.lock().unwrap_or_else(PoisonError::into_inner);
    receiver.recv_timeout(Duration::from_millis(50))
}

fn tell(py: Python<'_>, (done, total): (u64, u64), progress: Option<&Py<PyAny>>) -> PyResult<()> {
    py.check_signals()?;
    if let Some(progress) = progress {
        progress.call1(py, (done, total))?;
    }
    Ok(())
}

/// A pyarrow Table; `pyarrow.table` would import pandas to see whether it is given a frame of that.
fn table_of(py: Python<'_>, batches: Vec<RecordBatch>, schema: SchemaRef) -> PyResult<Py<PyAny>> {
    let reader = py.import("pyarrow")?.getattr("RecordBatchReader")?;
    let stream = reader.call_method1("from_stream", (PyTable::try_new(batches, schema)?,))?;
    Ok(stream.call_method0("read_all")?.unbind())
}

fn convert(py: Python<'_>, job: &Job, trace: Trace) -> PyResult<PfwTrace> {
    let mut events = Vec::with_capacity(trace.events.len());
    for (name, schema, batches) in trace.events {
        events.push((name, table_of(py, batches, schema)?));
    }
    let schema =
        trace.metadata.first().map(|batch| batch.schema()).unwrap_or_else(|| Arc::new(arrow_schema::Schema::empty()));
    let metadata = table_of(py, trace.metadata, schema)?;
    let path = |file: usize| job.files.get(file).map(|file| file.path.clone()).unwrap_or_default();
    let files = trace.files.into_iter().enumerate().map(|(file, figures)| {
        let counts = figures.counts;
        (
            path(file),
            figures.bytes,
            figures.events,
            counts.metadata,
            counts.invalid,
            counts.other,
            figures.unit,
            figures.range,
        )
    });
    let troubles = trace
        .troubles
        .into_iter()
        .map(|item| (path(item.file), item.trouble.reason(), item.count, item.example, item.trouble.incomplete()));
    Ok(PfwTrace {
        events,
        metadata,
        files: files.collect(),
        troubles: troubles.collect(),
        start_ns: trace.start,
        last_ts: trace.last,
    })
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    pass::register(m)?;
    m.add_class::<finish::PfwFinisher>()?;
    m.add_class::<PfwTrace>()?;
    m.add_function(wrap_pyfunction!(decode_pfw, m)?)
}
