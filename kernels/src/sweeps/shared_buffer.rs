//! `SharedBuffer`: compute an Arrow stream once for any number of readers, each at its own place.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;

use super::ahead;
use super::cancel::{Cancel, Token};
use super::failure::{fail, to_python, upstream};
use super::meter::bytes;
use super::opening::Opening;
use super::spill::{Place, Spill};
use crate::exchange::{InputStream, OutputStream, Reader};

/// The source of the batches; only the holder of its lock may pull.
enum Origin {
    Starting,
    Open(Reader),
    Ended,
}

const BRIEFLY: Duration = Duration::from_millis(1);

/// The place of a batch.
enum BatchPlace {
    Memory(RecordBatch),
    Disk(Place),
    /// All readers have read it.
    Gone,
}

/// The batches read so far.
#[derive(Default)]
struct Store {
    kept: Vec<BatchPlace>,
    end: Option<Result<(), String>>,
    /// Batches before this one are gone.
    gone: usize,
    /// Readers that have been announced but not opened.
    expected: usize,
    /// The next batch of each reader, or None once it was dropped.
    readers: Vec<Option<usize>>,
    memory: i64,
    peak: i64,
    rows: u64,
}

impl Store {
    /// Drops batches that all readers have read.
    fn forget(&mut self) {
        if self.expected > 0 {
            return;
        }
        let first = self.readers.iter().flatten().min().copied();
        let first = first.unwrap_or(self.kept.len()).min(self.kept.len());
        for kept in &mut self.kept[self.gone.min(first)..first] {
            if let BatchPlace::Memory(batch) = kept {
                self.memory -= bytes(batch.columns());
            }
            *kept = BatchPlace::Gone;
        }
        self.gone = self.gone.max(first);
    }
}

struct Shared {
    schema: SchemaRef,
    origin: Mutex<Origin>,
    store: Mutex<Store>,
    spill: Spill,
    limit: i64,
    token: Token,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The state of a reader's next batch.
enum Found {
    Batch(RecordBatch),
    OnDisk(Place),
    End(Result<(), String>),
    NotYet,
}

impl Shared {
    /// Return the number of a new reader; None if batches that it needs are gone.
    fn announce(&self) -> Option<usize> {
        let mut store = locked(&self.store);
        if store.gone > 0 {
            return None;
        }
        store.expected = store.expected.saturating_sub(1);
        store.readers.push(Some(0));
        Some(store.readers.len() - 1)
    }

    fn look(&self, reader: usize) -> Found {
        let mut store = locked(&self.store);
        let Some(place) = store.readers.get(reader).copied().flatten() else {
            return Found::End(Ok(()));
        };
        let found = match (store.kept.get(place), &store.end) {
            (Some(BatchPlace::Memory(batch)), _) => Found::Batch(batch.clone()),
            (Some(BatchPlace::Disk(place)), _) => Found::OnDisk(*place),
            (Some(BatchPlace::Gone), _) => Found::End(Err("a shared batch was dropped too soon".into())),
            (None, Some(end)) => Found::End(end.clone()),
            (None, None) => return Found::NotYet,
        };
        if !matches!(found, Found::End(_)) {
            store.readers[reader] = Some(place + 1);
            store.forget();
        }
        found
    }

    /// Read one more batch of the source, unless another reader did so while this one waited for the lock.
    fn advance(&self, reader: usize) {
        let mut origin = locked(&self.origin);
        if !self.needs_more(reader) {
            return;
        }
        if let Origin::Starting = *origin {
            // The first reader's thread has just announced it and will take the lock.
            drop(origin);
            thread::sleep(BRIEFLY);
            return;
        }
        let pulled = self.pull(&mut origin);
        let end = match pulled {
            Ok(Some(batch)) => self.keep(batch).err().map(|error| Err(text(&error))),
            Ok(None) => Some(Ok(())),
            Err(error) => Some(Err(text(&error))),
        };
        if end.is_some() {
            *origin = Origin::Ended;
            locked(&self.store).end = end;
        }
    }

    fn needs_more(&self, reader: usize) -> bool {
        let store = locked(&self.store);
        let place = store.readers.get(reader).copied().flatten();
        store.end.is_none() && place.is_some_and(|place| place >= store.kept.len())
    }

    fn pull(&self, origin: &mut Origin) -> Result<Option<RecordBatch>, ArrowError> {
        self.token.check()?;
        match origin {
            Origin::Open(reader) => reader.next().transpose(),
            _ => Ok(None),
        }
    }

    fn keep(&self, batch: RecordBatch) -> Result<(), ArrowError> {
        let size = bytes(batch.columns());
        let rows = batch.num_rows() as u64;
        let full = locked(&self.store).memory.saturating_add(size) > self.limit;
        // Written without the store's lock: other readers continue meanwhile.
        let kept = if full { BatchPlace::Disk(self.spill.write(&batch)?) } else { BatchPlace::Memory(batch) };
        let mut store = locked(&self.store);
        if !full {
            store.memory += size;
            store.peak = store.peak.max(store.memory);
        }
        store.rows += rows;
        store.kept.push(kept);
        Ok(())
    }
}

fn text(error: &ArrowError) -> String {
    upstream(error).to_string().trim_start_matches("Invalid argument error: ").to_owned()
}

struct Follower {
    shared: Arc<Shared>,
    number: usize,
    done: bool,
}

impl Follower {
    fn step(&self) -> Result<Option<RecordBatch>, ArrowError> {
        loop {
            self.shared.token.check()?;
            match self.shared.look(self.number) {
                Found::Batch(batch) => return Ok(Some(batch)),
                Found::OnDisk(place) => return self.shared.spill.read(place).map(Some),
                Found::End(end) => return end.map(|()| None).map_err(fail),
                Found::NotYet => self.shared.advance(self.number),
            }
        }
    }
}

impl Iterator for Follower {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let step = self.step();
        self.done = !matches!(step, Ok(Some(_)));
        step.transpose()
    }
}

impl RecordBatchReader for Follower {
    fn schema(&self) -> SchemaRef {
        self.shared.schema.clone()
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let mut store = locked(&self.shared.store);
        if let Some(place) = store.readers.get_mut(self.number) {
            *place = None;
        }
        store.forget();
    }
}

/// A stream that is computed once and read several times, kept in memory up to a limit and on disk beyond it.
#[pyclass(frozen, module = "dctv._kernels")]
pub struct SharedBuffer {
    /// Not in `shared`, which is dropped by threads that may not hold Python's lock.
    source: Mutex<Option<Py<PyAny>>>,
    shared: Arc<Shared>,
    /// Whether a thread of its own reads the source.
    ahead: bool,
}

impl SharedBuffer {
    fn start(&self, py: Python<'_>) -> PyResult<Reader> {
        let source = locked(&self.source).as_ref().map(|source| source.clone_ref(py));
        let source = source.ok_or_else(|| to_python(fail("interrupted")))?;
        if !self.ahead {
            return Ok(source.bind(py).extract::<InputStream>()?.into_reader());
        }
        let opening = Opening::new(source.bind(py))?;
        ahead::start(opening, self.shared.token.clone()).map_err(to_python)
    }

    fn begin(&self, py: Python<'_>) -> PyResult<()> {
        let (begun, result) = match self.start(py) {
            Ok(reader) => (Origin::Open(reader), Ok(())),
            Err(error) => {
                locked(&self.shared.store).end = Some(Err(error.value(py).to_string()));
                (Origin::Ended, Err(error))
            }
        };
        py.detach(|| *locked(&self.shared.origin) = begun);
        result
    }
}

#[pymethods]
impl SharedBuffer {
    #[new]
    #[pyo3(signature = (source, *, readers, limit, folder, cancel=None, ahead=true))]
    fn new(
        source: Bound<'_, PyAny>,
        readers: usize,
        limit: i64,
        folder: PathBuf,
        cancel: Option<PyRef<'_, Cancel>>,
        ahead: bool,
    ) -> PyResult<Self> {
        let store = Store { expected: readers, ..Store::default() };
        Ok(Self {
            shared: Arc::new(Shared {
                schema: Opening::new(&source)?.schema(),
                origin: Mutex::new(Origin::Starting),
                store: Mutex::new(store),
                spill: Spill::new(folder),
                limit,
                token: Token::new(cancel),
            }),
            source: Mutex::new(Some(source.unbind())),
            ahead,
        })
    }

    /// Open one more reader, at the first batch.
    fn open(&self, py: Python<'_>) -> PyResult<OutputStream> {
        let Some(number) = py.detach(|| self.shared.announce()) else {
            // More readers than expected: batches that are gone have to be computed again for this one.
            return Ok(OutputStream::new(self.start(py)?));
        };
        if number == 0 {
            self.begin(py)?;
        }
        Ok(OutputStream::new(Box::new(Follower { shared: self.shared.clone(), number, done: false })))
    }

    /// Release the source; no reader can be opened any more.
    fn close(&self) {
        let source = locked(&self.source).take();
        drop(source);
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self.source.try_lock() {
            Ok(source) => source.as_ref().map_or(Ok(()), |source| visit.call(source)),
            Err(_) => Ok(()),
        }
    }

    fn __clear__(&self) {
        self.close();
    }

    /// Maximum number of bytes kept in memory.
    #[getter]
    fn peak(&self) -> i64 {
        locked(&self.shared.store).peak
    }

    /// Bytes written to disk.
    #[getter]
    fn spilled(&self) -> u64 {
        self.shared.spill.bytes()
    }

    /// Rows kept.
    #[getter]
    fn rows(&self) -> u64 {
        locked(&self.shared.store).rows
    }
}
