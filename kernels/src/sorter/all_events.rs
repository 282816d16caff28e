//! Tables that pass through, each in order of time -> a few columns of all their rows, in order of time.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::{ArrayRef, DictionaryArray, Int32Array, RecordBatch, RecordBatchReader, StringArray};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatchReader;

use super::column::{Kind, Scratch};
use super::file::TempFile;
use super::merge::Merged;
use super::output::{DeclaredColumn, Output};
use super::table::{TS, Table};
use super::{KEPT_DIVISOR, LIMIT, most_runs, to_python};
use crate::sweeps::Token;

/// The columns of all events, besides constant ones.
const COLUMNS: [(&str, Kind); 6] = [
    (TS, Kind::Int),
    ("_duration", Kind::Int),
    ("name", Kind::Text),
    ("category", Kind::Text),
    ("pid", Kind::Int),
    ("tid", Kind::Int),
];

struct State {
    table: Table,
    scratch: Scratch,
}

struct Shared {
    state: Mutex<State>,
    spill: Arc<TempFile>,
    limit: usize,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, batch: &RecordBatch) -> Result<(), ArrowError> {
        let mut state = self.state();
        let State { table, scratch } = &mut *state;
        let short = table.dictionaries > self.limit / 4;
        table.add(0, batch, &self.spill, scratch, short)?;
        if table.memory + table.dictionaries > self.limit {
            table.write(&self.spill, scratch)?;
        }
        Ok(())
    }
}

/// The origin of a column of all events in the rows of one table.
enum From {
    Column(usize),
    Constant(String),
}

/// Passes batches on, and keeps the columns for all events.
struct Through {
    rows: Box<dyn RecordBatchReader + Send>,
    kept: Vec<(&'static str, From)>,
    shared: Arc<Shared>,
}

/// A column of one text.
fn constant(text: &str, rows: usize) -> Result<ArrayRef, ArrowError> {
    let keys = Int32Array::from_value(0, rows);
    let values = Arc::new(StringArray::from_iter_values([text]));
    Ok(Arc::new(DictionaryArray::try_new(keys, values)?))
}

impl Through {
    fn keep(&self, batch: &RecordBatch) -> Result<(), ArrowError> {
        let mut fields = Vec::with_capacity(self.kept.len());
        let mut arrays = Vec::with_capacity(self.kept.len());
        for (name, from) in &self.kept {
            let array = match from {
                From::Column(place) => batch.column(*place).clone(),
                From::Constant(text) => constant(text, batch.num_rows())?,
            };
            fields.push(Field::new(*name, array.data_type().clone(), true));
            arrays.push(array);
        }
        let schema = Arc::new(Schema::new(fields));
        self.shared.add(&RecordBatch::try_new(schema, arrays)?)
    }
}

impl Iterator for Through {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = match self.rows.next() {
            Some(Ok(batch)) => batch,
            Some(Err(error)) => return Some(Err(error)),
            None => return None,
        };
        Some(self.keep(&batch).map(|()| batch))
    }
}

impl RecordBatchReader for Through {
    fn schema(&self) -> SchemaRef {
        self.rows.schema()
    }
}

/// Collects times, durations, names and places of all events while their tables pass through.
#[pyclass(frozen, module = "dctv._kernels")]
pub struct EventMerger {
    shared: Arc<Shared>,
}

#[pymethods]
impl EventMerger {
    #[new]
    #[pyo3(signature = (folder, limit_bytes=LIMIT))]
    fn new(folder: PathBuf, limit_bytes: usize) -> Self {
        Self {
            shared: Arc::new(Shared {
                state: Mutex::new(State { table: Table::new("events".to_owned(), true), scratch: Scratch::default() }),
                spill: Arc::new(TempFile::new(folder, limit_bytes / KEPT_DIVISOR)),
                limit: limit_bytes,
            }),
        }
    }

    /// A table sorted by `_ts` -> the same rows, recorded as they pass, after those of earlier tables.
    ///
    /// `columns` gives the source columns of `_ts`, `_duration`, `name`, `category`, `pid` and `tid`; without one for
    /// `name` all events are called `name`.
    fn through(
        &self,
        table: PyRecordBatchReader,
        name: String,
        columns: Vec<(String, String)>,
    ) -> PyResult<PyRecordBatchReader> {
        let rows = table.into_reader()?;
        let schema = rows.schema();
        let mut kept = Vec::with_capacity(COLUMNS.len());
        for (target, _) in COLUMNS {
            match columns.iter().find(|(wanted, _)| wanted == target) {
                Some((_, source)) => {
                    let place = schema.index_of(source).map_err(to_python)?;
                    kept.push((target, From::Column(place)));
                }
                None if target == "name" => kept.push((target, From::Constant(name.clone()))),
                None => (),
            }
        }
        let shared = self.shared.clone();
        Ok(PyRecordBatchReader::new(Box::new(Through { rows, kept, shared })))
    }

    /// Remove and return all rows: in order of time, then of tables, then of rows.
    fn merged(&self, py: Python<'_>) -> PyResult<PyRecordBatchReader> {
        let merged = py.detach(|| {
            let mut state = self.shared.state();
            let empty = Table::new("events".to_owned(), true);
            let mut table = std::mem::replace(&mut state.table, empty);
            if !table.runs.is_empty() {
                table.write(&self.shared.spill, &mut state.scratch)?;
            }
            drop(state);
            self.shared.spill.flush()?;
            let wanted = COLUMNS.map(|(name, kind)| DeclaredColumn::plain(name, kind));
            let output = Output::new(&mut table, Some(&wanted));
            let most = most_runs(self.shared.limit);
            let spill = self.shared.spill.clone();
            Merged::new(table, output, spill, most, Token::default())
        });
        Ok(PyRecordBatchReader::new(Box::new(merged.map_err(to_python)?)))
    }
}
