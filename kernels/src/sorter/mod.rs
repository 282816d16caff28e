//! Sort the decoded chunks of a trace into its tables, each as one stream in time order, in bounded memory.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use pyo3::exceptions::{PyKeyError, PyOSError, PyValueError};
use pyo3::prelude::*;

use crate::exchange::{InputBatch, OutputStream};
use crate::sweeps::{Cancel, Token};
use column::{Kind, Scratch};
use file::TempFile;
use merge::Merged;
use output::{DeclaredColumn, Output};
use table::Table;

mod all_events;
mod checksum;
mod column;
mod file;
mod ints;
mod merge;
mod order;
mod output;
mod table;
mod texts;

pub use checksum::checksums;

const LIMIT: usize = 48 << 20;
/// The divisor of the limit that gives the memory for kept blocks.
const KEPT_DIVISOR: usize = 2;
/// Approximate memory of an open run; the limit divided by it gives the maximum number of open runs.
const RUN_BYTES: usize = 256 << 10;

/// The maximum number of open runs within a limit.
fn most_runs(limit: usize) -> usize {
    (limit / RUN_BYTES).clamp(4, 512)
}

#[derive(Default)]
struct State {
    tables: Vec<Option<Table>>,
    names: HashMap<String, usize>,
    /// Bytes of waiting rows, and of dictionaries.
    memory: usize,
    dictionaries: usize,
    peak: usize,
    spilled: bool,
    scratch: Scratch,
}

/// Collects rows of many tables from many chunks, and returns each table sorted by `_ts`.
///
/// Rows beyond the limit are packed as blocks; blocks beyond it go to one file without a name in the folder.
#[pyclass(frozen, module = "dctv._kernels")]
struct EventSorter {
    state: Mutex<State>,
    spill: Arc<TempFile>,
    limit: usize,
    token: Token,
}

/// Turns an error into a Python exception: errors of the system into OSError.
pub fn to_python(error: ArrowError) -> PyErr {
    match error {
        ArrowError::IoError(text, source) => match source.raw_os_error() {
            Some(number) => PyOSError::new_err((number, text)),
            None => PyOSError::new_err(text),
        },
        ArrowError::InvalidArgumentError(text) => PyValueError::new_err(text),
        other => PyValueError::new_err(other.to_string()),
    }
}

fn kind(name: &str) -> PyResult<Kind> {
    Ok(match name {
        "int64" => Kind::Int,
        "uint64" => Kind::Uint,
        "double" => Kind::Float,
        "bool" => Kind::Bool,
        "string" => Kind::Text,
        other => {
            return Err(PyValueError::new_err(format!("no column is of type `{other}`")));
        }
    })
}

/// The specification of a column: its name, its type, its name in chunks, and the offsets added to it.
type ColumnSpec = (String, String, String, Vec<i64>);

fn declared_columns(columns: Vec<ColumnSpec>) -> PyResult<Vec<DeclaredColumn>> {
    let each = columns
        .into_iter()
        .map(|(name, shape, source, added)| Ok(DeclaredColumn { name, kind: kind(&shape)?, source, added }));
    each.collect()
}

impl State {
    fn add(
        &mut self,
        sorter: &EventSorter,
        file: u32,
        name: String,
        batch: &RecordBatch,
        sorted: bool,
    ) -> Result<(), ArrowError> {
        let place = match self.names.get(&name) {
            Some(place) => *place,
            None => {
                self.names.insert(name.clone(), self.tables.len());
                self.tables.push(Some(Table::new(name, sorted)));
                self.tables.len() - 1
            }
        };
        let Some(table) = self.tables.get_mut(place).and_then(Option::as_mut) else {
            return Err(crate::sweeps::fail("rows of a table came after it was taken"));
        };
        if table.sorted != sorted {
            let name = &table.name;
            return Err(crate::sweeps::fail(format!("`{name}` is of events and not of events")));
        }
        self.memory -= table.memory;
        self.dictionaries -= table.dictionaries;
        let short = self.dictionaries > sorter.limit / 4;
        let added = table.add(file, batch, &sorter.spill, &mut self.scratch, short);
        self.memory += table.memory;
        self.dictionaries += table.dictionaries;
        let held = self.memory + self.dictionaries + sorter.spill.kept();
        self.peak = self.peak.max(held);
        added?;
        if self.memory > (sorter.limit.saturating_sub(self.dictionaries)).max(sorter.limit / 4) {
            self.write(sorter)?;
        }
        Ok(())
    }

    /// Write all waiting rows.
    fn write(&mut self, sorter: &EventSorter) -> Result<(), ArrowError> {
        for table in self.tables.iter_mut().flatten() {
            self.memory -= table.memory;
            table.write(&sorter.spill, &mut self.scratch)?;
        }
        self.spilled = true;
        Ok(())
    }
}

impl EventSorter {
    fn open(folder: PathBuf, limit: usize, token: Token) -> Self {
        let spill = Arc::new(TempFile::new(folder, limit / KEPT_DIVISOR));
        Self { state: Mutex::default(), spill, limit, token }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Write the rest of the rows, if some are in blocks; no rows follow.
    fn end(&self) -> Result<(), ArrowError> {
        let mut state = self.state();
        if state.spilled {
            state.write(self)?;
        }
        self.spill.flush()
    }

    /// Remove a table.
    fn take(&self, name: &str) -> Option<Table> {
        let mut state = self.state();
        let place = state.names.get(name).copied()?;
        let table = state.tables.get_mut(place)?.take()?;
        state.memory -= table.memory;
        state.dictionaries -= table.dictionaries;
        Some(table)
    }

    /// Start the output of a table that was removed.
    fn merge(&self, mut table: Table, wanted: Option<&[DeclaredColumn]>) -> Result<Merged, ArrowError> {
        let output = Output::new(&mut table, wanted);
        Merged::new(table, output, self.spill.clone(), most_runs(self.limit), self.token.clone())
    }

    fn add_all(&self, py: Python<'_>, file: u32, tables: Vec<(String, InputBatch)>, sorted: bool) -> PyResult<()> {
        py.detach(|| {
            let mut state = self.state();
            tables.into_iter().try_for_each(|(name, batch)| {
                self.token.check()?;
                state.add(self, file, name, &batch.0, sorted)
            })
        })
        .map_err(to_python)
    }
}

#[pymethods]
impl EventSorter {
    #[new]
    #[pyo3(signature = (folder, limit_bytes=LIMIT, *, cancel=None))]
    fn new(folder: PathBuf, limit_bytes: usize, cancel: Option<PyRef<'_, Cancel>>) -> Self {
        Self::open(folder, limit_bytes, Token::new(cancel))
    }

    /// Add the events of a chunk: the name of each table and a batch, with `_ts` as int64 without nulls.
    fn add(&self, py: Python<'_>, file: u32, events: Vec<(String, InputBatch)>) -> PyResult<()> {
        self.add_all(py, file, events, true)
    }

    /// Add rows of tables that are not events; they stay in order of arrival.
    fn add_others(&self, py: Python<'_>, file: u32, others: Vec<(String, InputBatch)>) -> PyResult<()> {
        self.add_all(py, file, others, false)
    }

    /// Declare that no rows follow: if some are in blocks, the rest is written too.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.end()).map_err(to_python)
    }

    /// Return the name of each table, its number of rows, and whether they are events, in order of arrival.
    fn tables(&self) -> Vec<(String, u64, bool)> {
        let state = self.state();
        let tables = state.tables.iter().flatten();
        tables.map(|table| (table.name.clone(), table.rows, table.sorted)).collect()
    }

    /// Remove and return a table, after `finish`: its rows by time, equal times in order of arrival.
    ///
    /// `columns` are those described by metadata: name, type (`int64`, `uint64`, `double`, `bool`, `string`), the name
    /// in chunks, and the offsets added to integers: none, one number, or one for each file. Then these are the only
    /// output columns, and a table without rows is empty. Without `columns` the number of each row's file follows its
    /// columns.
    #[pyo3(signature = (table, columns=None))]
    fn merged(&self, py: Python<'_>, table: &str, columns: Option<Vec<ColumnSpec>>) -> PyResult<OutputStream> {
        let wanted = columns.map(declared_columns).transpose()?;
        let taken = match self.take(table) {
            Some(taken) => taken,
            None if wanted.is_some() => Table::new(table.to_owned(), true),
            None => return Err(PyKeyError::new_err(table.to_owned())),
        };
        let merged = py.detach(|| self.merge(taken, wanted.as_deref())).map_err(to_python)?;
        Ok(OutputStream::new(Box::new(merged)))
    }

    /// Release everything.
    fn close(&self) {
        let mut state = self.state();
        state.tables.clear();
        state.names.clear();
        (state.memory, state.dictionaries) = (0, 0);
    }

    /// Maximum bytes held in memory.
    #[getter]
    fn peak(&self) -> usize {
        self.state().peak
    }

    /// Bytes written to disk.
    #[getter]
    fn spilled(&self) -> u64 {
        self.spill.bytes()
    }
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<EventSorter>()?;
    m.add_class::<all_events::EventMerger>()?;
    m.add_function(wrap_pyfunction!(checksum::settle_files, m)?)?;
    m.add_function(wrap_pyfunction!(checksum::crc32, m)?)?;
    m.add_function(wrap_pyfunction!(checksum::file_checksums, m)?)
}
