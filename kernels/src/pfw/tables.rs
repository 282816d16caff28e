//! Growing event tables into finished ones: times in nanoseconds, hashes with their texts, rows in time order.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Int32Array, Int64Array, RecordBatch,
    new_null_array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use arrow_select::filter::filter;
use arrow_select::interleave::interleave;

use super::decode::{EVENT_COLUMNS, EventTable, is_hash};
use super::hashes::{Book, Rows, resolution, resolve};
use super::report::Trouble;
use crate::columns::unify;

/// Names that columns of args cannot have.
const TAKEN: [&str; 12] = [
    "",
    "_ts",
    "_duration",
    "name",
    "cat",
    "pid",
    "tid",
    "id",
    "ph",
    "type",
    "dur",
    "args",
];
/// Rows of one batch of a finished table.
const BATCH_ROWS: usize = 1 << 17;
/// From this many bytes of text in a column on, batches are small, since 32-bit offsets end at 2 GiB.
const MUCH_TEXT: usize = 1 << 30;

/// What is known of all files before tables are finished.
pub struct Context {
    /// Nanoseconds in a unit of time, by file.
    pub factors: Vec<i64>,
    pub book: Book,
}

/// Events of one file, times in the unit of the file.
#[derive(Clone, Copy)]
pub struct Extent {
    pub events: u64,
    pub min_ts: i64,
    pub max_ts: i64,
}

struct Column {
    name: String,
    arrays: Vec<ArrayRef>,
}

/// A table whose times are absolute nanoseconds and whose rows are not sorted yet.
pub struct Timed {
    pub name: String,
    columns: Vec<Column>,
    rows: Vec<usize>,
    /// The earliest time and the latest end.
    pub range: Option<(i64, i64)>,
    pub extents: BTreeMap<usize, Extent>,
    pub troubles: Vec<(usize, Trouble, u64, String)>,
}

/// Bring all chunks of one table to one schema, times to nanoseconds, hashes to texts.
pub fn time(name: String, chunks: Vec<EventTable>, context: &Context) -> Result<Timed, ArrowError> {
    let mut files: Vec<Vec<(usize, usize)>> = Vec::with_capacity(chunks.len());
    let mut tables = Vec::with_capacity(chunks.len());
    for chunk in chunks {
        files.push(chunk.files);
        tables.push(chunk.table);
    }
    let first_file = files
        .first()
        .and_then(|files| files.first())
        .map_or(0, |(_, file)| *file);
    let (batches, invalid) = unify(tables)?;
    let mut timed = Timed {
        name,
        columns: columns_of(&batches),
        rows: batches.iter().map(RecordBatch::num_rows).collect(),
        range: None,
        extents: BTreeMap::new(),
        troubles: Vec::new(),
    };
    drop(batches);
    if invalid > 0 {
        timed.troubles.push((
            first_file,
            Trouble::NotUtf8,
            invalid as u64,
            format!("event {}", timed.name),
        ));
    }
    timed.resolve_hashes(&files, context)?;
    timed.scale(&files, context)?;
    Ok(timed)
}

fn columns_of(batches: &[RecordBatch]) -> Vec<Column> {
    let Some(first) = batches.first() else {
        return Vec::new();
    };
    let mut columns: Vec<Column> = first
        .schema()
        .fields()
        .iter()
        .enumerate()
        .map(|(index, field)| {
            let arrays = batches
                .iter()
                .map(|batch| Arc::clone(batch.column(index)))
                .collect();
            Column {
                name: field.name().clone(),
                arrays,
            }
        })
        .collect();
    let fixed = EVENT_COLUMNS.len();
    for column in columns.iter_mut().skip(fixed) {
        if TAKEN.contains(&column.name.to_lowercase().as_str()) {
            column.name = format!("args_{}", column.name);
        }
    }
    for (index, column) in columns.iter_mut().enumerate().take(fixed) {
        let empty = column
            .arrays
            .iter()
            .all(|array| array.null_count() == array.len());
        let number = matches!(index, 0 | 1 | 3 | 4);
        if empty && number {
            column.arrays = column
                .arrays
                .iter()
                .map(|array| new_null_array(&DataType::Int64, array.len()))
                .collect();
        } else if empty && matches!(column.name.as_str(), "id" | "type") {
            column.arrays.clear();
        }
    }
    columns.retain(|column| !column.arrays.is_empty());
    columns
}

impl Timed {
    fn resolve_hashes(
        &mut self,
        files: &[Vec<(usize, usize)>],
        context: &Context,
    ) -> Result<(), ArrowError> {
        let mut index = 0;
        while index < self.columns.len() {
            let column = &self.columns[index];
            index += 1;
            let Some((kinds, name)) =
                resolution(&column.name).filter(|_| is_hash(column.name.as_bytes()))
            else {
                continue;
            };
            let direct = self
                .columns
                .iter()
                .position(|column| column.name == name && is_text(column));
            let rows = Rows {
                files,
                arrays: &column.arrays,
                direct: direct.map(|place| self.columns[place].arrays.as_slice()),
            };
            let Some((arrays, unknown)) = resolve(&rows, kinds, &context.book)? else {
                continue;
            };
            let wanted = matches!(column.name.as_str(), "fhash" | "hhash");
            if !wanted && arrays.iter().all(|array| array.null_count() == array.len()) {
                continue;
            }
            if wanted {
                let example = format!("{} of {}", column.name, self.name);
                let troubles = unknown
                    .into_iter()
                    .map(|(file, count)| (file, Trouble::UnknownHash, count, example.clone()));
                self.troubles.extend(troubles);
            }
            match direct {
                Some(place) => self.columns[place].arrays = arrays,
                None => self.columns.insert(index, Column { name, arrays }),
            }
        }
        self.make_names_unique();
        Ok(())
    }

    /// Names that differ in case only would be one to SQL: later ones get a number.
    fn make_names_unique(&mut self) {
        let mut taken: Vec<String> = Vec::with_capacity(self.columns.len());
        for column in &mut self.columns {
            let mut name = column.name.clone();
            let mut number = 2;
            while taken.contains(&name.to_lowercase()) {
                name = format!("{}_{number}", column.name);
                number += 1;
            }
            taken.push(name.to_lowercase());
            column.name = name;
        }
    }

    fn scale(
        &mut self,
        files: &[Vec<(usize, usize)>],
        context: &Context,
    ) -> Result<(), ArrowError> {
        for (chunk, files) in files.iter().enumerate() {
            let mut keep = Vec::new();
            let [ts, dur] = [0, 1].map(|column| {
                self.columns[column].arrays[chunk]
                    .as_primitive::<Int64Type>()
                    .clone()
            });
            let mut times: Vec<i64> = Vec::with_capacity(ts.len());
            let mut lengths: Vec<i64> = Vec::with_capacity(ts.len());
            let ends = files
                .iter()
                .map(|(start, _)| *start)
                .skip(1)
                .chain([ts.len()]);
            for ((start, file), end) in files.iter().zip(ends) {
                let factor = context.factors.get(*file).copied().unwrap_or(1000);
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
            self.columns[1].arrays[chunk] =
                Arc::new(Int64Array::try_new(lengths.into(), dur.nulls().cloned())?);
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
            self.troubles
                .push((file, Trouble::TimeOverflow, 1, example));
            return None;
        };
        let (first, last) = self.range.unwrap_or((time, end));
        self.range = Some((first.min(time), last.max(end)));
        let extent = self.extents.entry(file).or_insert(Extent {
            events: 0,
            min_ts: ts,
            max_ts: ts,
        });
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

    /// Sort the rows by time (equal times keep the order of the files) and count time from `start`.
    pub fn finish(
        mut self,
        start: i64,
    ) -> Result<(String, Arc<Schema>, Vec<RecordBatch>), ArrowError> {
        let mut order: Vec<(i64, u32, u32)> = Vec::with_capacity(self.rows.iter().sum());
        for (chunk, array) in self.columns[0].arrays.iter().enumerate() {
            let times = array.as_primitive::<Int64Type>().values();
            order.extend(
                times
                    .iter()
                    .enumerate()
                    .map(|(row, time)| (time - start, chunk as u32, row as u32)),
            );
        }
        let many = self.columns.iter().map(text_bytes).max().unwrap_or(0) > MUCH_TEXT;
        let step = if many { BATCH_ROWS / 128 } else { BATCH_ROWS };
        order.sort_by_key(|(time, ..)| *time);
        let mut columns = std::mem::take(&mut self.columns);
        columns[0].arrays.clear();
        let fields: Vec<Field> = columns
            .iter()
            .enumerate()
            .map(|(index, column)| {
                let kind = column
                    .arrays
                    .first()
                    .map_or(DataType::Int64, |array| array.data_type().clone());
                Field::new(&column.name, kind, index > 0)
            })
            .collect();
        let schema = Arc::new(Schema::new(fields));
        let times: Vec<ArrayRef> = order
            .chunks(step)
            .map(|rows| {
                Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.0))) as ArrayRef
            })
            .collect();
        let places: Vec<(usize, usize)> = order
            .iter()
            .map(|row| (row.1 as usize, row.2 as usize))
            .collect();
        drop(order);
        let mut arrays = vec![times];
        for column in columns.into_iter().skip(1) {
            arrays.push(gather(column.arrays, &places, step)?);
        }
        let batches = (0..places.len().div_ceil(step))
            .map(|index| {
                let columns = arrays
                    .iter()
                    .map(|column| Arc::clone(&column[index]))
                    .collect();
                RecordBatch::try_new(Arc::clone(&schema), columns)
            })
            .collect::<Result<_, _>>()?;
        Ok((self.name, schema, batches))
    }
}

fn is_text(column: &Column) -> bool {
    column
        .arrays
        .iter()
        .all(|array| matches!(array.data_type(), DataType::Utf8 | DataType::Dictionary(..)))
}

fn text_bytes(column: &Column) -> usize {
    column
        .arrays
        .iter()
        .filter_map(|array| Some(array.as_string_opt::<i32>()?.values().len()))
        .sum()
}

/// Rows of the chunks of a column in a new order, `step` rows per array.
fn gather(
    arrays: Vec<ArrayRef>,
    places: &[(usize, usize)],
    step: usize,
) -> Result<Vec<ArrayRef>, ArrowError> {
    let dictionary = arrays
        .first()
        .and_then(|array| array.as_dictionary_opt::<Int32Type>())
        .map(|d| Arc::clone(d.values()));
    let keys: Vec<ArrayRef> = match dictionary {
        None => arrays,
        Some(_) => arrays
            .iter()
            .filter_map(|array| {
                Some(Arc::new(array.as_dictionary_opt::<Int32Type>()?.keys().clone()) as ArrayRef)
            })
            .collect(),
    };
    let chunks: Vec<&dyn Array> = keys.iter().map(AsRef::as_ref).collect();
    places
        .chunks(step)
        .map(|places| {
            let rows = interleave(&chunks, places)?;
            let Some(texts) = &dictionary else {
                return Ok(rows);
            };
            let keys: Int32Array = rows.as_primitive::<Int32Type>().clone();
            Ok(Arc::new(DictionaryArray::try_new(keys, Arc::clone(texts))?) as ArrayRef)
        })
        .collect()
}
