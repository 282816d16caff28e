//! Impossible times, detected by comparison with most rows: such rows are dropped, so that they do not extend the
//! trace.
//!
//! A decoder can read any number as a time: from a damaged file, a writer that overflowed, another clock. A time
//! further from most times than the length of any recording would make the trace begin or end there.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, BooleanArray, Int64Array, RecordBatch};
use arrow_schema::ArrowError;
use arrow_select::filter::filter_record_batch;

/// Ten years of 365 days, in ns.
const FAR: i64 = 10 * 365 * 86_400 * 1_000_000_000;
/// Clocks of traces rarely exceed this, in either direction, in ns: about the year 2116.
const LIMIT: u64 = 1 << 62;

pub const TIME_REASON: &str = "time is more than ten years from the trace's others, left out";
pub const LENGTH_REASON: &str = "duration ends more than ten years from the trace's times, unknown";

fn is_likely(time: i64) -> bool {
    time.unsigned_abs() <= LIMIT
}

/// The range of possible times.
#[derive(Clone, Copy)]
pub struct Window {
    first: i64,
    last: i64,
}

impl Default for Window {
    /// An empty range.
    fn default() -> Window {
        Window { first: 0, last: -1 }
    }
}

impl Window {
    /// The times near the median of some times, of those that a clock can have if there are any.
    pub fn around(times: impl Iterator<Item = i64>) -> Option<Window> {
        let mut all: Vec<i64> = times.collect();
        let likely: Vec<i64> = all.iter().copied().filter(|time| is_likely(*time)).collect();
        if !likely.is_empty() {
            all = likely;
        }
        let at = all.len().checked_sub(1)? / 2;
        let (_, middle, _) = all.select_nth_unstable(at);
        Some(Window { first: middle.saturating_sub(FAR), last: middle.saturating_add(FAR).min(i64::MAX - 1) })
    }

    pub fn holds(self, time: i64) -> bool {
        self.first <= time && time <= self.last
    }

    /// Whether a range of times is within the window, both ends included.
    pub fn covers(self, (first, last): (i64, i64)) -> bool {
        self.first <= first && last <= self.last
    }

    /// The earliest possible time and the latest possible time or end.
    pub fn range(self, rows: impl Iterator<Item = (i64, i64)>) -> Option<(i64, i64)> {
        rows.filter(|(time, _)| self.holds(*time)).fold(None, |range, (time, length)| {
            let end = time.checked_add(length.max(0));
            let end = end.filter(|end| self.holds(*end)).unwrap_or(time);
            let (first, last) = range.unwrap_or((time, end));
            Some((first.min(time), last.max(end)))
        })
    }

    /// The rows of a batch with possible times, in its first column; impossible durations become nulls, and their
    /// number is returned.
    pub fn filtered(self, batch: &RecordBatch, durations: Option<usize>) -> Result<(RecordBatch, usize), ArrowError> {
        let times = batch.column(0).as_primitive_opt::<Int64Type>();
        let times = times.ok_or_else(|| ArrowError::SchemaError("times are not Int64".to_owned()))?;
        let mut columns = batch.columns().to_vec();
        let mut long = 0;
        if let Some(column) = durations.and_then(|at| columns.get_mut(at))
            && let Some(lengths) = column.as_primitive_opt::<Int64Type>()
        {
            let rows = times.values().iter().zip(lengths);
            let known = rows.map(|(time, length)| length.filter(|one| self.holds_end(*time, *one)));
            let known: Int64Array = known.collect();
            long = known.null_count() - lengths.null_count();
            *column = Arc::new(known);
        }
        let keep = times.values().iter().map(|time| Some(self.holds(*time)));
        let keep: BooleanArray = keep.collect();
        let batch = RecordBatch::try_new(batch.schema(), columns)?;
        Ok((filter_record_batch(&batch, &keep)?, long))
    }

    /// Whether the end of an event is possible, or its start is impossible anyway.
    fn holds_end(self, time: i64, length: i64) -> bool {
        // No event begins at the last time that there is, but one may end there.
        let end = time.checked_add(length);
        !self.holds(time) || end.is_some_and(|end| end <= self.last.saturating_add(1))
    }
}
