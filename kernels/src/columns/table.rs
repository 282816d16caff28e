//! Collect rows with named values into columns, in order of first appearance.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, Field, Schema};
use rustc_hash::FxHashMap;

use super::column::{DecodedColumn, Kind, Traits};
use super::strings::Interner;

/// Types of columns known from the start; those of values found later still widen them.
#[derive(Clone, Default)]
pub struct Expected {
    pub fixed: Vec<Kind>,
    pub keyed: FxHashMap<Vec<u8>, Kind>,
}

/// A growing table.
///
/// For each row: find columns with `column`, push one value into some of them, then `end_row`. Columns without a value
/// in a row are null there; the last value pushed into one counts.
pub struct TableBuilder {
    fixed: Vec<&'static str>,
    keys: Interner,
    columns: Vec<DecodedColumn>,
    /// The column after each column in the row before.
    after: Vec<usize>,
    previous: usize,
    rows: usize,
    expected: Arc<Expected>,
}

impl TableBuilder {
    /// A table that begins with `fixed` columns, addressed by their index only: `column` never finds them.
    pub fn new(fixed: &[&'static str]) -> TableBuilder {
        TableBuilder {
            fixed: fixed.to_vec(),
            keys: Interner::default(),
            columns: fixed.iter().map(|_| DecodedColumn::new()).collect(),
            after: vec![usize::MAX; fixed.len() + 1],
            previous: fixed.len(),
            rows: 0,
            expected: Arc::default(),
        }
    }

    /// The same, with types of columns known from the start.
    pub fn expecting(fixed: &[&'static str], expected: Arc<Expected>) -> TableBuilder {
        let mut table = TableBuilder::new(fixed);
        for (column, kind) in table.columns.iter_mut().zip(&expected.fixed) {
            column.promote(*kind);
        }
        table.expected = expected;
        table
    }

    /// The names of the columns that were not given at the start, in order.
    pub fn keys(&self) -> impl Iterator<Item = &[u8]> {
        self.keys.iter()
    }

    /// The traits of all columns.
    pub fn traits(&self) -> impl Iterator<Item = Traits> {
        self.columns.iter().map(DecodedColumn::traits)
    }

    /// The number of complete rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The index of the column with this name, which is added if it is new.
    #[inline]
    pub fn column(&mut self, key: &[u8]) -> usize {
        // `after` has one entry before the first keyed column: the start of the row.
        let base = self.fixed.len();
        let guess = self.after[self.previous];
        let found = if guess < self.columns.len() && self.keys.get(guess - base) == key {
            guess
        } else {
            let found = base + self.keys.intern(key);
            if found == self.columns.len() {
                let mut column = DecodedColumn::new();
                if let Some(kind) = self.expected.keyed.get(key) {
                    column.promote(*kind);
                }
                self.columns.push(column);
                self.after.push(usize::MAX);
            }
            self.after[self.previous] = found;
            found
        };
        self.previous = found + 1;
        found
    }

    #[inline]
    pub fn push_i64(&mut self, column: usize, value: i64) {
        self.columns[column].push_i64(self.rows, value);
    }

    pub fn push_u64(&mut self, column: usize, value: u64) {
        self.columns[column].push_u64(self.rows, value);
    }

    /// Push a float; `text` is its written form, kept in case texts are found in the same column.
    pub fn push_f64(&mut self, column: usize, value: f64, text: &[u8]) {
        self.columns[column].push_f64(self.rows, value, text);
    }

    pub fn push_bool(&mut self, column: usize, value: bool) {
        self.columns[column].push_bool(self.rows, value);
    }

    /// Push a text; invalid UTF-8 in it becomes U+FFFD when the table is finished.
    #[inline]
    pub fn push_str(&mut self, column: usize, value: &[u8]) {
        self.columns[column].push_bytes(self.rows, value);
    }

    /// Make the current row null in this column, whatever was pushed before.
    pub fn clear(&mut self, column: usize) {
        self.columns[column].pad(self.rows);
    }

    /// Whether the current row has a value in this column.
    pub fn is_set(&self, column: usize) -> bool {
        self.columns[column].nulls.len() > self.rows
    }

    pub fn end_row(&mut self) {
        self.rows += 1;
        self.previous = self.fixed.len();
    }

    /// The table as a batch, its keyed columns in order of first appearance, and the number of texts that were not
    /// UTF-8.
    pub fn finish(self) -> Result<(RecordBatch, usize), ArrowError> {
        let rows = self.rows();
        let keyed = self.keys().map(column_name);
        let names: Vec<String> = self.fixed.iter().map(|name| (*name).to_owned()).chain(keyed).collect();
        let mut invalid = 0;
        let mut fields = Vec::with_capacity(names.len());
        let mut arrays = Vec::with_capacity(names.len());
        for (name, mut column) in names.into_iter().zip(self.columns) {
            if column.traits().kind == Kind::Empty {
                column.promote(Kind::Text);
            }
            column.pad(rows);
            let array = column.values.finish(rows, column.nulls.finish(), &mut invalid)?;
            fields.push(Field::new(name, array.data_type().clone(), true));
            arrays.push(array);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)?;
        Ok((batch, invalid))
    }
}

/// The name of a key's column, with U+FFFD for what no name has: bytes that are not UTF-8, and zeros, where Arrow's
/// interface ends a name.
pub fn column_name(key: &[u8]) -> String {
    String::from_utf8_lossy(key).replace('\0', "\u{FFFD}")
}
