//! Decoded blocks of all files -> one table for each event, with time from the trace's first event.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, new_null_array};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use rustc_hash::FxHashMap;

use super::block::{Block, TIMELESS};
use super::table::{LINE, Table};
use crate::columns::{TableBuilder, unify};

/// How many different events of a trace get tables.
const TABLE_LIMIT: usize = 10_000;

/// One event's table.
pub struct Finished {
    pub name: String,
    pub schema: SchemaRef,
    pub batches: Vec<RecordBatch>,
    /// Whether the rows are not in the order of time.
    pub unsorted: bool,
    /// The names as printed, each with how often.
    pub printed: Vec<(String, u64)>,
}

/// The tables of a trace and what is known of them together.
pub struct Trace {
    pub tables: Vec<Finished>,
    pub start: i64,
    pub last: i64,
    /// Values that were not UTF-8.
    pub invalid: usize,
    /// Events whose table would have been one too many.
    pub left_out: u64,
}

#[derive(Default)]
struct Gathered {
    builders: Vec<TableBuilder>,
    /// How many lines were before each builder's block.
    before: Vec<i64>,
    printed: Vec<(Vec<u8>, u64)>,
    unsorted: bool,
    last: Option<i64>,
}

impl Gathered {
    fn add(&mut self, table: Table, before: i64) {
        self.unsorted |= table.unsorted || self.last.is_some_and(|last| table.first_ts < last);
        self.last = Some(table.last_ts);
        for (name, count) in table.printed {
            match self.printed.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += count,
                None => self.printed.push((name, count)),
            }
        }
        self.builders.push(table.builder);
        self.before.push(before);
    }
}

/// Bring the tables of all blocks together, in the order of the blocks.
pub fn finish(blocks: Vec<Block>) -> Result<Trace, ArrowError> {
    let start = blocks.iter().map(|b| b.start).min().unwrap_or(i64::MAX);
    let last = blocks.iter().map(|b| b.last).max().unwrap_or(i64::MIN);
    let (start, last) = if start > last { (0, 0) } else { (start, last) };
    let mut trace = Trace { tables: Vec::new(), start, last: last - start, invalid: 0, left_out: 0 };
    let mut names: Vec<Vec<u8>> = Vec::new();
    let mut index: FxHashMap<Vec<u8>, usize> = FxHashMap::default();
    let mut gathered: Vec<Gathered> = Vec::new();
    let mut lines = 0i64;
    let numbered = blocks.into_iter().flat_map(|block| {
        let before = lines;
        lines = lines.saturating_add_unsigned(block.lines);
        block.tables.into_iter().map(move |(name, table)| (name, table, before))
    });
    for (name, table, before) in numbered {
        let place = match index.get(&name) {
            Some(&place) => place,
            None if names.len() >= TABLE_LIMIT => {
                trace.left_out += table.builder.rows() as u64;
                continue;
            }
            None => {
                index.insert(name.clone(), names.len());
                names.push(name);
                gathered.push(Gathered::default());
                gathered.len() - 1
            }
        };
        gathered[place].add(table, before);
    }
    for (name, parts) in names.iter().zip(gathered) {
        let (batches, invalid) = unify(parts.builders)?;
        trace.invalid += invalid;
        let batches = batches
            .into_iter()
            .zip(parts.before)
            .map(|(batch, before)| placed(batch, start, before))
            .collect::<Result<Vec<_>, _>>()?;
        let Some(first) = batches.first() else {
            continue;
        };
        trace.tables.push(Finished {
            name: text(name),
            schema: first.schema(),
            batches,
            unsorted: parts.unsorted,
            printed: parts.printed.iter().map(|(name, count)| (text(name), *count)).collect(),
        });
    }
    Ok(trace)
}

/// Count time from the trace's start and lines from that of its text.
fn placed(batch: RecordBatch, start: i64, before: i64) -> Result<RecordBatch, ArrowError> {
    let (schema, mut columns, _) = batch.into_parts();
    change(&mut columns, 0, |ts| match ts {
        TIMELESS => 0,
        _ => ts.saturating_sub(start),
    });
    change(&mut columns, LINE, |line| line.saturating_add(before));
    RecordBatch::try_new(schema, columns)
}

/// Change the numbers of a column in place.
fn change(columns: &mut [ArrayRef], index: usize, moved: impl Fn(i64) -> i64) {
    let Some(column) = columns.get_mut(index) else {
        return;
    };
    if let Some(numbers) = column.as_primitive_opt::<Int64Type>().cloned() {
        *column = new_null_array(&DataType::Int64, 0);
        let array: Int64Array = numbers.unary_mut(&moved).unwrap_or_else(|shared| shared.unary(&moved));
        *column = Arc::new(array);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
