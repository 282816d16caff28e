//! The Python interface of a decoder that puts rows into a sink: an iterator of chunks, and metadata at the end.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rustc_hash::FxHashMap;

use super::TableSpec;
use super::far::{LENGTH_REASON, TIME_REASON};
use super::notes::Note;
use super::sink::{Sink, Taken};
use crate::exchange::OutputBatch;
use crate::input::Checkpoint;
use crate::pass::{Ahead, Progress, Running};

/// Why a trace cannot be read.
pub enum Failure {
    /// A file, and the system's error.
    Io(String, std::io::Error),
    /// A message that begins with `cannot`.
    Bad(String),
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> PyErr {
        match failure {
            Failure::Io(path, error) => match error.raw_os_error() {
                Some(number) => PyOSError::new_err((number, error.to_string(), path)),
                None => PyValueError::new_err(format!("cannot read `{path}`: {error}")),
            },
            Failure::Bad(text) => PyValueError::new_err(text),
        }
    }
}

/// Information about a trace after its end.
#[derive(Default)]
pub struct Learnt {
    pub notes: Vec<Note>,
    pub properties: Vec<(String, String)>,
}

/// How much of a text file was readable.
#[derive(Clone, Copy, Debug, Default)]
pub struct TextRead {
    pub file: u32,
    /// Lines with data: neither blank nor comments.
    pub with_data: u64,
    /// Those from which nothing was kept.
    pub unread: u64,
}

/// The approximate part of a file covered by a chunk: the position of a sequential decoder.
#[derive(Clone, Copy, Default)]
pub struct Place {
    pub file: u32,
    /// Bytes of the file, unpacked if it is packed, before and after the chunk.
    pub begin: u64,
    pub end: u64,
}

/// A decoder of a whole trace, in order, in bounded memory.
pub trait Decode: Send + 'static {
    /// Decode until `sink.full()`, the end of a file, or the end; None at the end without new rows.
    ///
    /// # Errors
    /// The trace cannot be read.
    fn step(&mut self, sink: &mut Sink) -> Result<Option<Place>, Failure>;

    /// The metadata; only after the last step.
    fn learnt(&mut self) -> Learnt;

    /// How much of each text file was readable; only after the last step.
    fn lines(&mut self) -> Vec<TextRead> {
        Vec::new()
    }
}

struct Summary {
    specs: Vec<TableSpec>,
    range: Option<(i64, i64)>,
    learnt: Learnt,
    lines: Vec<TextRead>,
}

enum Read {
    Chunk(Place, Vec<Taken>),
    End(Box<Summary>),
    Failed(Failure),
}

const INVALID_REASON: &str = "text is not UTF-8";

type Batches = Vec<(String, RecordBatch)>;

/// Flaws of values in a chunk's rows, in any format.
#[derive(Clone, Copy, Default)]
struct Flaws {
    /// Texts that are not UTF-8.
    invalid: usize,
    /// Rows dropped because of their times.
    far: usize,
    /// Durations that are null because of their length.
    long: usize,
}

enum Made {
    Chunk(Place, Result<Batches, ArrowError>, Flaws),
    End(Box<Summary>),
    Failed(Failure),
}

struct Reader<D> {
    decoder: D,
    sink: Sink,
    ended: bool,
}

impl<D: Decode> Reader<D> {
    fn read(&mut self) -> Option<Read> {
        if self.ended {
            return None;
        }
        match self.decoder.step(&mut self.sink) {
            Ok(Some(place)) => Some(Read::Chunk(place, self.sink.take())),
            Ok(None) => {
                self.ended = true;
                Some(Read::End(Box::new(Summary {
                    specs: self.sink.specs().to_vec(),
                    range: self.sink.range(),
                    lines: self.decoder.lines(),
                    learnt: self.decoder.learnt(),
                })))
            }
            Err(failure) => {
                self.ended = true;
                Some(Read::Failed(failure))
            }
        }
    }
}

fn make(read: Read) -> Made {
    match read {
        Read::End(summary) => Made::End(summary),
        Read::Failed(failure) => Made::Failed(failure),
        Read::Chunk(place, taken) => {
            let mut flaws = Flaws::default();
            let batches = taken.into_iter().map(|table| finish(table, &mut flaws));
            let batches = batches
                .filter(|made| made.as_ref().map_or(true, |(_, batch): &(String, RecordBatch)| batch.num_rows() > 0));
            let batches = batches.collect();
            Made::Chunk(place, batches, flaws)
        }
    }
}

/// The rows of a table with possible times, as a batch.
fn finish(table: Taken, flaws: &mut Flaws) -> Result<(String, RecordBatch), ArrowError> {
    let batch = table.rows.finish(&table.columns, &mut flaws.invalid)?;
    let Some((window, durations)) = table.window else {
        return Ok((table.name, batch));
    };
    let (kept, long) = window.filtered(&batch, durations)?;
    flaws.far += batch.num_rows() - kept.num_rows();
    flaws.long += long;
    Ok((table.name, kept))
}

/// One chunk of a pass, with the fields of `dctv.contracts.chunks.DecodedChunk`.
#[pyclass(frozen, get_all)]
struct RowChunk {
    checkpoint: Py<PyAny>,
    events: Vec<(String, Py<PyAny>)>,
    others: Vec<(String, Py<PyAny>)>,
    hashes: Vec<(String, String, String)>,
    other_lines: Py<PyDict>,
}

/// An iterator over the chunks of a trace's files, with `metadata` after the last one.
#[pyclass]
pub struct RowPass {
    running: Running<Made>,
    summary: Option<Box<Summary>>,
    /// By file.
    flaws: BTreeMap<u32, Flaws>,
    /// The number of chunks of each file.
    chunks: FxHashMap<u32, u32>,
    rows: u64,
}

impl RowPass {
    /// Start decoding whole files; the decoder counts the bytes that it has read.
    pub fn of_files<P: AsRef<Path>, D: Decode>(
        paths: Vec<P>,
        threads: usize,
        progress: Option<Py<PyAny>>,
        decoder: impl FnOnce(Vec<P>, Arc<AtomicU64>) -> D,
    ) -> RowPass {
        let sizes = paths.iter().map(|path| std::fs::metadata(path).map_or(0, |metadata| metadata.len()));
        let total = sizes.fold(0, u64::saturating_add);
        let done = Arc::default();
        RowPass::start(decoder(paths, Arc::clone(&done)), threads, (done, total), progress)
    }

    /// Start decoding; `done` counts bytes of files, out of `total`.
    pub fn start(
        decoder: impl Decode,
        threads: usize,
        (done, total): (Arc<AtomicU64>, u64),
        progress: Option<Py<PyAny>>,
    ) -> RowPass {
        let mut reader = Reader { decoder, sink: Sink::default(), ended: false };
        RowPass {
            running: Running::new(
                Ahead::start(threads, move || reader.read(), make),
                Progress::new(done, total, progress),
            ),
            summary: None,
            flaws: BTreeMap::new(),
            chunks: FxHashMap::default(),
            rows: 0,
        }
    }

    fn convert(&mut self, py: Python<'_>, place: Place, batches: Batches) -> PyResult<RowChunk> {
        let next = self.chunks.entry(place.file).or_default();
        let number = *next;
        *next += 1;
        let rows: usize = batches.iter().map(|(_, batch)| batch.num_rows()).sum();
        let size = place.end.saturating_sub(place.begin);
        let checkpoint = Checkpoint {
            file: place.file,
            number,
            uc_offset: place.begin,
            uc_size: size,
            c_offset: place.begin,
            c_size: size,
            first_line: self.rows,
            lines: rows as u64,
            ..Checkpoint::default()
        };
        self.rows += rows as u64;
        let mut chunk = RowChunk {
            checkpoint: checkpoint.into_python(py)?,
            events: Vec::new(),
            others: Vec::new(),
            hashes: Vec::new(),
            other_lines: PyDict::new(py).unbind(),
        };
        for (name, batch) in batches {
            let batch = Py::new(py, OutputBatch(batch))?.into_any();
            match name.strip_prefix("raw_events.") {
                Some(event) => chunk.events.push((event.to_owned(), batch)),
                None => chunk.others.push((name, batch)),
            }
        }
        Ok(chunk)
    }
}

#[pymethods]
impl RowPass {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<RowChunk>> {
        let found = self.running.next(py, |made| match made {
            Made::End(summary) => {
                self.summary = Some(summary);
                Ok(None)
            }
            Made::Failed(failure) => Err(failure.into()),
            Made::Chunk(place, batches, found) => {
                let batches = batches.map_err(|e| PyValueError::new_err(e.to_string()))?;
                Ok(Some((place, batches, found)))
            }
        })?;
        let Some((place, batches, found)) = found else {
            return Ok(None);
        };
        let flaws = self.flaws.entry(place.file).or_default();
        flaws.invalid += found.invalid;
        flaws.far += found.far;
        flaws.long += found.long;
        self.convert(py, place, batches).map(Some)
    }

    /// The metadata, as specified in `dctv.readers.described`; only after the last chunk.
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Some(summary) = &self.summary else {
            return Err(PyRuntimeError::new_err("the pass has not come to its end"));
        };
        let metadata = PyDict::new(py);
        let (first, last) = summary.range.unwrap_or((0, 0));
        metadata.set_item("start_ns", first)?;
        metadata.set_item("last_ts", last.saturating_sub(first))?;
        let tables = PyList::empty(py);
        for spec in &summary.specs {
            tables.append(table(py, spec)?)?;
        }
        metadata.set_item("tables", tables)?;
        let notes = summary.learnt.notes.iter().map(|note| {
            let count = i64::try_from(note.count).unwrap_or(i64::MAX);
            let example: String = note.example.chars().take(200).collect();
            (note.file, &note.reason, count, example, note.incomplete)
        });
        let mut notes: Vec<_> = notes.collect();
        let known = self.flaws.iter().map(|(file, flaws)| (*file, *flaws));
        let reasons = [INVALID_REASON, TIME_REASON, LENGTH_REASON].map(str::to_owned);
        for (file, flaws) in known {
            let counts = [flaws.invalid, flaws.far, flaws.long];
            let with_data = reasons.iter().zip(counts).zip([false, true, false]);
            for ((reason, count), incomplete) in with_data.filter(|((_, count), _)| *count > 0) {
                let count = i64::try_from(count).unwrap_or(i64::MAX);
                notes.push((file, reason, count, String::new(), incomplete));
            }
        }
        metadata.set_item("diagnostics", notes)?;
        let lines = summary.lines.iter();
        let lines: Vec<_> = lines.map(|one| (one.file, one.with_data, one.unread)).collect();
        metadata.set_item("lines", lines)?;
        let properties = PyDict::new(py);
        for (key, value) in &summary.learnt.properties {
            properties.set_item(key, value)?;
        }
        metadata.set_item("properties", properties)?;
        Ok(metadata)
    }
}

fn table<'py>(py: Python<'py>, spec: &TableSpec) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    table.set_item("name", &spec.name)?;
    let columns = spec.columns.iter().map(|one| (&one.name, one.kind.name(), one.unit));
    table.set_item("columns", columns.collect::<Vec<_>>())?;
    table.set_item("event", spec.event.as_ref())?;
    Ok(table)
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<RowChunk>()?;
    m.add_class::<RowPass>()
}
