//! Merge a few columns of all rows of tables that pass through, each in time order, into one stream in time order.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{ArrayRef, DictionaryArray, Int32Array, RecordBatch, RecordBatchReader, StringArray};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use pyo3::prelude::*;

use super::column::Kind;
use super::output::DeclaredColumn;
use super::table::{TS, Table};
use super::{EventSorter, LIMIT, to_python};
use crate::exchange::{InputStream, OutputStream};
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

/// The table in the sorter.
const EVENTS: &str = "events";

/// The origin of a column of all events in the rows of one table.
enum From {
    Column(usize),
    Constant(String),
}

/// Passes batches on, and keeps the columns for all events.
struct Through {
    rows: Box<dyn RecordBatchReader + Send>,
    kept: Vec<(&'static str, From)>,
    sorter: Arc<EventSorter>,
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
        let batch = RecordBatch::try_new(schema, arrays)?;
        self.sorter.state().add(&self.sorter, 0, EVENTS.to_owned(), &batch, true)
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
    sorter: Arc<EventSorter>,
}

#[pymethods]
impl EventMerger {
    #[new]
    #[pyo3(signature = (folder, limit_bytes=LIMIT))]
    fn new(folder: PathBuf, limit_bytes: usize) -> Self {
        Self { sorter: Arc::new(EventSorter::open(folder, limit_bytes, Token::default())) }
    }

    /// Pass on the rows of a table sorted by `_ts`, and record them, as they pass, after those of earlier tables.
    ///
    /// `columns` gives the source columns of `_ts`, `_duration`, `name`, `category`, `pid` and `tid`; without one for
    /// `name` all events are called `name`.
    fn through(&self, table: InputStream, name: String, columns: Vec<(String, String)>) -> PyResult<OutputStream> {
        let rows = table.into_reader();
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
        let sorter = self.sorter.clone();
        Ok(OutputStream::new(Box::new(Through { rows, kept, sorter })))
    }

    /// Remove and return all rows: in order of time, then of tables, then of rows.
    fn merged(&self, py: Python<'_>) -> PyResult<OutputStream> {
        let wanted = COLUMNS.map(|(name, kind)| DeclaredColumn::plain(name, kind));
        let merged = py.detach(|| {
            self.sorter.end()?;
            let table = self.sorter.take(EVENTS).unwrap_or_else(|| Table::new(EVENTS.to_owned(), true));
            self.sorter.merge(table, Some(&wanted))
        });
        Ok(OutputStream::new(Box::new(merged.map_err(to_python)?)))
    }
}
