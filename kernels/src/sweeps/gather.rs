//! Gather the payload columns of an output batch from references to rows of held chunks.

use arrow_array::{Array, ArrayRef, UInt32Array, new_null_array};
use arrow_schema::{ArrowError, DataType, FieldRef};
use arrow_select::interleave::interleave;
use arrow_select::take::take;

use super::failure::fail;
use super::held::{Held, NULL_ROW};

/// The origin of each output row, computed once for all columns of one input.
struct Plan {
    numbers: Vec<u32>,
    nulls: bool,
    rows: Rows,
}

enum Rows {
    OfOne(UInt32Array),
    OfMany(Vec<(usize, usize)>),
}

/// Builds one column per payload field from the rows; `NULL_ROW` gives NULL.
pub fn gather(held: &Held, fields: &[FieldRef], rows: &[u64]) -> Result<Vec<ArrayRef>, ArrowError> {
    let wanted: Vec<(usize, &DataType)> = fields.iter().map(|field| field.data_type()).enumerate().collect();
    gather_some(held, &wanted, rows)
}

/// Builds the wanted payload columns, given by place and type, from the rows.
pub fn gather_some(held: &Held, wanted: &[(usize, &DataType)], rows: &[u64]) -> Result<Vec<ArrayRef>, ArrowError> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let plan = plan(rows);
    wanted.iter().map(|&(column, data_type)| plan.column(held, column, data_type)).collect()
}

fn plan(rows: &[u64]) -> Plan {
    let (mut low, mut high, mut nulls) = (u32::MAX, 0, false);
    for &row in rows {
        if row == NULL_ROW {
            nulls = true;
        } else {
            low = low.min((row >> 32) as u32);
            high = high.max((row >> 32) as u32);
        }
    }
    if low == high && !nulls {
        let rows = rows.iter().map(|&row| row as u32).collect::<Vec<_>>();
        return Plan { numbers: vec![low], nulls, rows: Rows::OfOne(UInt32Array::from(rows)) };
    }
    let mut places = vec![usize::MAX; if low <= high { (high - low) as usize + 1 } else { 0 }];
    let mut numbers = Vec::new();
    let mut pairs = Vec::with_capacity(rows.len());
    let offset = usize::from(nulls);
    for &row in rows {
        if row == NULL_ROW {
            pairs.push((0, 0));
            continue;
        }
        let number = (row >> 32) as u32;
        let place = &mut places[(number - low) as usize];
        if *place == usize::MAX {
            *place = numbers.len() + offset;
            numbers.push(number);
        }
        pairs.push((*place, row as u32 as usize));
    }
    Plan { numbers, nulls, rows: Rows::OfMany(pairs) }
}

impl Plan {
    fn column(&self, held: &Held, column: usize, data_type: &DataType) -> Result<ArrayRef, ArrowError> {
        let find = |&number: &u32| held.column(number, column).ok_or_else(|| fail("a row was dropped while in use"));
        let arrays = self.numbers.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        match &self.rows {
            Rows::OfOne(rows) => take(arrays[0], rows, None),
            Rows::OfMany(pairs) => {
                let null = self.nulls.then(|| new_null_array(data_type, 1));
                let arrays: Vec<&dyn Array> = null.iter().chain(arrays).map(|array| array.as_ref()).collect();
                if arrays.is_empty() {
                    return Ok(arrow_array::new_empty_array(data_type));
                }
                interleave(&arrays, pairs)
            }
        }
    }
}
