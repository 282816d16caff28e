//! The decoded blocks of one chunk -> its events as batches, and what is known of their columns.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, UInt32Array};
use arrow_schema::{ArrowError, Field, Schema};
use arrow_select::concat::concat;
use rustc_hash::FxHashMap;

use super::block::{Block, TIMELESS};
use super::table::{FIXED, LINE, Table};
use crate::access::Checkpoint;
use crate::columns::{Kind, Traits, unify};
use crate::pfw::names::{self, decoded_name};

/// The rows of one event in one chunk.
pub struct Events {
    pub name: String,
    /// Columns that have some value, and the lines.
    pub batch: RecordBatch,
    /// All columns, in the order in which they appear.
    pub columns: Vec<(String, Traits)>,
    /// The event's names as printed, each with how often.
    pub printed: Vec<(String, u64)>,
}

/// What was decoded of one chunk.
pub struct Chunk {
    pub place: Checkpoint,
    pub events: Vec<Events>,
    /// Lines that are no events.
    pub others: Vec<u32>,
    /// Values that were not UTF-8.
    pub invalid: u64,
}

#[derive(Default)]
struct Gathered {
    name: Vec<u8>,
    tables: Vec<Table>,
    lines: Vec<u32>,
}

/// Bring the blocks of a chunk together; marks without a time get `timeless`.
pub fn gather(place: Checkpoint, blocks: Vec<Block>, timeless: i64) -> Result<Chunk, ArrowError> {
    let mut index: FxHashMap<Vec<u8>, usize> = FxHashMap::default();
    let mut gathered: Vec<Gathered> = Vec::new();
    let mut before = 0_u32;
    for block in blocks {
        for (name, mut table) in block.tables {
            let at = *index.entry(name.clone()).or_insert_with(|| {
                gathered.push(Gathered { name, ..Gathered::default() });
                gathered.len() - 1
            });
            let found = &mut gathered[at];
            let lines = std::mem::take(&mut table.lines);
            found.lines.extend(lines.iter().map(|line| line.saturating_add(before)));
            found.tables.push(table);
        }
        before = before.saturating_add(u32::try_from(block.lines).unwrap_or(u32::MAX));
    }
    let mut others = vec![true; usize::try_from(place.lines).unwrap_or_default()];
    for line in gathered.iter().flat_map(|found| &found.lines) {
        if let Some(other) = others.get_mut(*line as usize) {
            *other = false;
        }
    }
    let mut chunk = Chunk {
        others: (0_u32..).zip(&others).filter_map(|(line, other)| other.then_some(line)).collect(),
        place,
        events: Vec::with_capacity(gathered.len()),
        invalid: 0,
    };
    for found in gathered {
        let events = events(found, timeless, chunk.place.first_line, &mut chunk.invalid)?;
        chunk.events.push(events);
    }
    Ok(chunk)
}

fn events(found: Gathered, timeless: i64, first_line: u64, invalid: &mut u64) -> Result<Events, ArrowError> {
    let columns = columns(&found.tables);
    let printed = printed(&found.tables);
    let builders = found.tables.into_iter().map(|table| table.builder);
    let (batches, bad) = unify(builders.collect())?;
    *invalid += bad as u64;
    let mut fields = Vec::with_capacity(columns.len() + 1);
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(columns.len() + 1);
    for (at, (name, _)) in columns.iter().enumerate() {
        let parts: Vec<&dyn Array> =
            batches.iter().filter_map(|batch| Some(batch.columns().get(at)?.as_ref())).collect();
        let mut array = concat(&parts)?;
        if at == 0 {
            array = timed(&array, timeless);
        }
        if array.null_count() == array.len() {
            continue;
        }
        if at == LINE {
            let first = i64::try_from(first_line).unwrap_or(i64::MAX);
            let line = |line: &u32| first.saturating_add(i64::from(*line)).saturating_add(1);
            array = Arc::new(Int64Array::from_iter_values(found.lines.iter().map(line)));
        }
        fields.push(Field::new(name, array.data_type().clone(), true));
        arrays.push(array);
    }
    let lines: ArrayRef = Arc::new(UInt32Array::from(found.lines));
    fields.push(Field::new(names::LINE, lines.data_type().clone(), false));
    arrays.push(lines);
    Ok(Events {
        name: String::from_utf8_lossy(&found.name).into_owned(),
        batch: RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?,
        columns,
        printed,
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

/// The columns of all tables in the order of `unify`, with what is known of their types.
fn columns(tables: &[Table]) -> Vec<(String, Traits)> {
    let none = Traits { kind: Kind::Empty, negative: false, inexact: false };
    let mut found: Vec<(String, Traits)> = FIXED.iter().map(|name| ((*name).to_owned(), none)).collect();
    let mut index: FxHashMap<Vec<u8>, usize> = FxHashMap::default();
    for table in tables {
        let keys = table.builder.keys().map(|key| {
            *index.entry(key.to_vec()).or_insert_with(|| {
                found.push((decoded_name(&FIXED, key), none));
                found.len() - 1
            })
        });
        let places: Vec<usize> = keys.collect();
        let places = (0..FIXED.len()).chain(places);
        for (place, traits) in places.zip(table.builder.traits()) {
            found[place].1 = found[place].1.with(traits);
        }
    }
    found
}

fn printed(tables: &[Table]) -> Vec<(String, u64)> {
    let mut printed: Vec<(Vec<u8>, u64)> = Vec::new();
    for (name, count) in tables.iter().flat_map(|table| &table.printed) {
        match printed.iter_mut().find(|(known, _)| known == name) {
            Some((_, sum)) => *sum += count,
            None => printed.push((name.clone(), *count)),
        }
    }
    let text = |(name, count): (Vec<u8>, u64)| (String::from_utf8_lossy(&name).into_owned(), count);
    printed.into_iter().map(text).collect()
}
