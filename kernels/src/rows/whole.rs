//! Integers, in four bytes each while all of them fit: they take most of a chunk's memory.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, Int64Array};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_schema::ArrowError;

pub enum Whole {
    Narrow(Vec<i32>),
    Wide(Vec<i64>),
}

impl Whole {
    /// No numbers, with room for numbers of four bytes.
    pub fn narrow(room: usize) -> Whole {
        Whole::Narrow(Vec::with_capacity(room))
    }

    /// No numbers, with room for numbers of any size.
    pub fn wide(room: usize) -> Whole {
        Whole::Wide(Vec::with_capacity(room))
    }

    pub fn is_wide(&self) -> bool {
        matches!(self, Whole::Wide(_))
    }

    pub fn len(&self) -> usize {
        match self {
            Whole::Narrow(values) => values.len(),
            Whole::Wide(values) => values.len(),
        }
    }

    pub fn reserve(&mut self, more: usize) {
        match self {
            Whole::Narrow(values) => values.reserve(more),
            Whole::Wide(values) => values.reserve(more),
        }
    }

    #[inline]
    pub fn push(&mut self, value: i64) {
        match self {
            Whole::Wide(values) => values.push(value),
            Whole::Narrow(values) => match i32::try_from(value) {
                Ok(value) => values.push(value),
                Err(_) => self.widen(std::iter::once(value)),
            },
        }
    }

    #[inline]
    pub fn extend(&mut self, new: impl Iterator<Item = i64> + Clone) {
        let values = match self {
            Whole::Wide(values) => return values.extend(new),
            Whole::Narrow(values) => values,
        };
        let before = values.len();
        let mut lost = 0;
        values.extend(new.clone().map(|value| {
            let kept = value as i32;
            lost |= value ^ i64::from(kept);
            kept
        }));
        if lost != 0 {
            values.truncate(before);
            self.widen(new);
        }
    }

    /// Append numbers that do not all fit in four bytes.
    #[cold]
    #[inline(never)]
    fn widen(&mut self, new: impl Iterator<Item = i64>) {
        if let Whole::Narrow(values) = self {
            let mut wide = Vec::with_capacity(values.capacity());
            wide.extend(values.iter().map(|value| i64::from(*value)));
            wide.extend(new);
            *self = Whole::Wide(wide);
        }
    }

    /// Append zeros, or remove numbers, up to a number of rows.
    pub fn resize(&mut self, rows: usize) {
        match self {
            Whole::Narrow(values) => values.resize(rows, 0),
            Whole::Wide(values) => values.resize(rows, 0),
        }
    }

    #[inline]
    pub fn last(&self) -> Option<i64> {
        match self {
            Whole::Narrow(values) => values.last().copied().map(i64::from),
            Whole::Wide(values) => values.last().copied(),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = i64> + '_ {
        let (narrow, wide): (&[i32], &[i64]) = match self {
            Whole::Narrow(values) => (values, &[]),
            Whole::Wide(values) => (&[], values),
        };
        narrow.iter().map(|value| i64::from(*value)).chain(wide.iter().copied())
    }

    /// The numbers as an array.
    pub fn finish(self, nulls: Option<NullBuffer>) -> Result<ArrayRef, ArrowError> {
        Ok(match self {
            Whole::Narrow(values) => Arc::new(Int32Array::try_new(ScalarBuffer::from(values), nulls)?),
            Whole::Wide(values) => Arc::new(Int64Array::try_new(ScalarBuffer::from(values), nulls)?),
        })
    }
}
