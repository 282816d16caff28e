//! Appending many rows to one table: columns get all values, then the rows are ended.

use super::column::RowColumn;
use super::sink::{Rows, Sink};

impl Rows {
    /// Add numbers of many rows, which [`Sink::append`] ends, to one column.
    #[inline]
    pub fn ints(&mut self, column: usize, values: impl Iterator<Item = i64>) {
        let rows = self.rows;
        if let Some(column) = self.columns.get_mut(column) {
            column.pad(rows);
            column.extend(values);
        }
    }

    /// Add values of some of many rows, which [`Sink::append`] ends, to one column: `add` adds one, None is null.
    #[inline]
    pub fn each<T>(&mut self, column: usize, values: impl Iterator<Item = Option<T>>, add: impl Fn(&mut RowColumn, T)) {
        let rows = self.rows;
        let Some(column) = self.columns.get_mut(column) else {
            return;
        };
        for (row, value) in (rows..).zip(values) {
            if let Some(value) = value {
                column.pad(row);
                add(column, value);
            }
        }
    }
}

impl Sink {
    /// End rows of a table that were added column by column, with values of `bytes` bytes in all.
    pub fn append(&mut self, table: usize, added: usize, bytes: usize) {
        let rows = &mut self.tables[table];
        let before = rows.rows;
        rows.lines.extend((self.rows as u32..).take(added));
        rows.rows += added;
        rows.bytes += bytes;
        self.rows += added;
        if self.timed[table] {
            let new = |at: usize| rows.columns.get(at).and_then(|column| column.ints().get(before..)).unwrap_or(&[]);
            let lengths = self.durations[table].map_or(&[][..], new);
            let spans = new(0).iter().zip(lengths.iter().chain(std::iter::repeat(&0)));
            self.range = spans.fold(self.range, |range, (time, length)| {
                let end = time.saturating_add(*length.max(&0));
                let (first, last) = range.unwrap_or((*time, end));
                Some((first.min(*time), last.max(end)))
            });
        }
        self.crowded |= self.is_crowded();
    }
}
