//! Read values from the columns of shown calls.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef};

/// The columns of a batch, by place.
pub struct Columns<'a>(pub &'a [ArrayRef]);

impl<'a> Columns<'a> {
    pub fn long(&self, column: usize, row: usize) -> Option<i64> {
        let values = self.0.get(column)?.as_primitive_opt::<Int64Type>()?;
        values.is_valid(row).then(|| values.value(row))
    }

    pub fn int(&self, column: usize, row: usize) -> i32 {
        let values = self.0.get(column).and_then(|one| one.as_primitive_opt::<Int32Type>());
        values.filter(|one| one.is_valid(row)).map_or(0, |one| one.value(row))
    }

    pub fn marks(&self, column: usize, row: usize) -> u8 {
        let values = self.0.get(column).and_then(|one| one.as_primitive_opt::<Int8Type>());
        values.filter(|one| one.is_valid(row)).map_or(0, |one| one.value(row).cast_unsigned())
    }

    pub fn text(&self, column: usize, row: usize) -> Option<&'a str> {
        let values = self.0.get(column)?.as_string_opt::<i32>()?;
        values.is_valid(row).then(|| values.value(row))
    }
}
