//! One column of rows with a known type.

use arrow_array::ArrayRef;
use arrow_buffer::NullBufferBuilder;
use arrow_schema::ArrowError;

use super::Type;
use super::sink::room;
use crate::columns::{Interner, Values};

/// A growing column.
pub struct RowColumn {
    values: Values,
    /// The nulls of the rows up to the last null.
    nulls: NullBufferBuilder,
    rows: usize,
    /// The code in this column of each string, by the decoder's number; -1 for those without one.
    numbers: Vec<i32>,
}

impl RowColumn {
    /// An empty column with room for some rows.
    pub fn new(kind: Type, room: usize) -> RowColumn {
        let values = match kind {
            Type::Int => Values::Int(Vec::with_capacity(room)),
            Type::Uint => Values::Uint(Vec::with_capacity(room)),
            Type::Float => Values::Float(Vec::with_capacity(room)),
            Type::Bool => Values::Bool(Vec::with_capacity(room)),
            Type::Text | Type::Json => Values::Coded(Vec::with_capacity(room), Interner::default()),
        };
        RowColumn { values, nulls: NullBufferBuilder::new(0), rows: 0, numbers: Vec::new() }
    }

    /// An empty column of the same type as this one, with room for about as many rows.
    pub fn next(&self, kind: Type) -> RowColumn {
        RowColumn::new(kind, room(self.rows))
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Extend the nulls to all rows; the missing ones are valid.
    fn append_valid(&mut self) {
        let missing = self.rows.saturating_sub(self.nulls.len());
        self.nulls.append_n_non_nulls(missing);
    }

    /// Add nulls up to a number of rows.
    #[inline]
    pub fn pad(&mut self, rows: usize) {
        if self.rows < rows {
            self.append_nulls(rows);
        }
    }

    fn append_nulls(&mut self, rows: usize) {
        self.append_valid();
        self.nulls.append_n_nulls(rows - self.rows);
        self.rows = rows;
        self.values.resize(rows);
    }

    #[inline(always)]
    pub fn int(&mut self, value: i64) {
        match &mut self.values {
            Values::Int(values) => values.push(value),
            _ => return self.other_int(value),
        }
        self.rows += 1;
    }

    /// Add a number for each of many rows.
    #[inline]
    pub fn extend(&mut self, new: impl Iterator<Item = i64>) {
        match &mut self.values {
            Values::Int(values) => {
                values.extend(new);
                self.rows = values.len();
            }
            _ => new.for_each(|value| self.int(value)),
        }
    }

    fn other_int(&mut self, value: i64) {
        match &mut self.values {
            Values::Uint(values) => values.push(value.cast_unsigned()),
            Values::Float(values) => values.push(value as f64),
            Values::Bool(values) => values.push(value != 0),
            _ => return self.text(value.to_string().as_bytes()),
        }
        self.rows += 1;
    }

    #[inline]
    pub fn uint(&mut self, value: u64) {
        match &mut self.values {
            Values::Uint(values) => values.push(value),
            Values::Coded(..) | Values::Text(_) => return self.text(value.to_string().as_bytes()),
            Values::Float(values) => values.push(value as f64),
            _ => return self.int(value.cast_signed()),
        }
        self.rows += 1;
    }

    #[inline]
    pub fn float(&mut self, value: f64) {
        match &mut self.values {
            Values::Float(values) => values.push(value),
            Values::Coded(..) | Values::Text(_) => return self.text(value.to_string().as_bytes()),
            _ => return self.int(value as i64),
        }
        self.rows += 1;
    }

    #[inline]
    pub fn bool(&mut self, value: bool) {
        match &mut self.values {
            Values::Bool(values) => values.push(value),
            Values::Coded(..) | Values::Text(_) => return self.text(value.to_string().as_bytes()),
            _ => return self.int(i64::from(value)),
        }
        self.rows += 1;
    }

    /// Add a text; null if this is a column of numbers.
    #[inline]
    pub fn text(&mut self, value: &[u8]) {
        match self.values.push_text(value) {
            true => self.rows += 1,
            false => self.pad(self.rows + 1),
        }
    }

    /// Add a text by its number in the decoder, which means this text for the rest of the chunk.
    #[inline]
    pub fn numbered<T: AsRef<[u8]>>(&mut self, number: usize, text: impl FnOnce() -> T) {
        if let Values::Coded(codes, _) = &mut self.values
            && let Some(code @ 0..) = self.numbers.get(number)
        {
            codes.push(*code);
            self.rows += 1;
        } else {
            self.name(number, text().as_ref());
        }
    }

    /// Add a text, and assign the number to it.
    fn name(&mut self, number: usize, value: &[u8]) {
        self.text(value);
        // This limits the memory for numbers to that of the rows, whatever the numbers are.
        if let Values::Coded(codes, _) = &self.values
            && let Some(code) = codes.last()
            && number < 64 + 4 * codes.len()
        {
            if self.numbers.len() <= number {
                self.numbers.resize(number + 1, -1);
            }
            self.numbers[number] = *code;
        }
    }

    /// Remove values, down to a number of rows.
    pub fn truncate(&mut self, rows: usize) {
        if rows < self.rows {
            self.rows = rows;
            self.nulls.truncate(rows);
            self.values.resize(rows);
        }
    }

    /// The values of an integer column; those of nulls are arbitrary.
    pub fn ints(&self) -> &[i64] {
        match &self.values {
            Values::Int(values) => values,
            _ => &[],
        }
    }

    /// The column as an array of `rows` rows; `invalid` counts texts that were not UTF-8, with invalid bytes replaced.
    pub fn finish(mut self, rows: usize, invalid: &mut usize) -> Result<ArrayRef, ArrowError> {
        if self.rows == 0 {
            return Values::Empty.finish(rows, None, invalid);
        }
        self.pad(rows);
        self.append_valid();
        self.values.finish(rows, self.nulls.finish(), invalid)
    }
}
