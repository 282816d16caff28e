//! Growing event tables into ones with their final columns: times in nanoseconds, hashes with their texts.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, RecordBatch, new_null_array};
use arrow_schema::{ArrowError, DataType};
use arrow_select::filter::filter;
use rustc_hash::FxHashSet;

use super::decode::{EVENT_COLUMNS, EventTable, HashKind, is_hash};
use super::hashes::{Book, Rows, resolution, resolve};
use super::report::Trouble;
use crate::columns::unify;

/// Names that columns of args cannot have.
const TAKEN: [&str; 12] = ["", "_ts", "_duration", "name", "cat", "pid", "tid", "id", "ph", "type", "dur", "args"];
/// What is known of all files before tables are finished.
pub struct Context {
    /// Nanoseconds in a unit of time, by file.
    pub factors: Vec<i64>,
    pub book: Book,
}

/// What of the columns of a table all of its rows decide, for the case that only some are there.
#[derive(Clone, Default)]
pub struct Shape {
    /// By decoded column: no row has a value.
    pub empty: Vec<bool>,
    /// By decoded column: some row has a hash whose text is known.
    pub resolves: Vec<bool>,
}

/// From which decoded column the values of a column are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    Column(usize),
    /// Texts of the hashes in it.
    Texts(usize),
    /// Texts as written, and those of hashes where there is none.
    Both,
}

/// Events of one file, times in the unit of the file.
#[derive(Clone, Copy)]
pub struct Extent {
    pub events: u64,
    pub min_ts: i64,
    pub max_ts: i64,
}

pub struct Column {
    pub name: String,
    pub origin: Origin,
    pub arrays: Vec<ArrayRef>,
}

/// A table whose times are absolute nanoseconds and whose rows are not sorted yet.
pub struct Timed {
    pub name: String,
    pub columns: Vec<Column>,
    pub rows: Vec<usize>,
    /// The earliest time and the latest end.
    pub range: Option<(i64, i64)>,
    pub extents: BTreeMap<usize, Extent>,
    pub troubles: Vec<(usize, Trouble, u64, String)>,
}

struct HashColumn {
    /// Number among the decoded columns.
    index: usize,
    name: String,
    /// Whether its texts are shown even if there are none.
    wanted: bool,
    kinds: &'static [HashKind],
    text: String,
    arrays: Vec<ArrayRef>,
}

/// Bring all chunks of one table to one schema, times to nanoseconds, hashes to texts.
pub fn time(
    name: String,
    chunks: Vec<EventTable>,
    context: &Context,
    shape: Option<&Shape>,
) -> Result<Timed, ArrowError> {
    let mut files: Vec<Vec<(usize, usize)>> = Vec::with_capacity(chunks.len());
    let mut tables = Vec::with_capacity(chunks.len());
    for chunk in chunks {
        files.push(chunk.files);
        tables.push(chunk.table);
    }
    let first_file = files.first().and_then(|files| files.first()).map_or(0, |(_, file)| *file);
    let (batches, invalid) = unify(tables)?;
    let mut timed = Timed::new(name, &batches);
    drop(batches);
    timed.name_columns(shape);
    if invalid > 0 {
        timed.troubles.push((first_file, Trouble::NotUtf8, invalid as u64, format!("event {}", timed.name)));
    }
    timed.resolve_hashes(&files, &context.book, shape)?;
    timed.scale(&files, &context.factors)?;
    Ok(timed)
}

impl Timed {
    /// A table of decoded columns.
    pub fn new(name: String, batches: &[RecordBatch]) -> Timed {
        let mut columns = Vec::new();
        if let Some(first) = batches.first() {
            for (index, field) in first.schema().fields().iter().enumerate() {
                columns.push(Column {
                    name: field.name().clone(),
                    origin: Origin::Column(index),
                    arrays: batches.iter().map(|batch| Arc::clone(batch.column(index))).collect(),
                });
            }
        }
        Timed {
            name,
            columns,
            rows: batches.iter().map(RecordBatch::num_rows).collect(),
            range: None,
            extents: BTreeMap::new(),
            troubles: Vec::new(),
        }
    }

    /// Rename args that are called like columns of the record, and drop columns of the record that no row has.
    pub fn name_columns(&mut self, shape: Option<&Shape>) {
        let fixed = EVENT_COLUMNS.len();
        for column in self.columns.iter_mut().skip(fixed) {
            if TAKEN.contains(&column.name.to_lowercase().as_str()) {
                column.name = format!("args_{}", column.name);
            }
        }
        for (index, column) in self.columns.iter_mut().enumerate().take(fixed) {
            let empty = match shape {
                None => column.is_null(),
                Some(shape) => shape.empty.get(index).copied().unwrap_or(false),
            };
            let number = matches!(index, 0 | 1 | 3 | 4);
            if empty && number {
                column.arrays =
                    column.arrays.iter().map(|array| new_null_array(&DataType::Int64, array.len())).collect();
            } else if empty && matches!(column.name.as_str(), "id" | "type") {
                column.arrays.clear();
            }
        }
        self.columns.retain(|column| !column.arrays.is_empty());
    }

    /// Put the texts of hashes beside them.
    pub fn resolve_hashes(
        &mut self,
        files: &[Vec<(usize, usize)>],
        book: &Book,
        shape: Option<&Shape>,
    ) -> Result<(), ArrowError> {
        for hashes in self.hash_columns() {
            let direct = self.columns.iter().position(|column| column.name == hashes.text && column.is_text());
            let rows = Rows {
                files,
                arrays: &hashes.arrays,
                direct: direct.map(|place| self.columns[place].arrays.as_slice()),
            };
            let Some((arrays, unknown)) = resolve(&rows, hashes.kinds, book)? else {
                continue;
            };
            let some = match shape {
                None => arrays.iter().any(|array| array.null_count() < array.len()),
                Some(shape) => shape.resolves.get(hashes.index).copied().unwrap_or(false),
            };
            if !hashes.wanted && !some {
                continue;
            }
            if hashes.wanted {
                let example = format!("{} of {}", hashes.name, self.name);
                let troubles =
                    unknown.into_iter().map(|(file, count)| (file, Trouble::UnknownHash, count, example.clone()));
                self.troubles.extend(troubles);
            }
            self.put_texts(hashes, direct, arrays);
        }
        unique_names(self.columns.iter_mut().map(|column| &mut column.name));
        Ok(())
    }

    /// The columns of hashes as they were decoded.
    fn hash_columns(&self) -> Vec<HashColumn> {
        let hashes = |column: &Column| {
            let (kinds, text) = resolution(&column.name).filter(|_| is_hash(column.name.as_bytes()))?;
            let Origin::Column(index) = column.origin else {
                return None;
            };
            Some(HashColumn {
                index,
                wanted: is_wanted(&column.name),
                name: column.name.clone(),
                kinds,
                text,
                arrays: column.arrays.clone(),
            })
        };
        self.columns.iter().filter_map(hashes).collect()
    }

    fn put_texts(&mut self, hashes: HashColumn, direct: Option<usize>, arrays: Vec<ArrayRef>) {
        if let Some(column) = direct.and_then(|place| self.columns.get_mut(place)) {
            column.arrays = arrays;
            column.origin = Origin::Both;
            return;
        }
        let own = Origin::Column(hashes.index);
        let place = self.columns.iter().position(|column| column.origin == own);
        let column = Column { name: hashes.text, origin: Origin::Texts(hashes.index), arrays };
        self.columns.insert(place.map_or(self.columns.len(), |place| place + 1), column);
    }

    /// Times and durations to nanoseconds; events whose time does not fit are dropped.
    pub fn scale(&mut self, files: &[Vec<(usize, usize)>], factors: &[i64]) -> Result<(), ArrowError> {
        for (chunk, files) in files.iter().enumerate() {
            let mut keep = Vec::new();
            let [ts, dur] = [0, 1].map(|column| self.columns[column].arrays[chunk].as_primitive::<Int64Type>().clone());
            let mut times: Vec<i64> = Vec::with_capacity(ts.len());
            let mut lengths: Vec<i64> = Vec::with_capacity(ts.len());
            let ends = files.iter().map(|(start, _)| *start).skip(1).chain([ts.len()]);
            for ((start, file), end) in files.iter().zip(ends) {
                let factor = factors.get(*file).copied().unwrap_or(1000);
                for row in *start..end {
                    let length = if dur.is_valid(row) { dur.value(row) } else { 0 };
                    let scaled = self.row(*file, factor, ts.value(row), length);
                    if scaled.is_none() && keep.is_empty() {
                        keep = vec![true; ts.len()];
                    }
                    if let (None, Some(keep)) = (scaled, keep.get_mut(row)) {
                        *keep = false;
                    }
                    let (time, length) = scaled.unwrap_or_default();
                    times.push(time);
                    lengths.push(length);
                }
            }
            self.columns[0].arrays[chunk] = Arc::new(Int64Array::from(times));
            self.columns[1].arrays[chunk] = Arc::new(Int64Array::try_new(lengths.into(), dur.nulls().cloned())?);
            self.keep(chunk, keep)?;
        }
        Ok(())
    }

    /// Time and duration of an event in nanoseconds, and what it adds to the figures of its file.
    fn row(&mut self, file: usize, factor: i64, ts: i64, dur: i64) -> Option<(i64, i64)> {
        let scaled = ts.checked_mul(factor).zip(dur.checked_mul(factor));
        let end = scaled.and_then(|(time, length)| time.checked_add(length));
        let (Some((time, length)), Some(end)) = (scaled, end) else {
            let example = format!("event {}: ts {ts}, dur {dur}", self.name);
            self.troubles.push((file, Trouble::TimeOverflow, 1, example));
            return None;
        };
        let (first, last) = self.range.unwrap_or((time, end));
        self.range = Some((first.min(time), last.max(end)));
        let extent = self.extents.entry(file).or_insert(Extent { events: 0, min_ts: ts, max_ts: ts });
        extent.events += 1;
        extent.min_ts = extent.min_ts.min(ts);
        extent.max_ts = extent.max_ts.max(ts);
        Some((time, length))
    }

    fn keep(&mut self, chunk: usize, keep: Vec<bool>) -> Result<(), ArrowError> {
        if keep.is_empty() {
            return Ok(());
        }
        let mask = BooleanArray::from(keep);
        for column in &mut self.columns {
            column.arrays[chunk] = filter(&column.arrays[chunk], &mask)?;
        }
        self.rows[chunk] = mask.true_count();
        Ok(())
    }
}

impl Column {
    fn is_text(&self) -> bool {
        self.arrays.iter().all(|array| is_text(array.data_type()))
    }

    fn is_null(&self) -> bool {
        self.arrays.iter().all(|array| array.null_count() == array.len())
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

/// Names that differ in case only would be one to SQL: later ones get a number.
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
