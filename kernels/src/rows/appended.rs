//! Appending many rows to one table: columns get all values, then the rows are ended.

use super::column::RowColumn;
use super::sink::{CHUNK_ROWS, Rows, Sink, room};
use super::whole::Whole;

/// Number of rows from which room for a whole chunk is reserved: most traces are small, and reserved memory is cleared.
const MANY_ROWS: usize = 4096;

/// The number of rows to reserve room for.
fn missing(rows: usize) -> usize {
    match rows {
        0..MANY_ROWS => 0,
        _ => room(CHUNK_ROWS).saturating_sub(rows),
    }
}

impl Rows {
    /// The column for values of the next rows, with room for `bytes` bytes each.
    fn columns_of(&mut self, column: usize, rows: usize, bytes: usize) -> Option<&mut RowColumn> {
        let found = self.column(column, rows.saturating_mul(bytes))?;
        found.reserve(missing(found.len()));
        Some(found)
    }

    /// Add numbers of many rows, which [`Sink::append`] ends.
    #[inline]
    pub fn ints(&mut self, column: usize, values: impl ExactSizeIterator<Item = i64> + Clone) {
        if let Some(column) = self.columns_of(column, values.len(), 8) {
            column.ints(values);
        }
    }

    /// Add numbers of many rows, which [`Sink::append`] ends; None is null.
    #[inline]
    pub fn optional(&mut self, column: usize, values: impl ExactSizeIterator<Item = Option<i64>> + Clone) {
        if let Some(column) = self.columns_of(column, values.len(), 8) {
            column.optional(values);
        }
    }

    /// Add texts of many rows, which [`Sink::append`] ends, by the caller's numbers: each must always mean the same
    /// text.
    #[inline]
    pub fn texts<'a>(
        &mut self,
        column: usize,
        numbers: impl ExactSizeIterator<Item = u32>,
        text: impl Fn(u32) -> Option<&'a [u8]>,
    ) {
        if let Some(column) = self.columns_of(column, numbers.len(), 4) {
            column.texts(numbers, text);
        }
    }

    /// Add texts of some of many rows, which [`Sink::append`] ends: the number of rows before each, ascending, and the
    /// text.
    pub fn some_texts<'a>(
        &mut self,
        column: usize,
        rows: usize,
        given: impl Iterator<Item = (usize, &'a [u8])> + Clone,
    ) {
        let bytes: usize = given.clone().map(|(_, text)| text.len() + 4).sum();
        if bytes > 0
            && let Some(column) = self.column(column, bytes)
        {
            column.some_texts(rows, given);
        }
    }
}

impl Sink {
    /// End rows of a table that were added column by column.
    pub fn append(&mut self, table: usize, added: usize) {
        let rows = &mut self.tables[table];
        let before = rows.rows;
        let numbers = self.rows as u32..;
        rows.lines.reserve(missing(before));
        rows.lines.extend(numbers.take(added));
        rows.rows += added;
        self.rows += added;
        if self.timed[table] {
            let whole = |at: usize| rows.columns.get(at).and_then(RowColumn::whole);
            let times = match whole(0) {
                Some(Whole::Wide(times)) => times.get(before..).unwrap_or(&[]),
                _ => &[],
            };
            let known = self.range.unwrap_or((i64::MAX, i64::MIN));
            let range = match self.durations[table].and_then(whole) {
                Some(Whole::Wide(durations)) => span(known, times, durations.get(before..)),
                Some(Whole::Narrow(durations)) => span(known, times, durations.get(before..)),
                None => span::<i32>(known, times, None),
            };
            self.range = (range.0 <= range.1).then_some(range);
        }
        self.crowded |= self.is_crowded();
    }
}

/// The earliest time, and the latest time or end, of the known range and new rows; a missing duration counts as 0.
fn span<T: Copy + Into<i64>>(known: (i64, i64), times: &[i64], durations: Option<&[T]>) -> (i64, i64) {
    let durations = durations.unwrap_or(&[]).iter().map(|one| (*one).into());
    let spans = times.iter().zip(durations.chain(std::iter::repeat(0)));
    spans.fold(known, |range, (time, duration)| {
        let end = time.saturating_add(duration.max(0));
        (range.0.min(*time), range.1.max(end))
    })
}
