//! Gather decoded chunks in order: return each for output, and at the end the metadata of the whole trace.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;

use super::chunk::{Chunk, Decoded};
use super::growing::{Dropped, Growing, Names};
use super::hash_texts::Tellings;
use super::hashes::Book;
use super::ledger::Ledger;
use super::report::{Reported, Trouble};
use super::trace_metadata::{EventMetadata, FileMetadata, TraceMetadata, TroubleMetadata};
use crate::input::Checkpoint;

/// A chunk for output.
pub struct Handout {
    pub checkpoint: Checkpoint,
    pub events: Vec<(String, RecordBatch)>,
    pub metadata: Option<RecordBatch>,
    /// Dimension, hash, text.
    pub hashes: Vec<(&'static str, String, String)>,
    pub other_lines: BTreeMap<String, Vec<u32>>,
}

/// The metadata so far.
pub struct Gathered {
    ledger: Ledger,
    tellings: Tellings,
    names: Names,
    events: Vec<Growing>,
    metadata: Growing,
    /// Nanoseconds per unit of each file, from an earlier pass.
    factors: Option<Vec<i64>>,
    /// The factor used for each file.
    used: Vec<Option<i64>>,
    /// Check all hashes, since a file may give one several texts.
    thorough: bool,
    range: Option<(i64, i64)>,
    again: bool,
}

impl Gathered {
    pub fn new(files: usize, hints: Option<&TraceMetadata>) -> Gathered {
        Gathered {
            ledger: Ledger::new(files),
            tellings: Tellings::default(),
            names: Names::default(),
            events: Vec::new(),
            metadata: Growing::of_metadata(),
            factors: hints.map(TraceMetadata::factors),
            used: vec![None; files],
            thorough: hints.is_some_and(|trace_metadata| trace_metadata.ambiguous),
            range: None,
            again: false,
        }
    }

    /// Add the next chunk.
    pub fn add(&mut self, chunk: Chunk) -> Result<Handout, ArrowError> {
        let file = chunk.checkpoint.file as usize;
        self.ledger.add(file, chunk.report, chunk.counts, chunk.units);
        let mut hashes = Vec::new();
        for record in &chunk.hashes {
            if self.tellings.add(record) {
                let [hash, text] =
                    [&record.hash, &record.text].map(|value| String::from_utf8_lossy(value).into_owned());
                hashes.push((record.kind.dimension(), hash, text));
            }
        }
        let mut other_lines = chunk.other_lines;
        let mut events = Vec::with_capacity(chunk.tables.len());
        for table in chunk.tables {
            let name = table.name.clone();
            let (batch, dropped) = self.event(file, table)?;
            if !dropped.is_empty() {
                let lines = other_lines.entry(String::new()).or_default();
                lines.extend(dropped);
                lines.sort_unstable();
            }
            if batch.num_rows() > 0 {
                events.push((name, batch));
            }
        }
        let metadata = chunk.metadata.map(|table| self.metadata.metadata(table));
        Ok(Handout { checkpoint: chunk.checkpoint, events, metadata: metadata.transpose()?, hashes, other_lines })
    }

    fn event(&mut self, file: usize, table: Decoded) -> Result<(RecordBatch, Dropped), ArrowError> {
        let known = self.ledger.factor(file).1;
        let factor = match &self.factors {
            Some(factors) => factors.get(file).copied().unwrap_or(known),
            None => known,
        };
        self.again |= self.used[file].is_some_and(|used| used != factor);
        self.used[file] = Some(factor);
        let id = self.names.id(&table.name);
        if id == self.events.len() {
            self.events.push(Growing::new(table.name.clone()));
        }
        let tellings = (!self.thorough).then_some(&self.tellings);
        let (batch, dropped, timed) = self.events[id].event(table, file, factor, tellings)?;
        if let Some(extent) = &timed.extent {
            self.ledger.files[file].add(extent);
        }
        if let Some((start, end)) = timed.range {
            let (first, last) = self.range.unwrap_or((start, end));
            self.range = Some((first.min(start), last.max(end)));
        }
        Ok((batch, dropped))
    }

    /// Record the end of a file.
    pub fn end(&mut self, file: usize, bytes: u64, note: impl FnOnce(&mut Ledger)) {
        self.ledger.files[file].bytes = bytes;
        note(&mut self.ledger);
    }

    /// The metadata of the whole trace, and whether a pass with it as hints would return different chunks.
    pub fn finish(mut self, paths: &[String]) -> (TraceMetadata, bool) {
        let factors = self.ledger.factors();
        for (used, factor) in self.used.iter().zip(&factors) {
            self.again |= used.is_some_and(|used| used != *factor);
        }
        let report = &mut self.ledger.report;
        let book = Book::new(self.tellings.iter(), report);
        let mut versions = Vec::new();
        let events: Vec<EventMetadata> = std::mem::take(&mut self.events)
            .into_iter()
            .map(|event| {
                self.again |= event.again();
                versions.extend(event.versions());
                event.finish(&book, report)
            })
            .collect();
        self.again |= self.metadata.again() || (self.tellings.ambiguous && !self.thorough);
        if self.metadata.invalid > 0 {
            report.note(0, Trouble::NotUtf8, self.metadata.invalid, "metadata");
        }
        let metadata = self.metadata.columns();
        let (start, end) = self.range.unwrap_or_default();
        let troubles = self.ledger.report.into_entries();
        let path = |file: usize| paths.get(file).cloned().unwrap_or_default();
        let trace_metadata = TraceMetadata {
            start_ns: start,
            last_ts: end - start,
            files: self
                .ledger
                .files
                .into_iter()
                .zip(factors)
                .enumerate()
                .map(|(file, (figures, factor))| FileMetadata {
                    path: path(file),
                    bytes: figures.bytes,
                    events: figures.events,
                    metadata: figures.counts.metadata,
                    invalid_lines: figures.counts.invalid,
                    other_lines: figures.counts.other,
                    time_unit: figures.unit,
                    factor,
                    min_ts: figures.range.map(|range| range.0),
                    max_ts: figures.range.map(|range| range.1),
                })
                .collect(),
            troubles: troubles.map(|trouble| reported(&path, trouble)).collect(),
            events,
            metadata,
            versions,
            ambiguous: self.tellings.ambiguous,
        };
        (trace_metadata, self.again)
    }
}

fn reported(path: &impl Fn(usize) -> String, trouble: Reported) -> TroubleMetadata {
    TroubleMetadata {
        path: path(trouble.file),
        reason: trouble.trouble.reason().to_owned(),
        count: trouble.count,
        example: trouble.example,
        incomplete: trouble.trouble.incomplete(),
    }
}
