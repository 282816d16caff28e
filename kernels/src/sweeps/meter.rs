//! `metered`: pass on an Arrow stream, and count its rows, time and memory in a `Meter`.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use cpu_time::ThreadTime;
use pyo3::prelude::*;

use crate::exchange::{InputStream, OutputStream, Reader};

#[derive(Default)]
struct Figures {
    rows: AtomicU64,
    batches: AtomicU64,
    cpu: AtomicU64,
    wall: AtomicU64,
    held: AtomicI64,
    peak: AtomicI64,
}

impl Figures {
    fn hold(&self, bytes: i64) {
        let now = self.held.fetch_add(bytes, Relaxed).saturating_add(bytes);
        self.peak.fetch_max(now, Relaxed);
    }
}

/// Counts of the streams that were given it.
#[pyclass(frozen, module = "dctv._kernels")]
#[derive(Default)]
pub struct Meter {
    figures: Arc<Figures>,
}

#[pymethods]
impl Meter {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Rows that came out.
    #[getter]
    fn rows(&self) -> u64 {
        self.figures.rows.load(Relaxed)
    }

    /// Batches that came out.
    #[getter]
    fn batches(&self) -> u64 {
        self.figures.batches.load(Relaxed)
    }

    /// Nanoseconds of CPU time, without those of metered streams that were pulled meanwhile.
    #[getter]
    fn cpu(&self) -> u64 {
        self.figures.cpu.load(Relaxed)
    }

    /// Nanoseconds that its reader waited.
    #[getter]
    fn wall(&self) -> u64 {
        self.figures.wall.load(Relaxed)
    }

    /// Bytes of rows that were held at once, at most.
    #[getter]
    fn peak(&self) -> i64 {
        self.figures.peak.load(Relaxed)
    }
}

/// A metered stream that is being pulled, and the CPU time of those pulled by it.
struct Running {
    figures: Arc<Figures>,
    inner: Duration,
}

thread_local! {
    static RUNNING: RefCell<Vec<Running>> = const { RefCell::new(Vec::new()) };
}

/// Adds to the bytes held by the stream being pulled, if it is metered; negative if bytes are released.
pub fn hold(bytes: i64) {
    RUNNING.with_borrow(|running| {
        if let Some(running) = running.last() {
            running.figures.hold(bytes);
        }
    });
}

/// The bytes of the rows in some columns; memory shared with others is counted for each.
pub fn bytes(columns: &[ArrayRef]) -> i64 {
    let sizes = columns.iter().map(|column| column.to_data().get_slice_memory_size().unwrap_or(0));
    i64::try_from(sizes.sum::<usize>()).unwrap_or(i64::MAX)
}

struct Metered {
    reader: Reader,
    figures: Arc<Figures>,
}

impl Iterator for Metered {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (cpu, wall) = (ThreadTime::now(), Instant::now());
        RUNNING
            .with_borrow_mut(|running| running.push(Running { figures: self.figures.clone(), inner: Duration::ZERO }));
        let item = self.reader.next();
        let spent = cpu.elapsed();
        let inner = RUNNING.with_borrow_mut(|running| {
            let inner = running.pop().map_or(Duration::ZERO, |running| running.inner);
            if let Some(outer) = running.last_mut() {
                outer.inner += spent;
            }
            inner
        });
        let figures = &self.figures;
        figures.cpu.fetch_add(nanoseconds(spent.saturating_sub(inner)), Relaxed);
        figures.wall.fetch_add(nanoseconds(wall.elapsed()), Relaxed);
        if let Some(Ok(batch)) = &item {
            figures.rows.fetch_add(batch.num_rows() as u64, Relaxed);
            figures.batches.fetch_add(1, Relaxed);
            let size = bytes(batch.columns());
            figures.hold(size);
            figures.hold(-size);
        }
        item
    }
}

impl RecordBatchReader for Metered {
    fn schema(&self) -> SchemaRef {
        self.reader.schema()
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[pyfunction]
pub fn metered(stream: InputStream, meter: PyRef<'_, Meter>) -> PyResult<OutputStream> {
    Ok(OutputStream::new(Box::new(Metered { reader: stream.into_reader(), figures: meter.figures.clone() })))
}
