//! The Python interface of a pass over the chunks of ftrace text.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arrow_pyarrow::ToPyArrow;
use arrow_schema::ArrowError;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rustc_hash::FxHashMap;

use super::chunk::Chunk;
use super::part::{Hints, Part};
use super::statistics::ChunkStatistics;
use super::texts::{Piece, Texts};
use crate::columns::{Expected, Kind};
use crate::input::Checkpoint;
use crate::pass::{Ahead, Progress, Running, Spare};
use crate::pfw::names::raw_key;
use crate::pfw::trace_metadata::kind_name;

/// A column of an event in a chunk.
#[derive(Clone)]
#[pyclass(skip_from_py_object, frozen, get_all, module = "dctv._kernels")]
struct FtraceColumn {
    name: String,
    /// The type of its values.
    kind: String,
    /// Whether some values are negative.
    negative: bool,
    /// Whether some are integers that no float represents exactly.
    inexact: bool,
}

/// The state of a file at its end.
#[derive(Clone)]
#[pyclass(skip_from_py_object, frozen, get_all, module = "dctv._kernels")]
struct FtraceEnd {
    file: u32,
    /// Why it was not read to its end.
    broken: Option<String>,
    /// Parts of a page that are foreign, and that are damaged.
    foreign: u64,
    damaged: u64,
    /// Whether it ends in the middle of a line.
    open: bool,
}

/// A chunk to read again.
type Place = (Checkpoint, bool);

enum Read {
    Chunk(Checkpoint, Vec<Piece>),
    End(FtraceEnd),
    Failed(String, std::io::Error),
}

enum Made {
    Chunk(ChunkStatistics, Result<Box<Chunk>, ArrowError>, (i64, i64)),
    End(FtraceEnd),
    Failed(String, std::io::Error),
}

/// Reads files, or some chunks of them, one after the other.
struct Reader {
    paths: Vec<String>,
    /// The chunks to read, if not all, and whether their files end early.
    places: Option<Vec<Place>>,
    chunk_bytes: u64,
    done: Arc<AtomicU64>,
    spare: Arc<Spare>,
    next: usize,
    texts: Option<Texts>,
}

impl Reader {
    fn read(&mut self) -> Option<Read> {
        let at = self.next;
        let (file, place) = match &self.places {
            None => (at, None),
            Some(places) => {
                let place = places.get(at)?;
                (place.0.file as usize, Some(place.clone()))
            }
        };
        let path = self.paths.get(file)?.clone();
        match self.pieces(&path, place.as_ref()) {
            Ok((Some(end), pieces)) => Some(Read::Chunk(place.map_or(end, |place| place.0), pieces)),
            Ok((None, _)) => {
                self.next += 1;
                let texts = self.texts.take()?;
                let (foreign, damaged) = texts.passed_over();
                let (broken, open) = (texts.broken(), texts.open_ended());
                Some(Read::End(FtraceEnd { file: file as u32, broken, foreign, damaged, open }))
            }
            Err(error) => {
                self.next = usize::MAX;
                Some(Read::Failed(path, error))
            }
        }
    }

    /// The pieces up to the end of a chunk.
    fn pieces(&mut self, path: &str, place: Option<&Place>) -> std::io::Result<(Option<Checkpoint>, Vec<Piece>)> {
        let path = Path::new(path);
        let texts = match (&mut self.texts, place) {
            (Some(texts), _) => texts,
            (None, Some((place, damaged))) => self.texts.insert(Texts::chunk(path, place, *damaged)?),
            (None, None) => {
                let done = Arc::clone(&self.done);
                let texts = Texts::open(path, self.next as u32, self.chunk_bytes, done)?;
                self.texts.insert(texts)
            }
        };
        let mut pieces = Vec::new();
        while let Some(mut piece) = texts.next(self.spare.take())? {
            let end = piece.end.take();
            pieces.push(piece);
            if end.is_some() {
                return Ok((end, pieces));
            }
        }
        Ok((None, pieces))
    }
}

fn decode(read: Read, hints: &Arc<Hints>, timeless: i64, spare: &Spare) -> Made {
    let (place, pieces) = match read {
        Read::End(end) => return Made::End(end),
        Read::Failed(path, error) => return Made::Failed(path, error),
        Read::Chunk(place, pieces) => (place, pieces),
    };
    let mut part = Part::new(hints);
    for piece in pieces {
        piece.decode(&mut part);
        spare.give(piece.text);
    }
    part.end_stack();
    let range = (part.start, part.last);
    Made::Chunk(ChunkStatistics::of(&part), Chunk::new(place, part, timeless).map(Box::new), range)
}

/// One chunk of a pass.
#[pyclass(frozen, get_all)]
struct FtraceChunk {
    checkpoint: Py<PyAny>,
    /// Event name and its rows, in order of first appearance in the chunk.
    events: Vec<(String, Py<PyAny>)>,
    /// The same events' columns, also those without a value.
    columns: Vec<Vec<FtraceColumn>>,
    /// The same events' names as printed, each with its count.
    printed: Vec<Vec<(String, u64)>>,
    /// Numbers of lines that are not events, little-endian u32.
    other_lines: Py<PyBytes>,
    /// Statistics of the chunk besides its events; lines count from its first one.
    statistics: Py<PyAny>,
    /// The earliest and the latest time in ns; the first one is greater if there is none.
    range: (i64, i64),
    /// Values that were not UTF-8.
    invalid: u64,
}

/// An iterator of `FtraceChunk` over files of ftrace text, in the order of files and places.
///
/// With `places`, checkpoints that each come with whether the file ends early, only those chunks are read. `texts`
/// lists columns by event with values that stay texts as printed. `timeless` is the time of marks without one.
/// `progress(done, total)` is called with bytes of files from the iterating thread; an exception in it ends the pass.
#[pyclass]
struct FtracePass {
    running: Running<Made>,
    /// The state of files at their ends.
    #[pyo3(get)]
    ends: Vec<FtraceEnd>,
}

#[pymethods]
impl FtracePass {
    #[new]
    #[pyo3(signature = (paths, threads=1, progress=None, chunk_bytes=16 << 20, *, texts=HashMap::new(), timeless=0, places=None))]
    fn new(
        paths: Vec<String>,
        threads: usize,
        progress: Option<Py<PyAny>>,
        chunk_bytes: u64,
        texts: HashMap<String, Vec<String>>,
        timeless: i64,
        places: Option<Vec<Place>>,
    ) -> PyResult<FtracePass> {
        let done = Arc::new(AtomicU64::new(0));
        let spare = Arc::new(Spare::default());
        let size = |path: &String| std::fs::metadata(path).map_or(0, |data| data.len());
        let total = paths.iter().map(size).sum();
        let mut reader = Reader {
            paths,
            places,
            chunk_bytes: chunk_bytes.max(1),
            done: Arc::clone(&done),
            spare: Arc::clone(&spare),
            next: 0,
            texts: None,
        };
        let hints = Arc::new(texts.into_iter().map(expected).collect::<Hints>());
        let ahead = Ahead::start(threads, move || reader.read(), move |read| decode(read, &hints, timeless, &spare));
        Ok(FtracePass { running: Running::new(ahead, Progress::new(done, total, progress)), ends: Vec::new() })
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<FtraceChunk>> {
        self.running.next(py, |made| match made {
            Made::End(end) => {
                self.ends.push(end);
                Ok(None)
            }
            Made::Failed(path, error) => Err(PyOSError::new_err((path, error.to_string()))),
            Made::Chunk(statistics, chunk, range) => {
                let chunk = chunk.map_err(|error| PyValueError::new_err(error.to_string()))?;
                convert(py, statistics, *chunk, range).map(Some)
            }
        })
    }
}

fn expected((event, columns): (String, Vec<String>)) -> (Vec<u8>, Arc<Expected>) {
    let keyed: FxHashMap<_, _> = columns.iter().map(|name| (raw_key(name), Kind::Text)).collect();
    let expected = Expected { keyed, ..Expected::default() };
    (event.into_bytes(), Arc::new(expected))
}

fn convert(py: Python<'_>, statistics: ChunkStatistics, chunk: Chunk, range: (i64, i64)) -> PyResult<FtraceChunk> {
    let others: Vec<u8> = chunk.others.iter().flat_map(|line| line.to_le_bytes()).collect();
    let mut made = FtraceChunk {
        checkpoint: chunk.place.into_python(py)?,
        events: Vec::with_capacity(chunk.events.len()),
        columns: Vec::with_capacity(chunk.events.len()),
        printed: Vec::with_capacity(chunk.events.len()),
        other_lines: PyBytes::new(py, &others).unbind(),
        statistics: statistics.into_pyobject(py)?.into_any().unbind(),
        range,
        invalid: chunk.invalid,
    };
    for events in chunk.events {
        let batch = events.batch.to_pyarrow(py)?.unbind();
        made.events.push((events.name, batch));
        let columns = events.columns.into_iter().map(|(name, traits)| FtraceColumn {
            name,
            kind: kind_name(traits.kind),
            negative: traits.negative,
            inexact: traits.inexact,
        });
        made.columns.push(columns.collect());
        made.printed.push(events.printed);
    }
    Ok(made)
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<FtraceColumn>()?;
    m.add_class::<FtraceEnd>()?;
    m.add_class::<FtraceChunk>()?;
    m.add_class::<FtracePass>()
}
