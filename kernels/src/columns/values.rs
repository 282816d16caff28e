//! The values of a growing column, one for each row, and the array made of them.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, NullArray, UInt64Array};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_schema::ArrowError;

use super::arrays::{coded_array, string_array};
use super::strings::{Interner, Strings};

/// Number of distinct values from which a coded column must pay: fewer than half as many as rows.
const CODED_MIN: usize = 4096;

pub enum Values {
    /// Only nulls so far.
    Empty,
    Int(Vec<i64>),
    Uint(Vec<u64>),
    Float(Vec<f64>),
    Bool(Vec<bool>),
    /// Few distinct texts: their numbers in the interner.
    Coded(Vec<i32>, Interner),
    Text(Strings),
}

impl Values {
    /// Remove values, or add some for nulls, up to a number of rows.
    pub fn resize(&mut self, rows: usize) {
        match self {
            Values::Empty => (),
            Values::Int(values) => values.resize(rows, 0),
            Values::Uint(values) => values.resize(rows, 0),
            Values::Float(values) => values.resize(rows, 0.0),
            Values::Bool(values) => values.resize(rows, false),
            Values::Coded(codes, _) => codes.resize(rows, 0),
            Values::Text(texts) => texts.resize(rows),
        }
    }

    /// Add a text; false if this is no column of texts.
    #[inline]
    pub fn push_text(&mut self, value: &[u8]) -> bool {
        match self {
            Values::Coded(codes, distinct) => {
                // Below i32::MAX: a row count that large does not pass `len * 2 > rows`.
                codes.push(distinct.intern(value) as i32);
                if distinct.len() >= CODED_MIN && distinct.len() * 2 > codes.len() {
                    let coded = std::mem::replace(self, Values::Empty);
                    *self = Values::Text(coded.into_texts());
                }
            }
            Values::Text(texts) => texts.push(value),
            _ => return false,
        }
        true
    }

    /// All values as texts; those of nulls are arbitrary, since the null bitmap covers them.
    pub fn into_texts(self) -> Strings {
        let mut out = Strings::default();
        match self {
            Values::Empty => (),
            Values::Int(values) => values.iter().for_each(|one| out.push(one.to_string().as_bytes())),
            Values::Uint(values) => values.iter().for_each(|one| out.push(one.to_string().as_bytes())),
            Values::Float(values) => values.iter().for_each(|one| out.push(one.to_string().as_bytes())),
            Values::Bool(values) => values.iter().for_each(|one| out.push(bool_text(*one))),
            Values::Coded(codes, distinct) => {
                codes.iter().for_each(|code| out.push(distinct.get_or_empty(*code as usize)));
            }
            Values::Text(texts) => return texts,
        }
        out
    }

    /// The values as an array of `rows` rows; `invalid` counts texts that were not UTF-8, with invalid bytes replaced.
    pub fn finish(self, rows: usize, nulls: Option<NullBuffer>, invalid: &mut usize) -> Result<ArrayRef, ArrowError> {
        Ok(match self {
            Values::Empty => Arc::new(NullArray::new(rows)),
            Values::Int(values) => Arc::new(Int64Array::try_new(ScalarBuffer::from(values), nulls)?),
            Values::Uint(values) => Arc::new(UInt64Array::try_new(ScalarBuffer::from(values), nulls)?),
            Values::Float(values) => Arc::new(Float64Array::try_new(ScalarBuffer::from(values), nulls)?),
            Values::Bool(values) => Arc::new(BooleanArray::new(values.into(), nulls)),
            Values::Coded(codes, distinct) => coded_array(codes, nulls, distinct, invalid)?,
            Values::Text(texts) => Arc::new(string_array(texts, nulls, invalid)?),
        })
    }
}

pub fn bool_text(value: bool) -> &'static [u8] {
    if value { b"true" } else { b"false" }
}
