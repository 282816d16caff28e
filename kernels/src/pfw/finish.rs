//! Decoded rows of many chunks -> the columns of the whole load; and single chunks -> its tables.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt32Type};
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, RecordBatchOptions, UInt32Array, new_null_array};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;

use super::decode::Expectations;
use super::decode::HashKind;
use super::facts::{ColumnFacts, EventFacts, Facts};
use super::hashes::{Book, Told};
use super::metadata::finish_metadata;
use super::names::{FILE, raw_key};
use super::report::Report;
use super::select::{Selected, select};
use super::tables::{Context, Origin, Timed};
use super::trace::FinishedTable;
use super::{table_of, tell, wait};
use crate::access::Checkpoint;
use crate::columns::Kind;

const METADATA: &str = "metadata";

/// Facts of a trace and what its files say of hashes (file, dimension, hash, text) -> finished tables of some rows.
#[pyclass(frozen)]
pub struct PfwFinisher {
    facts: Facts,
    context: Context,
    expectations: Arc<Expectations>,
}

/// Tables of events by name, and that of metadata.
type Tables = (Vec<(String, Py<PyAny>)>, Py<PyAny>);
/// A final column: its name, type, the decoded column it is from, and how: `column`, `texts` of its hashes, or `both`.
type ColumnRow = (String, &'static str, String, &'static str);

#[pymethods]
impl PfwFinisher {
    #[new]
    fn new(py: Python<'_>, facts: Facts, hashes: Vec<(usize, String, String, String)>) -> PfwFinisher {
        py.detach(|| {
            let told = hashes.iter().filter_map(|(file, dimension, hash, text)| {
                Some(Told {
                    file: *file,
                    kind: HashKind::of_dimension(dimension)?,
                    hash: hash.as_bytes(),
                    text: text.as_bytes(),
                })
            });
            let book = Book::new(told, &mut Report::default());
            PfwFinisher {
                context: Context { factors: facts.factors(), book },
                expectations: Arc::new(facts.expectations()),
                facts,
            }
        })
    }

    /// Decoded rows of an event (or of `metadata`) with `dctv:file` as last column -> the rows as the whole load has them.
    ///
    /// Columns may be in any order; missing ones are null, narrower ones are cast. None gives no rows.
    #[pyo3(signature = (name, batch=None))]
    fn finish(&self, py: Python<'_>, name: &str, batch: Option<PyRecordBatch>) -> PyResult<Py<PyAny>> {
        let rows = match batch {
            Some(batch) => batch.into_inner(),
            None => RecordBatch::new_empty(Arc::new(Schema::empty())),
        };
        let finished = py
            .detach(|| match name {
                METADATA => self.metadata(&rows),
                _ => self.event(name, &rows).and_then(|timed| batch_of(timed, self.facts.start_ns)),
            })
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(PyRecordBatch::new(finished).into_pyarrow(py)?.unbind())
    }

    /// The final columns of an event or of `metadata`: name, type of values, the decoded column they are from, and how.
    fn columns(&self, name: &str) -> PyResult<Vec<ColumnRow>> {
        let rows = RecordBatch::new_empty(Arc::new(Schema::empty()));
        let rows = match name {
            METADATA => self.metadata(&rows).map(|batch| plain_columns(&batch)),
            _ => self.event(name, &rows).map(|timed| self.event_columns(name, timed)),
        };
        rows.map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Chunks of the trace -> name and table of each event, and the table of metadata, as the whole load has them.
    ///
    /// `progress(done, total)` is called with bytes of files; what it raises ends the decoding.
    #[pyo3(signature = (paths, checkpoints, threads=1, progress=None))]
    fn decode(
        &self,
        py: Python<'_>,
        paths: Vec<String>,
        checkpoints: Vec<Bound<'_, PyAny>>,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Tables> {
        let checkpoints = checkpoints.iter().map(Checkpoint::from_python).collect::<PyResult<Vec<_>>>()?;
        let job = Selected {
            paths: &paths,
            checkpoints: &checkpoints,
            threads,
            facts: &self.facts,
            context: &self.context,
            expectations: &self.expectations,
            done: Arc::default(),
            cancelled: AtomicBool::new(false),
        };
        let selected = watched(py, &job, progress.as_ref())?;
        let mut events = Vec::with_capacity(selected.0.len());
        for (name, schema, batches) in selected.0 {
            events.push((name, table_of(py, batches, schema)?));
        }
        let schema = selected.1.first().map_or_else(|| Arc::new(Schema::empty()), RecordBatch::schema);
        Ok((events, table_of(py, selected.1, schema)?))
    }
}

/// Decode on another thread, and tell of progress from this one.
fn watched(
    py: Python<'_>,
    job: &Selected,
    progress: Option<&Py<PyAny>>,
) -> PyResult<(Vec<FinishedTable>, Vec<RecordBatch>)> {
    let total: u64 = job.checkpoints.iter().map(|place| place.c_size).sum();
    let (sender, receiver) = channel();
    let receiver = Mutex::new(receiver);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // The receiver only goes away when the call was interrupted.
            let _ = sender.send(select(job));
        });
        loop {
            let done = job.done.load(Ordering::Relaxed).min(total);
            if let Err(error) = tell(py, (done, total), progress) {
                job.cancelled.store(true, Ordering::Relaxed);
                return Err(error);
            }
            match py.detach(|| wait(&receiver)) {
                Ok(selected) => {
                    return selected.map_err(|error| PyValueError::new_err(error.to_string()));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PyValueError::new_err("the decoder ended unexpectedly"));
                }
                Err(RecvTimeoutError::Timeout) => (),
            }
        }
    })
}

impl PfwFinisher {
    fn found(&self, name: &str) -> Option<&EventFacts> {
        self.facts.events.iter().find(|event| event.name == name)
    }

    fn event_columns(&self, name: &str, timed: Timed) -> Vec<ColumnRow> {
        let decoded = self.found(name).map_or(&[][..], |event| &event.columns);
        let decoded = |index: usize| decoded.get(index).map_or("", |column| &column.name);
        let row = |column: super::tables::Column| {
            let (from, how) = match column.origin {
                Origin::Column(index) => (decoded(index), "column"),
                Origin::Texts(index) => (decoded(index), "texts"),
                Origin::Both => ("", "both"),
            };
            let kind = column.arrays.first().map_or("string", type_name);
            (column.name, kind, from.to_owned(), how)
        };
        timed.columns.into_iter().map(row).collect()
    }

    fn metadata(&self, rows: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let columns = &self.facts.metadata;
        let decoded = decoded(columns, rows)?;
        let empty: Vec<bool> = columns.iter().map(|column| column.empty).collect();
        let mut finished = finish_metadata(&[decoded], Some(&empty))?;
        finished.pop().ok_or_else(|| unknown(METADATA))
    }

    fn event(&self, name: &str, rows: &RecordBatch) -> Result<Timed, ArrowError> {
        let event = self.found(name).ok_or_else(|| unknown(name))?;
        let shape = event.shape();
        let mut timed = Timed::new(name.to_owned(), &[decoded(&event.columns, rows)?]);
        timed.name_columns(Some(&shape));
        timed.resolve_hashes(&[runs(rows)?], &self.context.book, Some(&shape))?;
        Ok(timed)
    }
}

fn plain_columns(batch: &RecordBatch) -> Vec<ColumnRow> {
    let schema = batch.schema();
    let columns = schema.fields().iter().zip(batch.columns());
    columns.map(|(field, array)| (field.name().clone(), type_name(array), String::new(), "column")).collect()
}

fn type_name(array: &ArrayRef) -> &'static str {
    match array.data_type() {
        DataType::Int64 => "int64",
        DataType::UInt64 => "uint64",
        DataType::Float64 => "double",
        DataType::Boolean => "bool",
        _ => "string",
    }
}

fn unknown(name: &str) -> ArrowError {
    ArrowError::InvalidArgumentError(format!("the trace has no table {name}"))
}

/// The columns in the order of the whole load, in their final types, called as their keys are.
fn decoded(columns: &[ColumnFacts], rows: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let mut fields = Vec::with_capacity(columns.len());
    let mut arrays = Vec::with_capacity(columns.len());
    for column in columns {
        let array = converted(column.kind(), rows.column_by_name(&column.name), rows.num_rows())?;
        let name = String::from_utf8_lossy(&raw_key(&column.name)).into_owned();
        fields.push(Field::new(name, array.data_type().clone(), true));
        arrays.push(array);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
}

fn converted(kind: Kind, array: Option<&ArrayRef>, rows: usize) -> Result<ArrayRef, ArrowError> {
    let wanted = match kind {
        Kind::Int => DataType::Int64,
        Kind::Uint => DataType::UInt64,
        Kind::Float => DataType::Float64,
        Kind::Bool => DataType::Boolean,
        Kind::Empty | Kind::Text => DataType::Utf8,
    };
    let Some(array) = array else {
        return Ok(new_null_array(&wanted, rows));
    };
    let coded = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    if *array.data_type() == wanted || (wanted == DataType::Utf8 && *array.data_type() == coded) {
        return Ok(Arc::clone(array));
    }
    cast(array, &wanted)
}

/// From which row on the rows are of which file.
fn runs(rows: &RecordBatch) -> Result<Vec<(usize, usize)>, ArrowError> {
    let Some(array) = rows.column_by_name(FILE) else {
        return Ok(vec![(0, 0)]);
    };
    let array = cast(array, &DataType::UInt32)?;
    let files: &UInt32Array = array.as_primitive::<UInt32Type>();
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (row, file) in files.values().iter().enumerate() {
        if runs.last().is_none_or(|(_, last)| *last != *file as usize) {
            runs.push((row, *file as usize));
        }
    }
    Ok(runs)
}

fn batch_of(timed: Timed, start: i64) -> Result<RecordBatch, ArrowError> {
    let rows = timed.rows.first().copied().unwrap_or_default();
    let mut fields = Vec::with_capacity(timed.columns.len());
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(timed.columns.len());
    for (index, column) in timed.columns.into_iter().enumerate() {
        let mut array = column.arrays.into_iter().next().unwrap_or_else(|| new_null_array(&DataType::Utf8, rows));
        if index == 0 {
            let times = array.as_primitive::<Int64Type>().values();
            let since = times.iter().map(|time| time.saturating_sub(start));
            array = Arc::new(Int64Array::from_iter_values(since));
        }
        fields.push(Field::new(column.name, array.data_type().clone(), index > 0));
        arrays.push(array);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
}
