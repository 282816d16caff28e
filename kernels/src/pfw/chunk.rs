//! Decode the text of one chunk into columns of events, with times in the file's unit, and its lines' other content.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::ArrowError;

use super::decode::{Counts, EVENT_COLUMNS, EventTable, HashRecord, METADATA_COLUMNS, Part, is_hash};
use super::hashes::{Texts, resolution};
use super::names::decoded_name;
use super::report::Report;
use super::tables::is_text;
use crate::columns::{Interner, TableBuilder, Traits};
use crate::input::Checkpoint;

/// Numbers of rows by hash: without a text beside it, and with a value beside it that is not a text in this chunk.
#[derive(Default)]
pub struct Seen {
    hashes: Interner,
    counts: Vec<[u64; 2]>,
}

impl Seen {
    fn add(&mut self, hash: &[u8], counts: [u64; 2]) {
        match self.counts.get_mut(self.hashes.intern(hash)) {
            Some(known) => {
                known[0] += counts[0];
                known[1] += counts[1];
            }
            None => self.counts.push(counts),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u64; 2])> {
        self.hashes.iter().zip(&self.counts)
    }
}

/// The rows of one table in one chunk.
pub struct Decoded {
    pub name: String,
    /// Names of the columns.
    pub names: Vec<String>,
    pub traits: Vec<Traits>,
    pub batch: RecordBatch,
    pub lines: Vec<u32>,
    /// Texts that are not UTF-8.
    pub invalid: u64,
    /// Hashes in the columns that have any.
    pub seen: Vec<(usize, Seen)>,
}

/// The result of decoding a chunk.
pub struct Chunk {
    pub checkpoint: Checkpoint,
    pub tables: Vec<Decoded>,
    pub metadata: Option<Decoded>,
    pub hashes: Vec<HashRecord>,
    pub units: Vec<Vec<u8>>,
    pub counts: Counts,
    pub report: Report,
    pub other_lines: BTreeMap<String, Vec<u32>>,
}

impl Chunk {
    pub fn new(checkpoint: Checkpoint, part: Part) -> Result<Chunk, ArrowError> {
        let tables = part.events.into_iter().enumerate().map(|(id, events)| {
            let name = String::from_utf8_lossy(part.names.get(id)).into_owned();
            Decoded::of_events(name, events)
        });
        let tables = tables.collect::<Result<_, _>>()?;
        let metadata = match part.metadata.rows() {
            0 => None,
            _ => Some(Decoded::new("metadata".to_owned(), part.metadata, &METADATA_COLUMNS)?),
        };
        Ok(Chunk {
            checkpoint,
            tables,
            metadata,
            hashes: part.hashes,
            units: part.units,
            counts: part.counts,
            report: part.report,
            other_lines: part.other_lines,
        })
    }
}

impl Decoded {
    fn new(name: String, table: TableBuilder, fixed: &[&'static str]) -> Result<Decoded, ArrowError> {
        let keyed = table.keys().map(|key| decoded_name(fixed, key));
        let names: Vec<String> = fixed.iter().map(|name| (*name).to_owned()).chain(keyed).collect();
        let traits = table.traits().collect();
        let (batch, invalid) = table.finish()?;
        Ok(Decoded { name, names, traits, batch, lines: Vec::new(), invalid: invalid as u64, seen: Vec::new() })
    }

    fn of_events(name: String, events: EventTable) -> Result<Decoded, ArrowError> {
        let mut decoded = Decoded::new(name, events.table, &EVENT_COLUMNS)?;
        decoded.lines = events.lines;
        decoded.seen = decoded.hashes();
        Ok(decoded)
    }

    fn hashes(&self) -> Vec<(usize, Seen)> {
        let fixed = EVENT_COLUMNS.len();
        let schema = self.batch.schema();
        let names = || schema.fields().iter().map(|field| field.name().as_str());
        names()
            .enumerate()
            .skip(fixed)
            .filter(|(_, name)| is_hash(name.as_bytes()))
            .filter_map(|(index, name)| {
                let (_, text) = resolution(name)?;
                let beside = names().skip(fixed).position(|other| other == text);
                let beside = beside.map(|place| self.batch.column(fixed + place));
                Some((index, seen(self.batch.column(index), beside)?))
            })
            .collect()
    }
}

/// Count the hashes of a column; None if it has no texts.
fn seen(column: &ArrayRef, beside: Option<&ArrayRef>) -> Option<Seen> {
    let hashes = Texts::of(column)?;
    let mut found = Seen::default();
    match (beside, column.as_dictionary_opt::<Int32Type>()) {
        (None, Some(coded)) => {
            let mut rows = vec![0_u64; coded.values().len()];
            for code in coded.keys().iter().flatten() {
                if let Some(rows) = rows.get_mut(code as usize) {
                    *rows += 1;
                }
            }
            let texts = coded.values().as_string_opt::<i32>()?;
            for (code, rows) in rows.into_iter().enumerate().filter(|(_, rows)| *rows > 0) {
                found.add(texts.value(code).as_bytes(), [rows, 0]);
            }
        }
        _ => {
            let text = beside.is_some_and(|array| is_text(array.data_type()));
            for row in 0..column.len() {
                let Some(hash) = hashes.get(row) else {
                    continue;
                };
                match beside.is_some_and(|array| array.is_valid(row)) {
                    false => found.add(hash, [1, 0]),
                    true if !text => found.add(hash, [0, 1]),
                    true => (),
                }
            }
        }
    }
    Some(found)
}
