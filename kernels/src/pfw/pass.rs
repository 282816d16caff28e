//! Python's side of a pass over the chunks of DFTracer traces.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3_arrow::PyRecordBatch;

use super::chunk::Chunk;
use super::decode::{Expectations, Input, Part};
use super::facts::Facts;
use super::gathered::{Gathered, Handout};
use super::ledger::Ledger;
use super::report::Trouble;
use super::tell;
use super::trace::File;
use crate::access::{Block, Checkpoint, Damage, Limits, Source};
use crate::pass::{Ahead, Spare};

/// Text that is read at a time.
pub const BLOCK_BYTES: usize = 4 << 20;
/// Longer lines are passed over.
pub const LINE_BYTES: usize = 64 << 20;

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

/// What was made of it.
enum Made {
    Chunk(Result<Box<Chunk>, ArrowError>),
    End(End),
}

/// Reads the files one after the other, chunk by chunk.
struct Reader {
    files: Vec<File>,
    limits: Limits,
    done: Arc<AtomicU64>,
    spare: Arc<Spare>,
    file: usize,
    source: Option<Source>,
    ended: bool,
}

impl Reader {
    fn read(&mut self) -> Option<Read> {
        let file = self.file;
        let path = self.files.get(file)?.path.clone();
        let error = match self.chunk(&path) {
            Ok(Some(chunk)) => return Some(Read::Chunk(Box::new(chunk))),
            Ok(None) => None,
            Err(error) => Some(error.to_string()),
        };
        self.file += 1;
        self.ended = false;
        let source = self.source.take();
        Some(Read::End(End {
            file,
            bytes: source.as_ref().map_or(0, Source::bytes),
            damage: source.as_ref().and_then(Source::damage),
            error,
        }))
    }

    fn chunk(&mut self, path: &str) -> std::io::Result<Option<Unread>> {
        let source = match &mut self.source {
            Some(source) => source,
            None => {
                let done = Arc::clone(&self.done);
                let source = Source::open(Path::new(path), self.file as u32, self.limits, done)?;
                self.source.insert(source)
            }
        };
        let mut blocks = Vec::new();
        while !self.ended {
            let mut block = source.block(self.spare.take())?;
            let place = block.end.take();
            self.ended = block.last;
            blocks.push(block);
            if let Some(place) = place {
                return Ok(Some(Unread {
                    place,
                    path: path.to_owned(),
                    blocks,
                    last: self.ended && source.damage().is_none(),
                }));
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
    let mut part = Part::of_chunk(expectations, true);
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
    /// Dimension, hash, text; without what the file has told before.
    hashes: Vec<(&'static str, String, String)>,
    other_lines: BTreeMap<String, Py<PyBytes>>,
}

/// Files of DFTracer JSON lines -> an iterator of PfwChunk, in the order of files and places.
///
/// Threads read and decode a few chunks ahead. `progress(done, total)` is called with bytes of files from the iterating
/// thread; what it raises ends the pass. `hints` are the facts of an earlier pass.
#[pyclass]
struct PfwPass {
    ahead: Option<Ahead<Made>>,
    gathered: Option<Gathered>,
    learnt: Option<(Facts, bool)>,
    files: Vec<File>,
    done: Arc<AtomicU64>,
    progress: Option<Py<PyAny>>,
}

#[pymethods]
impl PfwPass {
    #[new]
    #[pyo3(signature = (paths, threads=1, progress=None, chunk_bytes=16 << 20, hints=None, *, line_limit=LINE_BYTES))]
    fn new(
        paths: Vec<String>,
        threads: usize,
        progress: Option<Py<PyAny>>,
        chunk_bytes: usize,
        hints: Option<Facts>,
        line_limit: usize,
    ) -> PfwPass {
        let files: Vec<File> = paths.into_iter().map(File::new).collect();
        let done = Arc::new(AtomicU64::new(0));
        let spare = Arc::new(Spare::default());
        let mut reader = Reader {
            files: files.clone(),
            limits: Limits {
                block: chunk_bytes.clamp(1, BLOCK_BYTES),
                line: line_limit.clamp(1, 1 << 30),
                chunk: chunk_bytes.clamp(1, 1 << 30) as u64,
                joined: b"",
            },
            done: Arc::clone(&done),
            spare: Arc::clone(&spare),
            file: 0,
            source: None,
            ended: false,
        };
        let expectations = hints.as_ref().map(Facts::expectations).unwrap_or_default();
        let expectations = Arc::new(expectations);
        let gathered = Gathered::new(files.len(), hints.as_ref());
        let ahead = Ahead::start(threads, move || reader.read(), move |read| decode(read, &expectations, &spare));
        PfwPass { ahead: Some(ahead), gathered: Some(gathered), learnt: None, files, done, progress }
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<PfwChunk>> {
        let result = self.advance(py);
        if !matches!(result, Ok(Some(_))) {
            let ahead = self.ahead.take();
            py.detach(|| drop(ahead));
        }
        if result.is_err() {
            self.gathered = None;
        }
        result
    }

    /// What was learnt of the trace, for JSON; only after the last chunk.
    fn facts(&self) -> PyResult<Facts> {
        self.learnt().map(|(facts, _)| facts.clone())
    }

    /// Whether the pass must be done again with its facts as hints.
    fn again(&self) -> PyResult<bool> {
        self.learnt().map(|(_, again)| *again)
    }
}

impl PfwPass {
    fn learnt(&self) -> PyResult<&(Facts, bool)> {
        self.learnt.as_ref().ok_or_else(|| PyRuntimeError::new_err("the pass has not come to its end"))
    }

    fn advance(&mut self, py: Python<'_>) -> PyResult<Option<PfwChunk>> {
        let (Some(ahead), Some(gathered)) = (&self.ahead, &mut self.gathered) else {
            return Ok(None);
        };
        let total: u64 = self.files.iter().map(|file| file.size).sum();
        let tell = |py: Python<'_>| {
            let done = self.done.load(Ordering::Relaxed);
            tell(py, (done, total), self.progress.as_ref())
        };
        while let Some(made) = ahead.next(py, tell)? {
            match made {
                Made::End(end) => note_end(gathered, &self.files, end),
                Made::Chunk(chunk) => {
                    let chunk = py
                        .detach(|| gathered.add(*chunk?))
                        .map_err(|error| PyValueError::new_err(error.to_string()))?;
                    return convert(py, chunk).map(Some);
                }
            }
        }
        tell(py)?;
        if let Some(gathered) = self.gathered.take() {
            let files = &self.files;
            self.learnt = Some(py.detach(|| gathered.finish(files)));
        }
        Ok(None)
    }
}

fn note_end(gathered: &mut Gathered, files: &[File], end: End) {
    let size = files.get(end.file).map_or(0, |file| file.size);
    gathered.end(end.file, end.bytes, |ledger| match &end.error {
        Some(error) => ledger.report.note(end.file, Trouble::Unreadable, 1, error),
        None => Ledger::note_end(&mut ledger.report, end.file, end.damage, end.bytes, size),
    });
}

fn to_python(py: Python<'_>, batch: RecordBatch) -> PyResult<Py<PyAny>> {
    Ok(PyRecordBatch::new(batch).into_pyarrow(py)?.unbind())
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
