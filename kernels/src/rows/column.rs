//! One column of rows with a known type.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, NullArray, UInt64Array};
use arrow_buffer::{NullBufferBuilder, ScalarBuffer};
use arrow_schema::ArrowError;

use super::sink::{TS, room};
use super::whole::Whole;
use super::{ColumnSpec, Type};
use crate::columns::{Interner, Strings, coded_array, string_array};

/// Number of distinct texts from which a dictionary must pay: fewer than half as many texts as rows.
const CODED_MIN: usize = 4096;

enum Values {
    Int(Whole),
    Uint(Vec<u64>),
    Float(Vec<f64>),
    Bool(Vec<bool>),
    Coded(Vec<i32>, Interner),
    Text(Strings),
}

/// A growing column.
pub struct RowColumn {
    values: Values,
    /// The nulls of the rows up to the last null.
    nulls: NullBufferBuilder,
    rows: usize,
    /// The decoder's numbers of texts -> the codes here; -1 for those without one.
    numbers: Vec<i32>,
}

impl RowColumn {
    /// An empty column.
    pub fn new(spec: &ColumnSpec) -> RowColumn {
        // Times are always wide, so that their width need not be checked.
        RowColumn::with_room(spec.kind, spec.name == TS, 0)
    }

    /// An empty column of the same kind as this one, with room for about as many rows.
    pub fn next(&self, spec: &ColumnSpec) -> RowColumn {
        let wide = matches!(&self.values, Values::Int(values) if values.is_wide());
        RowColumn::with_room(spec.kind, wide, room(self.rows))
    }

    fn with_room(kind: Type, wide: bool, room: usize) -> RowColumn {
        let values = match kind {
            Type::Int if wide => Values::Int(Whole::wide(room)),
            Type::Int => Values::Int(Whole::narrow(room)),
            Type::Uint => Values::Uint(Vec::with_capacity(room)),
            Type::Float => Values::Float(Vec::with_capacity(room)),
            Type::Bool => Values::Bool(Vec::with_capacity(room)),
            Type::Text | Type::Json => Values::Coded(Vec::with_capacity(room), Interner::default()),
        };
        RowColumn { values, nulls: NullBufferBuilder::new(0), rows: 0, numbers: Vec::new() }
    }

    /// Reserve room for more rows.
    pub fn reserve(&mut self, rows: usize) {
        match &mut self.values {
            Values::Int(values) => values.reserve(rows),
            Values::Uint(values) => values.reserve(rows),
            Values::Float(values) => values.reserve(rows),
            Values::Bool(values) => values.reserve(rows),
            Values::Coded(codes, _) => codes.reserve(rows),
            Values::Text(_) => {}
        }
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.rows
    }

    #[inline]
    fn valid(&mut self) {
        self.rows += 1;
    }

    /// Extend the nulls to all rows; the missing ones are valid.
    fn append_valid(&mut self) {
        let missing = self.rows.saturating_sub(self.nulls.len());
        self.nulls.append_n_non_nulls(missing);
    }

    /// Add nulls up to a number of rows.
    pub fn pad(&mut self, rows: usize) {
        let missing = rows.saturating_sub(self.len());
        if missing == 0 {
            return;
        }
        self.append_valid();
        self.nulls.append_n_nulls(missing);
        self.rows = rows;
        match &mut self.values {
            Values::Int(values) => values.resize(rows),
            Values::Uint(values) => values.resize(rows, 0),
            Values::Float(values) => values.resize(rows, 0.0),
            Values::Bool(values) => values.resize(rows, false),
            Values::Coded(codes, _) => codes.resize(rows, 0),
            Values::Text(texts) => (0..missing).for_each(|_| texts.push(b"")),
        }
    }

    #[inline(always)]
    pub fn int(&mut self, value: i64) {
        match &mut self.values {
            Values::Int(values) => {
                values.push(value);
                self.valid();
            }
            _ => self.other_int(value),
        }
    }

    fn other_int(&mut self, value: i64) {
        match &mut self.values {
            Values::Int(values) => values.push(value),
            Values::Uint(values) => values.push(value.cast_unsigned()),
            Values::Float(values) => values.push(value as f64),
            Values::Bool(values) => values.push(value != 0),
            Values::Coded(..) | Values::Text(_) => return self.text(value.to_string().as_bytes()),
        }
        self.valid();
    }

    #[inline]
    pub fn uint(&mut self, value: u64) {
        match &mut self.values {
            Values::Uint(values) => values.push(value),
            Values::Coded(..) | Values::Text(_) => return self.text(value.to_string().as_bytes()),
            Values::Float(values) => values.push(value as f64),
            _ => return self.int(value.cast_signed()),
        }
        self.valid();
    }

    #[inline]
    pub fn float(&mut self, value: f64) {
        match &mut self.values {
            Values::Float(values) => values.push(value),
            Values::Coded(..) | Values::Text(_) => return self.text(value.to_string().as_bytes()),
            _ => return self.int(value as i64),
        }
        self.valid();
    }

    #[inline]
    pub fn bool(&mut self, value: bool) {
        match &mut self.values {
            Values::Bool(values) => values.push(value),
            Values::Coded(..) | Values::Text(_) => return self.text(value.to_string().as_bytes()),
            _ => return self.int(i64::from(value)),
        }
        self.valid();
    }

    /// Add a text; null if this is a column of numbers.
    #[inline]
    pub fn text(&mut self, value: &[u8]) {
        match &mut self.values {
            Values::Coded(codes, distinct) => {
                // Below i32::MAX: chunks have far fewer rows.
                codes.push(distinct.intern(value) as i32);
                if distinct.len() >= CODED_MIN && distinct.len() * 2 > codes.len() {
                    self.spell_out();
                }
            }
            Values::Text(texts) => texts.push(value),
            _ => return self.pad(self.len() + 1),
        }
        self.valid();
    }

    /// Add the text passed to [`RowColumn::name`] with this number; false if there was none.
    #[inline]
    pub fn recall(&mut self, number: usize) -> bool {
        if let Values::Coded(codes, _) = &mut self.values
            && let Some(code @ 0..) = self.numbers.get(number)
        {
            codes.push(*code);
            self.valid();
            return true;
        }
        false
    }

    /// Add a text, and assign the number to it.
    pub fn name(&mut self, number: usize, value: &[u8]) {
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

    /// Add a number for each of many rows.
    #[inline]
    pub fn ints(&mut self, values: impl Iterator<Item = i64> + Clone) {
        let Values::Int(all) = &mut self.values else {
            return values.for_each(|value| self.int(value));
        };
        all.extend(values);
        self.rows = all.len();
    }

    /// Add a number or null for each of many rows.
    #[inline]
    pub fn optional(&mut self, values: impl Iterator<Item = Option<i64>> + Clone) {
        let known = values.clone().all(|value| value.is_some());
        if known {
            return self.ints(values.flatten());
        }
        for value in values {
            match value {
                Some(value) => self.int(value),
                None => self.pad(self.rows + 1),
            }
        }
    }

    /// Add a text for each of many rows, by the caller's numbers, each of which always means the same text.
    #[inline]
    pub fn texts<'a>(&mut self, numbers: impl Iterator<Item = u32>, text: impl Fn(u32) -> Option<&'a [u8]>) {
        let Values::Coded(rows, distinct) = &mut self.values else {
            return numbers.for_each(|number| match text(number) {
                Some(text) => self.text(text),
                None => self.pad(self.rows + 1),
            });
        };
        let known = &mut self.numbers;
        rows.extend(numbers.map(|number| match known.get(number as usize) {
            Some(code @ 0..) => *code,
            _ => learn(known, distinct, number, text(number)),
        }));
        let new = rows.get_mut(self.rows..).unwrap_or_default();
        if new.iter().any(|code| *code < 0) {
            let missing = self.rows.saturating_sub(self.nulls.len());
            self.nulls.append_n_non_nulls(missing);
            for code in &mut *new {
                self.nulls.append(*code >= 0);
                *code = (*code).max(0);
            }
        }
        self.rows += new.len();
    }

    /// Add texts of some of many rows: the number of rows before each, ascending, and the text.
    pub fn some_texts<'a>(&mut self, rows: usize, given: impl Iterator<Item = (usize, &'a [u8])>) {
        let before = self.rows;
        if !matches!(self.values, Values::Coded(..)) {
            for (at, text) in given {
                self.pad(before + at);
                self.text(text);
            }
            return self.pad(before + rows);
        }
        self.pad(before + rows);
        if let Values::Coded(codes, distinct) = &mut self.values {
            for (at, text) in given {
                // Below i32::MAX, as above.
                codes[before + at] = distinct.intern(text) as i32;
                self.nulls.set_bit(before + at, true);
            }
            if distinct.len() >= CODED_MIN && distinct.len() * 2 > codes.len() {
                self.spell_out();
            }
        }
    }

    fn spell_out(&mut self) {
        if let Values::Coded(codes, distinct) = &self.values {
            let mut texts = Strings::default();
            codes.iter().for_each(|code| texts.push(distinct.get_or_empty(*code as usize)));
            self.values = Values::Text(texts);
        }
    }

    /// Remove values, down to a number of rows.
    pub fn truncate(&mut self, rows: usize) {
        self.rows = self.rows.min(rows);
        self.nulls.truncate(rows.min(self.nulls.len()));
        match &mut self.values {
            Values::Int(values) => values.resize(values.len().min(rows)),
            Values::Uint(values) => values.truncate(rows),
            Values::Float(values) => values.truncate(rows),
            Values::Bool(values) => values.truncate(rows),
            Values::Coded(codes, _) => codes.truncate(rows),
            Values::Text(texts) => texts.truncate(rows),
        }
    }

    /// The values of an integer column; those of nulls are arbitrary.
    pub fn whole(&self) -> Option<&Whole> {
        match &self.values {
            Values::Int(values) => Some(values),
            _ => None,
        }
    }

    /// The last value of an integer column, if it is not null.
    pub fn last_int(&self) -> Option<i64> {
        self.whole().and_then(Whole::last)
    }

    /// The column as an array of `rows` rows; `invalid` counts texts that were not UTF-8, with invalid bytes replaced.
    pub fn finish(mut self, rows: usize, invalid: &mut usize) -> Result<ArrayRef, ArrowError> {
        if self.rows == 0 {
            return Ok(Arc::new(NullArray::new(rows)));
        }
        self.pad(rows);
        self.append_valid();
        let nulls = self.nulls.finish();
        Ok(match self.values {
            Values::Int(values) => values.finish(nulls)?,
            Values::Uint(values) => Arc::new(UInt64Array::try_new(ScalarBuffer::from(values), nulls)?),
            Values::Float(values) => Arc::new(Float64Array::try_new(ScalarBuffer::from(values), nulls)?),
            Values::Bool(values) => Arc::new(BooleanArray::new(values.into(), nulls)),
            Values::Text(texts) => Arc::new(string_array(texts, nulls, invalid)?),
            Values::Coded(codes, distinct) => coded_array(codes, nulls, distinct, invalid)?,
        })
    }
}

/// The code of a new text; -1 for null.
#[cold]
fn learn(known: &mut Vec<i32>, distinct: &mut Interner, number: u32, text: Option<&[u8]>) -> i32 {
    // Below i32::MAX, as above.
    let code = text.map_or(-1, |text| distinct.intern(text) as i32);
    let at = number as usize;
    if known.len() <= at {
        known.resize(at + 1, -1);
    }
    known[at] = code;
    code
}
