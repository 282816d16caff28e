//! The destination of a decoder's rows: tables by name, emptied at the end of each chunk.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, UInt32Array};
use arrow_schema::{ArrowError, Field, Schema};
use rustc_hash::FxHashMap;

use super::column::RowColumn;
use super::far::Window;
use super::{ColumnSpec, TableSpec, Type};
use crate::pfw::names::LINE;

/// Rows and bytes of values that end a chunk.
pub(super) const CHUNK_ROWS: usize = 1 << 16;
const CHUNK_BYTES: usize = 24 << 20;

/// The number of rows to reserve, after a chunk of `rows`: chunks rarely have equal sizes.
pub(super) fn room(rows: usize) -> usize {
    rows + rows / 16
}

/// The name of the first column of tables of events.
pub(super) const TS: &str = "_ts";

/// The rows of one table since the last chunk.
///
/// For each row: one value into some columns, then [`Sink::end`]; columns without a value are null there.
pub struct Rows {
    pub(super) columns: Vec<RowColumn>,
    pub(super) rows: usize,
    /// Numbers of the rows among all rows of the chunk.
    pub(super) lines: Vec<u32>,
    pub(super) bytes: usize,
}

impl Rows {
    fn new(columns: &[ColumnSpec]) -> Rows {
        Rows {
            columns: columns.iter().map(|one| RowColumn::new(one.kind, 0)).collect(),
            rows: 0,
            lines: Vec::new(),
            bytes: 0,
        }
    }

    /// Empty rows of the same columns: chunks are similar, so room for as many is reserved.
    fn next(&self, columns: &[ColumnSpec]) -> Rows {
        let columns = columns.iter().zip(&self.columns);
        Rows {
            columns: columns.map(|(one, before)| before.next(one.kind)).collect(),
            rows: 0,
            lines: Vec::with_capacity(room(self.rows)),
            bytes: 0,
        }
    }

    #[inline]
    pub(super) fn column(&mut self, column: usize, bytes: usize) -> Option<&mut RowColumn> {
        self.bytes += bytes;
        let rows = self.rows;
        let found = self.columns.get_mut(column)?;
        if found.len() < rows {
            found.pad(rows);
        }
        // The first value of a row counts: a decoder that finds a field twice keeps both in JSON or as raw.
        (found.len() == rows).then_some(found)
    }

    #[inline]
    pub fn int(&mut self, column: usize, value: i64) {
        if let Some(column) = self.column(column, 8) {
            column.int(value);
        }
    }

    #[inline]
    pub fn uint(&mut self, column: usize, value: u64) {
        if let Some(column) = self.column(column, 8) {
            column.uint(value);
        }
    }

    #[inline]
    pub fn float(&mut self, column: usize, value: f64) {
        if let Some(column) = self.column(column, 8) {
            column.float(value);
        }
    }

    #[inline]
    pub fn bool(&mut self, column: usize, value: bool) {
        if let Some(column) = self.column(column, 1) {
            column.bool(value);
        }
    }

    #[inline]
    pub fn text(&mut self, column: usize, value: &[u8]) {
        if let Some(column) = self.column(column, value.len() + 4) {
            column.text(value);
        }
    }

    /// Add a text, and assign a number to it in this column for the rest of the chunk.
    #[inline]
    pub fn numbered<T: AsRef<[u8]>>(&mut self, column: usize, number: usize, text: impl FnOnce() -> T) {
        if let Some(column) = self.column(column, 4) {
            column.numbered(number, text);
        }
    }

    /// One batch of all rows, with their numbers as the last column if they are events.
    pub fn finish(mut self, spec: &[ColumnSpec], invalid: &mut usize) -> Result<RecordBatch, ArrowError> {
        let mut fields = Vec::with_capacity(spec.len() + 1);
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(spec.len() + 1);
        for (column, spec) in self.columns.drain(..).zip(spec) {
            let array = column.finish(self.rows, invalid)?;
            fields.push(Field::new(&spec.name, array.data_type().clone(), true));
            arrays.push(array);
        }
        let lines: ArrayRef = Arc::new(UInt32Array::from(self.lines));
        fields.push(Field::new(LINE, lines.data_type().clone(), false));
        arrays.push(lines);
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
    }
}

/// All tables of a trace.
#[derive(Default)]
pub struct Sink {
    specs: Vec<TableSpec>,
    pub(super) durations: Vec<Option<usize>>,
    /// Whether the first column is `_ts`.
    pub(super) timed: Vec<bool>,
    /// Whether the rows do not extend the trace.
    beside: Vec<bool>,
    names: FxHashMap<String, usize>,
    pub(super) tables: Vec<Rows>,
    pub(super) rows: usize,
    /// Whether a chunk's worth of bytes was appended.
    pub(super) crowded: bool,
    /// The earliest time, and the latest time or end, in absolute ns, of the rows since the last chunk.
    pub(super) range: Option<(i64, i64)>,
    /// The same for earlier chunks.
    before: Option<(i64, i64)>,
    /// The range of possible times, known from the first chunk that has any.
    window: Option<Window>,
}

/// The rows of one table in a chunk.
pub struct Taken {
    pub name: String,
    pub columns: Vec<ColumnSpec>,
    pub rows: Rows,
    /// Set if rows are to be dropped because of their times, with the column of durations.
    pub window: Option<(Window, Option<usize>)>,
}

impl Sink {
    /// The number of a table; `spec` is called if it is new.
    pub fn table(&mut self, name: &str, spec: impl FnOnce() -> TableSpec) -> usize {
        if let Some(table) = self.names.get(name) {
            return *table;
        }
        let spec = spec();
        let first = spec.columns.first();
        self.timed.push(first.is_some_and(|one| one.name == TS));
        self.beside.push(false);
        self.names.insert(name.to_owned(), self.specs.len());
        self.tables.push(Rows::new(&spec.columns));
        self.durations.push(spec.columns.iter().position(|one| one.name == "dur"));
        self.specs.push(spec);
        self.specs.len() - 1
    }

    /// Exclude the rows of a table from the range of the trace, since they are about the recorder itself.
    pub fn beside(&mut self, table: usize) {
        self.beside[table] = true;
    }

    /// The number of a column, which is added if there is none with this name and type.
    ///
    /// A name with values of several types gets a column for each: `x`, then `x_text`. One that differs from another's
    /// only in case, which SQL ignores, becomes `field_x`.
    pub fn column(&mut self, table: usize, wanted: &ColumnSpec) -> usize {
        let Some(spec) = self.specs.get_mut(table) else {
            return usize::MAX;
        };
        let mut name = wanted.name.clone();
        while let Some(at) = spec.columns.iter().position(|one| one.name.eq_ignore_ascii_case(&name)) {
            let found = &spec.columns[at];
            if found.name != name {
                name.insert_str(0, "field_");
            } else if found.kind == wanted.kind {
                return at;
            } else {
                name = format!("{name}_{}", wanted.kind.name());
            }
        }
        spec.columns.push(ColumnSpec { name, ..wanted.clone() });
        self.tables[table].columns.push(RowColumn::new(wanted.kind, 0));
        spec.columns.len() - 1
    }

    /// The rows of a table; an invalid number is a fault of the caller.
    #[inline]
    pub fn rows(&mut self, table: usize) -> &mut Rows {
        &mut self.tables[table]
    }

    pub fn spec(&self, table: usize) -> &TableSpec {
        &self.specs[table]
    }

    /// Remove the values of a row that will not be ended.
    pub fn forget(&mut self, table: usize) {
        let rows = &mut self.tables[table];
        for column in &mut rows.columns {
            column.truncate(rows.rows);
        }
    }

    /// End a row of a table.
    #[inline]
    pub fn end(&mut self, table: usize) {
        let event = self.timed[table];
        let rows = &mut self.tables[table];
        rows.rows += 1;
        rows.lines.push(self.rows as u32);
        self.rows += 1;
        if !event {
            return;
        }
        let count = rows.rows;
        let last = |at: usize| rows.columns.get(at)?.ints().get(count - 1).copied();
        if let Some(ts) = last(0) {
            let dur = self.durations[table].and_then(last);
            let end = ts.saturating_add(dur.unwrap_or(0).max(0));
            self.range = Some(match self.range {
                None => (ts, end),
                Some((first, last)) if self.beside[table] => (first.min(ts), last),
                Some((first, last)) => (first.min(ts), last.max(end)),
            });
        }
    }

    pub(super) fn is_crowded(&self) -> bool {
        self.tables.iter().map(|one| one.bytes).sum::<usize>() >= CHUNK_BYTES
    }

    /// Whether there are enough rows for a chunk.
    #[inline]
    pub fn full(&self) -> bool {
        self.rows >= CHUNK_ROWS || self.crowded || self.rows & 1023 == 0 && self.is_crowded()
    }

    /// The number of rows since the last chunk.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// The earliest time, and the latest time or end, in absolute ns, of all rows with possible times.
    pub fn range(&mut self) -> Option<(i64, i64)> {
        let now = match (self.range, self.window()) {
            (Some(range), Some(window)) if !window.covers(range) => window.range(self.times()),
            (Some(_), None) => None,
            (range, _) => range,
        };
        match (self.before, now) {
            (Some(one), Some(other)) => Some((one.0.min(other.0), one.1.max(other.1))),
            (one, other) => one.or(other),
        }
    }

    /// Times and durations of the rows since the last chunk; a missing duration counts as 0.
    fn times(&self) -> impl Iterator<Item = (i64, i64)> + '_ {
        let tables = self.tables.iter().zip(&self.timed).zip(&self.durations);
        let timed = tables.filter(|((_, timed), _)| **timed);
        timed.flat_map(|((rows, _), durations)| {
            let ints = |at: usize| rows.columns.get(at).map_or(&[][..], RowColumn::ints);
            let lengths = durations.map_or(&[][..], ints);
            ints(0).iter().copied().zip(lengths.iter().copied().chain(std::iter::repeat(0)))
        })
    }

    /// The range of possible times; None before there is a row, or while no row has a possible time.
    fn window(&mut self) -> Option<Window> {
        if self.window.is_none() && self.range.is_some() {
            self.window = Window::around(self.times().map(|(time, _)| time));
        }
        self.window
    }

    pub fn specs(&self) -> &[TableSpec] {
        &self.specs
    }

    /// Remove and return the rows of a chunk.
    pub fn take(&mut self) -> Vec<Taken> {
        self.before = self.range();
        let all = self.range.take();
        let window = self.window.unwrap_or_default();
        let far = all.is_some_and(|range| !window.covers(range));
        self.rows = 0;
        self.crowded = false;
        let mut taken = Vec::new();
        let tables = self.specs.iter().zip(&mut self.tables);
        let known = self.timed.iter().zip(&self.durations);
        for ((spec, rows), (timed, durations)) in tables.zip(known) {
            if rows.rows > 0 {
                let next = rows.next(&spec.columns);
                let rows = std::mem::replace(rows, next);
                taken.push(Taken {
                    name: spec.name.clone(),
                    columns: spec.columns.clone(),
                    rows,
                    window: (far && *timed).then_some((window, *durations)),
                });
            }
        }
        taken
    }
}

impl TableSpec {
    /// Whether rows of the table are raw events.
    pub fn is_event(&self) -> bool {
        self.name.starts_with("raw_events.")
    }

    /// A column's number.
    pub fn find(&self, name: &str, kind: Type) -> Option<usize> {
        self.columns.iter().position(|one| one.name == name && one.kind == kind)
    }
}
