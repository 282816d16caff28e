//! Collect cells into columns.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};

use super::cells::Cell;
use super::levels::Level;

pub const SLICES: [&str; 7] = ["lane", "_ts", "_duration", "count", "row", "total", "longest"];
pub const STATES: [&str; 9] = ["lane", "_ts", "_duration", "count", "row", "total", "longest", "state", "filled"];
pub const LEVELS: [&str; 5] = ["lane", "_ts", "_duration", "count", "row"];
const VALUES: [&str; 4] = ["min", "max", "last", "mean"];

/// Columns to append cells to.
pub struct Columns {
    names: &'static [&'static str],
    numbers: Vec<Vec<i64>>,
    /// The four values of counters, where they are known.
    values: [Vec<Option<f64>>; 4],
    /// A cell with a length that does not fit into a duration.
    endless: Option<(i64, i64)>,
}

impl Columns {
    pub fn new(names: &'static [&'static str]) -> Columns {
        Columns { names, numbers: vec![Vec::new(); names.len()], values: Default::default(), endless: None }
    }

    fn put(&mut self, from: usize, numbers: &[i64]) {
        for (column, number) in self.numbers[from..].iter_mut().zip(numbers) {
            column.push(*number);
        }
    }

    fn length(&mut self, begin: i64, end: i64) -> i64 {
        end.checked_sub(begin).unwrap_or_else(|| {
            self.endless = Some((begin, end));
            0
        })
    }

    /// Append a cell with the three numbers of `Slices`.
    pub fn cell(&mut self, lane: usize, offset: usize, cell: Cell, sum: &[u64]) {
        let length = self.length(cell.begin, cell.end);
        let numbers = [
            lane as i64,
            cell.begin,
            length,
            (cell.behind - cell.first) as i64,
            (sum[1] + offset as u64).cast_signed(),
            // At most the length, since spans do not overlap.
            sum[2].cast_signed(),
            (sum[0] - 1).cast_signed(),
        ];
        self.put(0, &numbers);
    }

    /// Append to the columns after those of `Slices`.
    pub fn more(&mut self, numbers: &[i64]) {
        self.put(SLICES.len(), numbers);
    }

    /// Append the values of a counter.
    pub fn level(&mut self, lane: usize, offset: usize, level: &Level) {
        let length = self.length(level.begin, level.end);
        let numbers = [lane as i64, level.begin, length, level.count as i64, (level.row + offset) as i64];
        self.put(0, &numbers);
        for (number, column) in self.values.iter_mut().enumerate() {
            column.push(level.values.map(|values| values[number]));
        }
    }

    pub fn batch(self) -> Result<RecordBatch, String> {
        if let Some((begin, end)) = self.endless {
            return Err(format!("a cell from {begin} to {end} is longer than a duration can say"));
        }
        let mut fields = Vec::new();
        let mut columns: Vec<ArrayRef> = Vec::new();
        for (name, column) in self.names.iter().zip(self.numbers) {
            fields.push(Field::new(*name, DataType::Int64, false));
            columns.push(Arc::new(Int64Array::from(column)));
        }
        if self.names == LEVELS {
            for (name, column) in VALUES.iter().zip(self.values) {
                fields.push(Field::new(*name, DataType::Float64, true));
                columns.push(Arc::new(Float64Array::from(column)));
            }
        }
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns);
        batch.map_err(|error| error.to_string())
    }
}
