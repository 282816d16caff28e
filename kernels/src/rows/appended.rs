//! Many rows of one table at a time: their numbers are claimed, columns get the values of all, then they are appended.

use super::column::Column;
use super::sink::{CHUNK_ROWS, Rows, Sink};

/// Room for the rows of a table that are appended many at a time: chunks have a few more than they should.
const APPENDED_ROWS: usize = CHUNK_ROWS + CHUNK_ROWS / 16;

impl Rows {
    /// The column where values of the rows from the next one on are added, of so many bytes each.
    fn columns_of(&mut self, column: usize, rows: usize, bytes: usize) -> Option<&mut Column> {
        let found = self.column(column, rows.saturating_mul(bytes))?;
        if found.len() == 0 {
            found.reserve(APPENDED_ROWS);
        }
        Some(found)
    }

    /// Add numbers of many rows, which [`Sink::append`] ends.
    #[inline]
    pub fn ints(&mut self, column: usize, values: impl ExactSizeIterator<Item = i64>) {
        if let Some(column) = self.columns_of(column, values.len(), 8) {
            column.ints(values);
        }
    }

    /// Add numbers of many rows, which [`Sink::append`] ends; None is null.
    #[inline]
    pub fn optional(
        &mut self,
        column: usize,
        values: impl ExactSizeIterator<Item = Option<i64>> + Clone,
    ) {
        if let Some(column) = self.columns_of(column, values.len(), 8) {
            column.optional(values);
        }
    }

    /// Add texts of many rows, which [`Sink::append`] ends, by the caller's numbers: each must always mean the same text.
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

    /// Add a value to one of the rows that [`Sink::append`] ends next: the one behind so many of them.
    pub fn text_of(&mut self, column: usize, ahead: usize, value: &[u8]) {
        self.bytes += value.len() + 4;
        let row = self.rows + ahead;
        if let Some(column) = self.columns.get_mut(column) {
            column.pad(row);
            if column.len() == row {
                column.text(value);
            }
        }
    }
}

impl Sink {
    /// Take the number of a row that will be appended in this chunk.
    #[inline]
    pub fn claim(&mut self) -> u32 {
        let number = self.rows as u32;
        self.rows += 1;
        number
    }

    /// End rows of a table that were added column by column; `numbers` were claimed for them, in order.
    pub fn append(&mut self, table: usize, numbers: impl Iterator<Item = u32>) {
        let rows = &mut self.tables[table];
        let before = rows.rows;
        if before == 0 {
            rows.lines.reserve(APPENDED_ROWS);
        }
        rows.lines.extend(numbers);
        rows.rows = rows.lines.len();
        if self.timed[table] {
            let new = |at: usize| {
                rows.columns
                    .get(at)
                    .map_or(&[][..], |one| one.ints_from(before))
            };
            let durations = self.durations[table].map_or(&[][..], new);
            let none = std::iter::repeat(&0);
            let spans = new(0).iter().zip(durations.iter().chain(none));
            let range = spans.fold(self.range.unwrap_or((i64::MAX, i64::MIN)), |range, one| {
                let end = one.0.saturating_add((*one.1).max(0));
                (range.0.min(*one.0), range.1.max(end))
            });
            self.range = (range.0 <= range.1).then_some(range);
        }
        self.crowded |= self.is_crowded();
    }
}
