//! `label_events`: add to each event the latest label of its partition at or before it.

use arrow_array::ArrayRef;
use arrow_schema::{ArrowError, DataType, FieldRef};
use pyo3::prelude::*;

use super::cancel::{Cancel, Token};
use super::failure::to_python;
use super::gather::gather;
use super::held::NULL_ROW;
use super::partition::Partitions;
use super::pieces::Pieces;
use super::source::{ChunkedInput, Kind};
use super::stream::{Sweep, made, nullable, partitions, schema, stream};
use crate::exchange::{InputStream, OutputStream};

struct Label {
    events: ChunkedInput,
    labels: ChunkedInput,
    partitions: Partitions,
    fields: [Vec<FieldRef>; 2],
    /// The latest label of each partition.
    latest: Vec<u64>,
    /// Whether the labels have no partitions, and apply to all of the events'.
    broadcast: bool,
    out: Pieces,
}

impl Label {
    fn run(&mut self) {
        while !self.out.is_full() && !self.events.starved() && !self.labels.starved() {
            // An event at the end of time must not wait for labels that have ended.
            if !self.labels.empty() && (self.events.empty() || self.labels.time() <= self.events.time()) {
                if self.events.empty() {
                    return;
                }
                let labels = &mut self.labels;
                self.latest[labels.chunk.code[labels.pos] as usize] = labels.chunk.base + labels.pos as u64;
                labels.pos += 1;
            } else if !self.events.empty() {
                let events = &mut self.events;
                let code = events.chunk.code[events.pos];
                let own = if self.broadcast { 0 } else { code as usize };
                let row = events.chunk.base + events.pos as u64;
                self.out.push_event(events.time(), code, row, self.latest[own]);
                events.pos += 1;
            } else {
                return;
            }
        }
    }

    fn finished(&self) -> bool {
        self.events.done && self.events.empty()
    }
}

impl Sweep for Label {
    fn next(&mut self) -> Result<Option<Vec<ArrayRef>>, ArrowError> {
        while !self.out.is_full() && !self.finished() {
            self.events.fill(&mut self.partitions)?;
            self.labels.fill(&mut self.partitions)?;
            self.latest.resize(self.partitions.len().max(1), NULL_ROW);
            self.run();
            if self.events.held.is_full() {
                self.events.held.retain(self.out.left.iter().copied());
            }
            if self.labels.held.is_full() {
                let wanted = self.out.right.iter().chain(&self.latest);
                self.labels.held.retain(wanted.copied());
            }
        }
        if self.out.is_empty() {
            return Ok(None);
        }
        let [left, right] = &self.fields;
        let full = std::mem::take(&mut self.out);
        let mut columns = vec![super::stream::int64(full.ts)];
        columns.extend(self.partitions.columns(full.code)?);
        columns.extend(gather(&self.events.held, left, &full.left)?);
        columns.extend(gather(&self.labels.held, right, &full.right)?);
        Ok(Some(columns))
    }
}

#[pyfunction]
#[pyo3(signature = (events, labels, *, partitions, names, broadcast=false, numbered=false, cancel=None))]
pub fn label_events(
    events: InputStream,
    labels: InputStream,
    partitions: usize,
    names: Vec<String>,
    broadcast: bool,
    numbered: bool,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<OutputStream> {
    let token = Token::new(cancel);
    let (events, labels) = (events.into_reader(), labels.into_reader());
    let build = || {
        let own = if broadcast { 0 } else { partitions };
        let events = ChunkedInput::new(events, Kind::Events, partitions, "event", token.clone())?;
        let labels = ChunkedInput::new(labels, Kind::Events, own, "label", token.clone())?;
        let mut fields = [events.payload_fields(), labels.payload_fields()];
        if numbered {
            fields.iter_mut().for_each(|some| drop(some.pop()));
        }
        self::build(events, labels, (fields, broadcast), &names, token)
    };
    build().map_err(to_python)
}

fn build(
    events: ChunkedInput,
    labels: ChunkedInput,
    (fields, broadcast): ([Vec<FieldRef>; 2], bool),
    names: &[String],
    token: Token,
) -> Result<OutputStream, ArrowError> {
    let partitions = partitions(names, 1, events.partition_types())?;
    partitions.check_types(&labels.partition_types(), labels.role())?;
    let mut all = vec![made(DataType::Int64, false)];
    all.extend(nullable(events.partition_fields()));
    all.extend(fields.iter().flat_map(|some| nullable(some.clone())));
    let schema = schema(all, names)?;
    let label = Label { events, labels, partitions, fields, latest: Vec::new(), broadcast, out: Pieces::default() };
    Ok(stream(schema, label, token))
}
