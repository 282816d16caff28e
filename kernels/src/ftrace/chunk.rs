//! Convert the decoded part of a chunk into batches of its events, and report the traits of their columns.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, UInt32Array};
use arrow_schema::{ArrowError, Field, Schema};

use super::part::{Part, TIMELESS};
use super::table::{FIXED, LINE, Table};
use crate::columns::Traits;
use crate::input::Checkpoint;
use crate::pfw::names::{self, decoded_name};

/// The rows of one event in one chunk.
pub struct Events {
    pub name: String,
    /// Columns with any values, and the lines.
    pub batch: RecordBatch,
    /// All columns, in the order in which they appear.
    pub columns: Vec<(String, Traits)>,
    /// The event's names as printed, each with its count.
    pub printed: Vec<(String, u64)>,
}

/// The result of decoding a chunk.
pub struct Chunk {
    pub place: Checkpoint,
    pub events: Vec<Events>,
    /// Lines that are not events.
    pub others: Vec<u32>,
    /// Values that were not UTF-8.
    pub invalid: u64,
}

impl Chunk {
    /// Convert the decoded part of a chunk; marks without a time get `timeless`.
    pub fn new(place: Checkpoint, part: Part, timeless: i64) -> Result<Chunk, ArrowError> {
        let mut others = vec![true; usize::try_from(place.lines).unwrap_or_default()];
        for line in part.tables.iter().flat_map(|(_, table)| &table.lines) {
            if let Some(other) = others.get_mut(*line as usize) {
                *other = false;
            }
        }
        let mut chunk = Chunk {
            others: (0_u32..).zip(&others).filter_map(|(line, other)| other.then_some(line)).collect(),
            place,
            events: Vec::with_capacity(part.tables.len()),
            invalid: 0,
        };
        for (name, table) in part.tables {
            let events = events(name, table, timeless, chunk.place.first_line, &mut chunk.invalid)?;
            chunk.events.push(events);
        }
        Ok(chunk)
    }
}

fn events(
    name: Vec<u8>,
    table: Table,
    timeless: i64,
    first_line: u64,
    invalid: &mut u64,
) -> Result<Events, ArrowError> {
    let keyed = table.builder.keys().map(|key| decoded_name(&FIXED, key));
    let names = FIXED.iter().map(|name| (*name).to_owned()).chain(keyed);
    let columns: Vec<(String, Traits)> = names.zip(table.builder.traits()).collect();
    let (batch, bad) = table.builder.finish()?;
    *invalid += bad as u64;
    let mut fields = Vec::with_capacity(columns.len() + 1);
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(columns.len() + 1);
    for (at, ((name, _), array)) in columns.iter().zip(batch.columns()).enumerate() {
        let array = match at {
            0 => timed(array, timeless),
            _ if array.null_count() == array.len() => continue,
            LINE => {
                let first = i64::try_from(first_line).unwrap_or(i64::MAX);
                let line = |line: &u32| first.saturating_add(i64::from(*line)).saturating_add(1);
                Arc::new(Int64Array::from_iter_values(table.lines.iter().map(line)))
            }
            _ => Arc::clone(array),
        };
        fields.push(Field::new(name, array.data_type().clone(), true));
        arrays.push(array);
    }
    let lines: ArrayRef = Arc::new(UInt32Array::from(table.lines));
    fields.push(Field::new(names::LINE, lines.data_type().clone(), false));
    arrays.push(lines);
    let text = |(name, count): (Vec<u8>, u64)| (String::from_utf8_lossy(&name).into_owned(), count);
    Ok(Events {
        name: String::from_utf8_lossy(&name).into_owned(),
        batch: RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?,
        columns,
        printed: table.printed.into_iter().map(text).collect(),
    })
}

fn timed(array: &ArrayRef, timeless: i64) -> ArrayRef {
    match array.as_primitive_opt::<Int64Type>() {
        Some(times) => Arc::new(times.unary::<_, Int64Type>(|time| match time {
            TIMELESS => timeless,
            time => time,
        })),
        None => Arc::clone(array),
    }
}
