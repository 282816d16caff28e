//! The Python interface of a pass over the chunks of DFTracer traces.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arrow_array::RecordBatch;
use arrow_pyarrow::ToPyArrow;
use arrow_schema::ArrowError;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::chunk::Chunk;
use super::decode::{Expectations, Input, Part};
use super::gathered::{Gathered, Handout};
use super::ledger::Ledger;
use super::report::Trouble;
use super::trace_metadata::TraceMetadata;
use crate::input::{Block, BlockSource, Checkpoint, Damage, Limits};
use crate::pass::{Ahead, Progress, Running, Spare};

/// Bytes of text per read.
const BLOCK_BYTES: usize = 4 << 20;
/// Longer lines are skipped.
const LINE_BYTES: usize = 64 << 20;

/// The text of a chunk.
struct Unread {
    place: Checkpoint,
    path: String,
    blocks: Vec<Block>,
    /// Whether its last line is the last of an undamaged file.
    last: bool,
}

/// The end of a file.
struct End {
    file: usize,
    bytes: u64,
    damage: Option<Damage>,
    error: Option<String>,
}

enum Read {
    Chunk(Box<Unread>),
    End(End),
}

/// The result for it.
enum Made {
    Chunk(Result<Box<Chunk>, ArrowError>),
    End(End),
}

/// Reads the files one after the other, chunk by chunk, or some chunks of them.
struct Reader {
    paths: Vec<String>,
    /// The chunks to read, if not all.
    places: Option<Vec<Checkpoint>>,
    limits: Limits,
    done: Arc<AtomicU64>,
    spare: Arc<Spare>,
    /// The number of the current file, or place.
    next: usize,
    source: Option<BlockSource>,
    ended: bool,
}

impl Reader {
    fn read(&mut self) -> Option<Read> {
        let place = match &self.places {
            None => None,
            Some(places) => Some(places.get(self.next)?.clone()),
        };
        let file = place.as_ref().map_or(self.next, |place| place.file as usize);
        let path = self.paths.get(file)?.clone();
        let error = match self.chunk(&path, place.as_ref()) {
            Ok(Some(chunk)) => return Some(Read::Chunk(Box::new(chunk))),
            Ok(None) => None,
            Err(error) => Some(error.to_string()),
        };
        self.next += 1;
        self.ended = false;
        let source = self.source.take();
        Some(Read::End(End {
            file,
            bytes: source.as_ref().map_or(0, BlockSource::bytes),
            damage: source.as_ref().and_then(BlockSource::damage),
            error,
        }))
    }

    fn chunk(&mut self, path: &str, only: Option<&Checkpoint>) -> std::io::Result<Option<Unread>> {
        let source = match &mut self.source {
            Some(source) => source,
            None => {
                let done = Arc::clone(&self.done);
                self.source.insert(match only {
                    None => BlockSource::open(Path::new(path), self.next as u32, self.limits, done)?,
                    Some(place) => BlockSource::chunk(Path::new(path), place, self.limits, done)?,
                })
            }
        };
        let mut blocks = Vec::new();
        while !self.ended {
            let mut block = source.block(self.spare.take())?;
            let place = block.end.take();
            self.ended = block.last;
            blocks.push(block);
            let end = match only {
                None => place,
                Some(only) => self.ended.then(|| only.clone()),
            };
            if let Some(place) = end {
                let last = self.ended && source.damage().is_none();
                return Ok(Some(Unread { place, path: path.to_owned(), blocks, last }));
            }
        }
        Ok(None)
    }
}

fn decode(read: Read, expectations: &Arc<Expectations>, spare: &Spare) -> Made {
    let chunk = match read {
        Read::End(end) => return Made::End(end),
        Read::Chunk(chunk) => chunk,
    };
    let file = chunk.place.file as usize;
    let mut part = Part::new(expectations);
    for block in chunk.blocks {
        if let Some(head) = &block.skipped {
            part.long_line(file, head);
        }
        part.decode(&Input { file, path: &chunk.path, text: &block.text, last: block.last && chunk.last });
        spare.give(block.text);
    }
    Made::Chunk(Chunk::new(chunk.place, part).map(Box::new))
}

/// One chunk of a pass.
#[pyclass(frozen, get_all)]
struct PfwChunk {
    checkpoint: Py<PyAny>,
    /// Event name and its rows, in order of first appearance in the chunk.
    events: Vec<(String, Py<PyAny>)>,
    metadata: Option<Py<PyAny>>,
    /// Dimension, hash, text; without repetitions within the file.
    hashes: Vec<(&'static str, String, String)>,
    other_lines: BTreeMap<String, Py<PyBytes>>,
}

/// An iterator of `PfwChunk` over files of DFTracer JSON lines, in the order of files and places.
///
/// Threads read and decode a few chunks ahead. `progress(done, total)` is called with bytes of files from the iterating
/// thread; an exception in it ends the pass. `hints` is the metadata of an earlier pass. With `places` only those
/// chunks are read, and the metadata does not cover the whole trace.
#[pyclass]
struct PfwPass {
    running: Running<Made>,
    gathered: Option<Gathered>,
    learnt: Option<(TraceMetadata, bool)>,
    paths: Vec<String>,
    sizes: Vec<u64>,
}

#[pymethods]
impl PfwPass {
    #[new]
    #[pyo3(signature = (paths, threads=1, progress=None, chunk_bytes=16 << 20, hints=None, *, line_limit=LINE_BYTES, places=None))]
    fn new(
        paths: Vec<String>,
        threads: usize,
        progress: Option<Py<PyAny>>,
        chunk_bytes: usize,
        hints: Option<TraceMetadata>,
        line_limit: usize,
        places: Option<Vec<Checkpoint>>,
    ) -> PyResult<PfwPass> {
        let sizes: Vec<u64> = paths.iter().map(|path| std::fs::metadata(path).map_or(0, |data| data.len())).collect();
        let total = match &places {
            None => sizes.iter().sum(),
            Some(places) => places.iter().map(|place| place.c_size).sum(),
        };
        let done = Arc::new(AtomicU64::new(0));
        let spare = Arc::new(Spare::default());
        let mut reader = Reader {
            paths: paths.clone(),
            places,
            limits: Limits {
                block: chunk_bytes.clamp(1, BLOCK_BYTES),
                line: line_limit.clamp(1, 1 << 30),
                chunk: chunk_bytes.clamp(1, 1 << 30) as u64,
                joined: b"",
            },
            done: Arc::clone(&done),
            spare: Arc::clone(&spare),
            next: 0,
            source: None,
            ended: false,
        };
        let expectations = Arc::new(hints.as_ref().map(TraceMetadata::expectations).unwrap_or_default());
        let gathered = Gathered::new(paths.len(), hints.as_ref());
        let ahead = Ahead::start(threads, move || reader.read(), move |read| decode(read, &expectations, &spare));
        let running = Running::new(ahead, Progress::new(done, total, progress));
        Ok(PfwPass { running, gathered: Some(gathered), learnt: None, paths, sizes })
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<PfwChunk>> {
        let Some(mut gathered) = self.gathered.take() else {
            return Ok(None);
        };
        let found = self.running.next(py, |made| match made {
            Made::End(end) => {
                note_end(&mut gathered, &self.sizes, end);
                Ok(None)
            }
            Made::Chunk(chunk) => {
                let added = py.detach(|| gathered.add(*chunk?));
                added.map(Some).map_err(|error| PyValueError::new_err(error.to_string()))
            }
        })?;
        match found {
            Some(chunk) => {
                self.gathered = Some(gathered);
                convert(py, chunk).map(Some)
            }
            None => {
                self.learnt = Some(py.detach(|| gathered.finish(&self.paths)));
                Ok(None)
            }
        }
    }

    /// The metadata of the trace, for JSON; only after the last chunk.
    fn metadata(&self) -> PyResult<TraceMetadata> {
        self.learnt().map(|(trace_metadata, _)| trace_metadata.clone())
    }

    /// Whether the pass must be repeated with its metadata as hints.
    fn again(&self) -> PyResult<bool> {
        self.learnt().map(|(_, again)| *again)
    }
}

impl PfwPass {
    fn learnt(&self) -> PyResult<&(TraceMetadata, bool)> {
        self.learnt.as_ref().ok_or_else(|| PyRuntimeError::new_err("the pass has not come to its end"))
    }
}

fn note_end(gathered: &mut Gathered, sizes: &[u64], end: End) {
    let size = sizes.get(end.file).copied().unwrap_or(0);
    gathered.end(end.file, end.bytes, |ledger| match &end.error {
        Some(error) => ledger.report.note(end.file, Trouble::Unreadable, 1, error),
        None => Ledger::note_end(&mut ledger.report, end.file, end.damage, end.bytes, size),
    });
}

fn to_python(py: Python<'_>, batch: RecordBatch) -> PyResult<Py<PyAny>> {
    Ok(batch.to_pyarrow(py)?.unbind())
}

fn convert(py: Python<'_>, chunk: Handout) -> PyResult<PfwChunk> {
    let events = chunk.events.into_iter();
    let lines = chunk.other_lines.into_iter().map(|(kind, numbers)| {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        (kind, PyBytes::new(py, &bytes).unbind())
    });
    Ok(PfwChunk {
        checkpoint: chunk.checkpoint.into_python(py)?,
        events: events.map(|(name, batch)| Ok((name, to_python(py, batch)?))).collect::<PyResult<_>>()?,
        metadata: chunk.metadata.map(|batch| to_python(py, batch)).transpose()?,
        hashes: chunk.hashes,
        other_lines: lines.collect(),
    })
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PfwChunk>()?;
    m.add_class::<PfwPass>()
}
