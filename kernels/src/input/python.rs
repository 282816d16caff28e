//! Python objects for chunks of text.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::blocks::read_chunk as read;
use super::{Block, BlockSource, Checkpoint, Damage, Limits};

/// The fields of `dctv.contracts.chunks.Checkpoint` in their order.
type Place = ((u32, u32, u64, u64, u64, u64, u8, Option<Py<PyBytes>>), (u64, u64, u64, bool));
/// Whole lines of a file.
#[pyclass(frozen, get_all, module = "dctv._kernels")]
struct TextBlock {
    text: Py<PyBytes>,
    /// The head of a line that was skipped before it.
    skipped: Option<Py<PyBytes>>,
    /// The number of its chunk.
    chunk: u32,
    first_line: u64,
    lines: u64,
    /// The checkpoint of its chunk, if that ends with it.
    end: Option<Py<PyAny>>,
}

impl Checkpoint {
    /// Convert to a `dctv.contracts.chunks.Checkpoint`.
    pub fn into_python(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let class = py.import("dctv.contracts.chunks")?.getattr("Checkpoint")?;
        let window = self.window.map(|bytes| PyBytes::new(py, &bytes).unbind());
        let (first, second): Place = (
            (self.file, self.number, self.uc_offset, self.uc_size, self.c_offset, self.c_size, self.bits, window),
            (self.skip, self.first_line, self.lines, self.packed),
        );
        let first = first.into_pyobject(py)?;
        let fields = first.as_sequence().concat(second.into_pyobject(py)?.as_sequence())?;
        Ok(class.call1(fields.to_tuple()?)?.unbind())
    }
}

/// Return the text of one chunk, given by its checkpoint.
///
/// Raises OSError if the file cannot be read or has changed.
#[pyfunction]
fn read_chunk(py: Python<'_>, path: PathBuf, place: Checkpoint) -> PyResult<Py<PyBytes>> {
    let text = py.detach(|| read(&path, &place)).map_err(|error| failed(&path, &error))?;
    Ok(PyBytes::new(py, &text).unbind())
}

fn failed(path: &Path, error: &std::io::Error) -> PyErr {
    PyOSError::new_err((path.display().to_string(), error.to_string()))
}

/// An iterator over the checkpoints of the chunks of files, in order; after a file's last one, `damage` includes the
/// file if it ended early.
#[pyclass]
struct TextChunks {
    paths: Vec<PathBuf>,
    limits: Limits,
    /// Number of the next file to be opened.
    next: usize,
    source: Option<BlockSource>,
    spare: Vec<u8>,
    /// Files that ended early, and the reasons: `truncated`, `corrupt`, `trailing`.
    #[pyo3(get)]
    damage: Vec<(usize, &'static str)>,
}

impl TextChunks {
    /// The next block that ends a chunk, or any block with `all`.
    fn step(&mut self, all: bool) -> Result<Option<Block>, (PathBuf, std::io::Error)> {
        loop {
            let file = self.next.saturating_sub(1);
            let Some(source) = &mut self.source else {
                let Some(path) = self.paths.get(self.next) else {
                    return Ok(None);
                };
                let done = Arc::<AtomicU64>::default();
                let source = BlockSource::open(path, self.next as u32, self.limits, done)
                    .map_err(|error| (path.clone(), error))?;
                self.source = Some(source);
                self.next += 1;
                continue;
            };
            let block =
                source.block(std::mem::take(&mut self.spare)).map_err(|error| (self.paths[file].clone(), error))?;
            if block.last {
                if let Some(damage) = source.damage() {
                    self.damage.push((file, damage.name()));
                }
                self.source = None;
            }
            if all || block.end.is_some() {
                return Ok(Some(block));
            }
            self.spare = block.text;
        }
    }
}

#[pymethods]
impl TextChunks {
    #[new]
    #[pyo3(signature = (paths, *, chunk_bytes=16 << 20, block_bytes=4 << 20, line_limit=64 << 20))]
    fn new(paths: Vec<PathBuf>, chunk_bytes: u64, block_bytes: usize, line_limit: usize) -> Self {
        TextChunks {
            paths,
            limits: Limits {
                block: block_bytes.clamp(1, 1 << 30),
                line: line_limit.clamp(1, 1 << 30),
                chunk: chunk_bytes.max(1),
                joined: b"",
            },
            next: 0,
            source: None,
            spare: Vec::new(),
            damage: Vec::new(),
        }
    }

    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let block = py.detach(|| self.step(false)).map_err(|(path, error)| failed(&path, &error))?;
        let Some(block) = block else {
            return Ok(None);
        };
        self.spare = block.text;
        block.end.map(|end| end.into_python(py)).transpose()
    }

    /// Return the next block instead of the next checkpoint.
    fn block(&mut self, py: Python<'_>) -> PyResult<Option<TextBlock>> {
        let block = py.detach(|| self.step(true)).map_err(|(path, error)| failed(&path, &error))?;
        let Some(block) = block else {
            return Ok(None);
        };
        let text = PyBytes::new(py, &block.text).unbind();
        self.spare = block.text;
        let skipped = block.skipped.map(|head| PyBytes::new(py, &head).unbind());
        let end = block.end.map(|end| end.into_python(py)).transpose()?;
        let (chunk, first_line, lines) = (block.chunk, block.first_line, block.lines);
        Ok(Some(TextBlock { text, skipped, chunk, first_line, lines, end }))
    }
}

impl Damage {
    fn name(self) -> &'static str {
        match self {
            Damage::Truncated => "truncated",
            Damage::Corrupt => "corrupt",
            Damage::Trailing => "trailing",
        }
    }
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<TextBlock>()?;
    m.add_class::<TextChunks>()?;
    m.add_function(wrap_pyfunction!(read_chunk, m)?)
}
