//! Event tables whose times are absolute -> finished ones, rows in time order.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, DictionaryArray, Int32Array, Int64Array, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use arrow_select::interleave::interleave;

use super::tables::{Column, Timed};

/// Rows of one batch of a finished table.
const BATCH_ROWS: usize = 1 << 17;
/// From this many bytes of text in a column on, batches are small, since 32-bit offsets end at 2 GiB.
const MUCH_TEXT: usize = 1 << 30;

impl Timed {
    /// Sort the rows by time (equal times keep the order of the files) and count time from `start`.
    pub fn finish(mut self, start: i64) -> Result<(String, Arc<Schema>, Vec<RecordBatch>), ArrowError> {
        let mut order: Vec<(i64, u32, u32)> = Vec::with_capacity(self.rows.iter().sum());
        for (chunk, array) in self.columns[0].arrays.iter().enumerate() {
            let times = array.as_primitive::<Int64Type>().values();
            order.extend(times.iter().enumerate().map(|(row, time)| (time - start, chunk as u32, row as u32)));
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
                let kind = column.arrays.first().map_or(DataType::Int64, |array| array.data_type().clone());
                Field::new(&column.name, kind, index > 0)
            })
            .collect();
        let schema = Arc::new(Schema::new(fields));
        let times: Vec<ArrayRef> = order
            .chunks(step)
            .map(|rows| Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.0))) as ArrayRef)
            .collect();
        let places: Vec<(usize, usize)> = order.iter().map(|row| (row.1 as usize, row.2 as usize)).collect();
        drop(order);
        let mut arrays = vec![times];
        for column in columns.into_iter().skip(1) {
            arrays.push(gather(column.arrays, &places, step)?);
        }
        let batches = (0..places.len().div_ceil(step))
            .map(|index| {
                let columns = arrays.iter().map(|column| Arc::clone(&column[index])).collect();
                RecordBatch::try_new(Arc::clone(&schema), columns)
            })
            .collect::<Result<_, _>>()?;
        Ok((self.name, schema, batches))
    }
}

fn text_bytes(column: &Column) -> usize {
    column.arrays.iter().filter_map(|array| Some(array.as_string_opt::<i32>()?.values().len())).sum()
}

/// Rows of the chunks of a column in a new order, `step` rows per array.
fn gather(arrays: Vec<ArrayRef>, places: &[(usize, usize)], step: usize) -> Result<Vec<ArrayRef>, ArrowError> {
    let dictionary =
        arrays.first().and_then(|array| array.as_dictionary_opt::<Int32Type>()).map(|d| Arc::clone(d.values()));
    let keys: Vec<ArrayRef> = match dictionary {
        None => arrays,
        Some(_) => arrays
            .iter()
            .filter_map(|array| Some(Arc::new(array.as_dictionary_opt::<Int32Type>()?.keys().clone()) as ArrayRef))
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
