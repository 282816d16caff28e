//! Gather pieces of joined spans, column by column, into an output batch.

use arrow_array::ArrayRef;
use arrow_schema::{ArrowError, FieldRef};

use super::gather::gather;
use super::partition::Partitions;
use super::source::{ChunkedInput, ROWS};
use super::stream::int64;

/// Rows of a join that wait for their batch.
#[derive(Default)]
pub struct Pieces {
    pub ts: Vec<i64>,
    pub duration: Vec<i64>,
    pub code: Vec<u32>,
    pub left: Vec<u64>,
    pub right: Vec<u64>,
}

impl Pieces {
    #[inline]
    pub fn push(&mut self, ts: i64, duration: i64, code: u32, left: u64, right: u64) {
        self.ts.push(ts);
        self.duration.push(duration);
        self.code.push(code);
        self.left.push(left);
        self.right.push(right);
    }

    /// Add an event, which has no duration; a batch holds either pieces or events.
    #[inline]
    pub fn push_event(&mut self, ts: i64, code: u32, left: u64, right: u64) {
        self.ts.push(ts);
        self.code.push(code);
        self.left.push(left);
        self.right.push(right);
    }

    #[inline]
    pub fn is_full(&self) -> bool {
        self.ts.len() >= ROWS
    }

    pub fn is_empty(&self) -> bool {
        self.ts.is_empty()
    }

    /// Turns the waiting rows into the columns of a batch and resets.
    pub fn flush(
        &mut self,
        partitions: &mut Partitions,
        left: (&ChunkedInput, &[FieldRef]),
        right: (&ChunkedInput, &[FieldRef]),
        swapped: bool,
    ) -> Result<Vec<ArrayRef>, ArrowError> {
        let full = std::mem::take(self);
        self.reserve();
        let mut columns = vec![int64(full.ts)];
        if !full.duration.is_empty() {
            columns.push(int64(full.duration));
        }
        columns.extend(partitions.columns(full.code)?);
        let left = gather(&left.0.held, left.1, &full.left)?;
        let right = gather(&right.0.held, right.1, &full.right)?;
        let [first, second] = if swapped { [right, left] } else { [left, right] };
        columns.extend(first.into_iter().chain(second));
        Ok(columns)
    }

    fn reserve(&mut self) {
        self.ts.reserve(ROWS);
        self.code.reserve(ROWS);
        self.left.reserve(ROWS);
        self.right.reserve(ROWS);
    }
}
