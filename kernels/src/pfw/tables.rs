//! Convert decoded rows of events into their final columns: times in nanoseconds, hashes with their text.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, RecordBatch, new_null_array};
use arrow_schema::{ArrowError, DataType};
use arrow_select::filter::filter;
use rustc_hash::FxHashSet;

use super::decode::{EVENT_COLUMNS, HashKind, is_hash};
use super::hashes::{Book, Rows, resolution, resolve};

/// Names that are reserved for other columns than args.
const TAKEN: [&str; 12] = ["", "_ts", "_duration", "name", "cat", "pid", "tid", "id", "ph", "type", "dur", "args"];

/// Properties of the columns of a table that depend on all rows of the trace.
pub struct Shape {
    /// By decoded column: no row has a value.
    pub empty: Vec<bool>,
    /// By decoded column: some row has a hash with a known text.
    pub resolves: Vec<bool>,
}

/// The decoded source of the values of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lineage {
    Column(usize),
    /// Texts of the hashes in it.
    Texts(usize),
    /// Texts as written, and those of hashes where they are missing.
    Both,
}

/// Events of one file, times in the unit of the file.
#[derive(Clone, Copy)]
pub struct Extent {
    pub events: u64,
    pub min_ts: i64,
    pub max_ts: i64,
}

pub struct TableColumn {
    pub name: String,
    pub lineage: Lineage,
    pub array: ArrayRef,
}

/// Rows of one table.
pub struct Timed {
    pub columns: Vec<TableColumn>,
    /// The earliest time and the latest end, once times are scaled.
    pub range: Option<(i64, i64)>,
    pub extent: Option<Extent>,
    /// The number of events dropped because of unrepresentable times, and times and durations of the first.
    pub overflows: u64,
    pub overflow: (i64, i64),
}

struct HashColumn {
    /// Number among the decoded columns.
    index: usize,
    /// Whether the column of its texts is kept even if empty.
    wanted: bool,
    kinds: &'static [HashKind],
    text: String,
    array: ArrayRef,
}

impl Timed {
    /// A table of decoded columns.
    pub fn new(batch: &RecordBatch) -> Timed {
        let schema = batch.schema();
        let columns = schema.fields().iter().zip(batch.columns()).enumerate();
        let columns = columns.map(|(index, (field, array))| TableColumn {
            name: field.name().clone(),
            lineage: Lineage::Column(index),
            array: Arc::clone(array),
        });
        Timed { columns: columns.collect(), range: None, extent: None, overflows: 0, overflow: (0, 0) }
    }

    /// Rename args that have names of columns of the record, and drop columns of the record without values.
    pub fn name_columns(&mut self, shape: &Shape) {
        let fixed = EVENT_COLUMNS.len();
        for column in self.columns.iter_mut().skip(fixed) {
            if TAKEN.contains(&column.name.to_lowercase().as_str()) {
                column.name = format!("args_{}", column.name);
            }
        }
        let empty = |index: usize| index < fixed && shape.empty.get(index).copied().unwrap_or(false);
        for (index, column) in self.columns.iter_mut().enumerate() {
            if empty(index) && matches!(index, 0 | 1 | 3 | 4) {
                column.array = new_null_array(&DataType::Int64, column.array.len());
            }
        }
        let mut index = 0..;
        self.columns.retain(|column| {
            let place = index.next().unwrap_or_default();
            !(empty(place) && matches!(column.name.as_str(), "id" | "type"))
        });
    }

    /// Add the texts of hashes; `files` gives the file of each run of rows, by its first row.
    pub fn resolve_hashes(&mut self, files: &[(usize, usize)], book: &Book, shape: &Shape) -> Result<(), ArrowError> {
        for hashes in self.hash_columns() {
            let direct = self.columns.iter().position(|one| one.name == hashes.text && is_text(one.array.data_type()));
            let some = shape.resolves.get(hashes.index).copied().unwrap_or(false);
            if !hashes.wanted && !some {
                continue;
            }
            let direct_texts = direct.map(|place| &self.columns[place].array);
            let rows = Rows { files, array: &hashes.array, direct: direct_texts };
            if let Some(array) = resolve(&rows, hashes.kinds, book)? {
                self.put_texts(hashes, direct, array);
            }
        }
        unique_names(self.columns.iter_mut().map(|column| &mut column.name));
        Ok(())
    }

    /// The decoded columns of hashes.
    fn hash_columns(&self) -> Vec<HashColumn> {
        let hashes = |column: &TableColumn| {
            let (kinds, text) = resolution(&column.name).filter(|_| is_hash(column.name.as_bytes()))?;
            let Lineage::Column(index) = column.lineage else {
                return None;
            };
            Some(HashColumn { index, wanted: is_wanted(&column.name), kinds, text, array: Arc::clone(&column.array) })
        };
        self.columns.iter().filter_map(hashes).collect()
    }

    fn put_texts(&mut self, hashes: HashColumn, direct: Option<usize>, array: ArrayRef) {
        if let Some(column) = direct.and_then(|place| self.columns.get_mut(place)) {
            column.array = array;
            column.lineage = Lineage::Both;
            return;
        }
        let own = Lineage::Column(hashes.index);
        let place = self.columns.iter().position(|column| column.lineage == own);
        let column = TableColumn { name: hashes.text, lineage: Lineage::Texts(hashes.index), array };
        self.columns.insert(place.map_or(self.columns.len(), |place| place + 1), column);
    }

    /// Times and durations to nanoseconds, `factor` per unit; events with unrepresentable times are dropped.
    pub fn scale(&mut self, factor: i64) -> Result<(), ArrowError> {
        let [ts, dur] = [0, 1].map(|column| self.columns[column].array.as_primitive::<Int64Type>().clone());
        let mut times: Vec<i64> = Vec::with_capacity(ts.len());
        let mut lengths: Vec<i64> = Vec::with_capacity(ts.len());
        let mut dropped = Vec::new();
        for row in 0..ts.len() {
            let length = if dur.is_valid(row) { dur.value(row) } else { 0 };
            let scaled = self.row(factor, ts.value(row), length);
            if scaled.is_none() {
                dropped.push(row);
            }
            let (time, length) = scaled.unwrap_or_default();
            times.push(time);
            lengths.push(length);
        }
        self.columns[0].array = Arc::new(Int64Array::from(times));
        self.columns[1].array = Arc::new(Int64Array::try_new(lengths.into(), dur.nulls().cloned())?);
        if dropped.is_empty() {
            return Ok(());
        }
        let mut keep = vec![true; ts.len()];
        dropped.iter().for_each(|row| keep[*row] = false);
        let mask = BooleanArray::from(keep);
        for column in &mut self.columns {
            column.array = filter(&column.array, &mask)?;
        }
        Ok(())
    }

    /// Time and duration of an event in nanoseconds, added to the figures of its file.
    fn row(&mut self, factor: i64, ts: i64, dur: i64) -> Option<(i64, i64)> {
        let scaled = ts.checked_mul(factor).zip(dur.checked_mul(factor));
        let end = scaled.and_then(|(time, length)| time.checked_add(length));
        let (Some((time, length)), Some(end)) = (scaled, end) else {
            if self.overflows == 0 {
                self.overflow = (ts, dur);
            }
            self.overflows += 1;
            return None;
        };
        let (first, last) = self.range.unwrap_or((time, end));
        self.range = Some((first.min(time), last.max(end)));
        let extent = self.extent.get_or_insert(Extent { events: 0, min_ts: ts, max_ts: ts });
        extent.events += 1;
        extent.min_ts = extent.min_ts.min(ts);
        extent.max_ts = extent.max_ts.max(ts);
        Some((time, length))
    }
}

/// Whether a column of this type has texts.
pub fn is_text(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::Dictionary(..))
}

/// Whether hashes in this column must have a text.
pub fn is_wanted(column: &str) -> bool {
    matches!(column, "fhash" | "hhash")
}

/// Make names unique regardless of case, as SQL requires: later ones get a number.
pub fn unique_names<'a>(names: impl Iterator<Item = &'a mut String>) {
    let mut taken: FxHashSet<String> = FxHashSet::default();
    for column in names {
        let mut name = column.clone();
        let mut number = 2;
        while !taken.insert(name.to_lowercase()) {
            name = format!("{column}_{number}");
            number += 1;
        }
        *column = name;
    }
}
