//! Sum slices, in time order and each within its parent's time, by path of names; completed slices take no memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, Int64Array, RecordBatch};
use arrow_schema::ArrowError;
use rustc_hash::FxHashMap;

use super::flame::Sums;
use super::paths::{Paths, ROOT};
use crate::sweeps::fail;

/// A slice that may still get nested ones.
struct Open {
    path: u32,
    start: i64,
    end: Option<i64>,
    /// The end of its time covered by nested slices so far.
    covered: i64,
}

/// Sums of the slices so far, and the open slices.
#[derive(Default)]
pub struct Nested {
    open: FxHashMap<i64, Open>,
    ends: BinaryHeap<Reverse<(i64, i64)>>,
    pub paths: Paths,
    pub sums: Vec<Sums>,
}

/// Times, ids, parents and durations.
type Integers<'a> = [&'a Int64Array; 4];

impl Nested {
    /// Add rows, with codes for names.
    pub fn add(&mut self, batch: &RecordBatch, codes: &[u32]) -> Result<(), ArrowError> {
        let column = |number: usize| {
            batch
                .columns()
                .get(number)
                .and_then(|column| column.as_primitive_opt::<Int64Type>())
                .ok_or_else(|| fail("expected times, ids, parents and durations of Int64"))
        };
        let columns: Integers = [column(0)?, column(1)?, column(2)?, column(3)?];
        for (row, code) in codes.iter().enumerate() {
            let value = |column: &Int64Array| column.is_valid(row).then(|| column.value(row));
            let [time, id, parent, length] = columns.map(value);
            self.row(time, id, parent, length, *code)?;
        }
        Ok(())
    }

    fn row(
        &mut self,
        time: Option<i64>,
        id: Option<i64>,
        parent: Option<i64>,
        length: Option<i64>,
        code: u32,
    ) -> Result<(), ArrowError> {
        if let Some(time) = time {
            self.forget(time);
        }
        let above = parent.and_then(|parent| self.open.get_mut(&parent));
        let below = above.as_ref().map_or(ROOT, |above| above.path);
        let path = self.paths.push(below, code)?;
        self.sums.resize(self.paths.len(), Sums::default());
        if let Some(sums) = self.sums.get_mut(path as usize) {
            sums.add(length);
        }
        let end = time.zip(length).and_then(|(time, length)| time.checked_add(length));
        if let (Some(above), Some(time)) = (above, time)
            && let Some(last) = above.end
        {
            let until = end.map_or(last, |end| end.min(last));
            let from = time.max(above.covered).max(above.start);
            above.covered = above.covered.max(until);
            if let Some(sums) = self.sums.get_mut(below as usize) {
                sums.take(until.saturating_sub(from).max(0));
            }
        }
        if let Some(id) = id
            && !self.open.contains_key(&id)
        {
            let start = time.unwrap_or(i64::MIN);
            let open = Open { path, start, end, covered: i64::MIN };
            self.open.insert(id, open);
            if let Some(end) = end {
                self.ends.push(Reverse((end, id)));
            }
        }
        Ok(())
    }

    /// Drops slices that ended before a time, since they get no more nested ones.
    fn forget(&mut self, time: i64) {
        while let Some(&Reverse((end, id))) = self.ends.peek()
            && end < time
        {
            self.ends.pop();
            self.open.remove(&id);
        }
    }
}
