//! Some chunks of a trace of which everything is known -> the tables of the whole load with their rows only.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use rayon::prelude::*;

use super::decode::{EVENT_COLUMNS, EventTable, Expectations, Input, METADATA_COLUMNS, Part};
use super::facts::Facts;
use super::metadata::finish_metadata;
use super::pass::{BLOCK_BYTES, LINE_BYTES};
use super::tables::{Context, time};
use super::trace::FinishedTable;
use crate::access::{Checkpoint, Limits, Source};
use crate::columns::{Expected, TableBuilder, unify};

const LIMITS: Limits = Limits { block: BLOCK_BYTES, line: LINE_BYTES, chunk: u64::MAX, joined: b"" };

/// What is to be decoded, and what is known.
pub struct Selected<'a> {
    pub paths: &'a [String],
    pub checkpoints: &'a [Checkpoint],
    pub threads: usize,
    pub facts: &'a Facts,
    pub context: &'a Context,
    pub expectations: &'a Arc<Expectations>,
    /// Bytes of files that were read.
    pub done: Arc<AtomicU64>,
    pub cancelled: AtomicBool,
}

/// Decode the chunks; they must be in the order of files and places.
pub fn select(job: &Selected) -> Result<(Vec<FinishedTable>, Vec<RecordBatch>), ArrowError> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(job.threads.clamp(1, job.checkpoints.len().max(1)))
        .build()
        .map_err(|error| ArrowError::ExternalError(Box::new(error)))?;
    pool.install(|| {
        let parts = job.checkpoints.par_iter().map(|place| decode(job, place)).collect::<Result<Vec<Part>, _>>()?;
        finish(job, parts)
    })
}

fn decode(job: &Selected, place: &Checkpoint) -> Result<Part, ArrowError> {
    let file = place.file as usize;
    let path =
        job.paths.get(file).ok_or_else(|| ArrowError::InvalidArgumentError(format!("the trace has no file {file}")))?;
    let mut part = Part::of_chunk(job.expectations, false);
    read(&mut part, job, path, place)
        .map_err(|error| ArrowError::InvalidArgumentError(format!("cannot read `{path}`: {error}")))?;
    Ok(part)
}

fn read(part: &mut Part, job: &Selected, path: &str, place: &Checkpoint) -> io::Result<()> {
    let done = Arc::clone(&job.done);
    let mut source = Source::chunk(Path::new(path), place, LIMITS, done)?;
    let mut text = Vec::new();
    loop {
        let block = source.block(text)?;
        part.decode(&Input { file: place.file as usize, path, text: &block.text, last: block.last });
        if block.last || job.cancelled.load(Ordering::Relaxed) {
            return Ok(());
        }
        text = block.text;
    }
}

/// A table without rows that has all columns of the whole trace.
fn template(fixed: &[&'static str], expected: Option<&Arc<Expected>>) -> TableBuilder {
    let expected = expected.cloned().unwrap_or_default();
    let mut table = TableBuilder::expecting(fixed, Arc::clone(&expected));
    for key in &expected.keys {
        table.column(key);
    }
    table
}

fn finish(job: &Selected, parts: Vec<Part>) -> Result<(Vec<FinishedTable>, Vec<RecordBatch>), ArrowError> {
    let known = &job.expectations;
    let mut tables: Vec<Vec<EventTable>> = Vec::new();
    let events: Vec<_> = job.facts.events.iter().filter(|event| event.rows > 0).collect();
    for event in &events {
        tables.push(vec![EventTable {
            table: template(&EVENT_COLUMNS, known.events.get(event.name.as_bytes())),
            files: Vec::new(),
            lines: Vec::new(),
        }]);
    }
    let mut metadata = vec![template(&METADATA_COLUMNS, Some(&known.metadata))];
    for part in parts {
        for (id, table) in part.events.into_iter().enumerate() {
            let name = part.names.get(id);
            let place = events.iter().position(|event| event.name.as_bytes() == name);
            if let Some(chunks) = place.and_then(|place| tables.get_mut(place)) {
                chunks.push(table);
            }
        }
        metadata.push(part.metadata);
    }
    let start = job.facts.start_ns;
    let tables = events
        .into_par_iter()
        .zip(tables)
        .map(|(event, chunks)| {
            let shape = event.shape();
            time(event.name.clone(), chunks, job.context, Some(&shape))?.finish(start)
        })
        .collect::<Result<_, _>>()?;
    let empty: Vec<bool> = job.facts.metadata.iter().map(|column| column.empty).collect();
    let (batches, _) = unify(metadata)?;
    Ok((tables, finish_metadata(&batches, Some(&empty))?))
}
