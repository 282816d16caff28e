//! The metadata of a whole trace from a pass, as dicts and lists for JSON, and its use by decoders.

use std::sync::Arc;

use pyo3::prelude::*;

use super::decode::{EVENT_COLUMNS, Expectations, METADATA_COLUMNS};
use super::names::raw_key;
use super::tables::Shape;
use crate::columns::{Expected, Kind};

/// A decoded column.
#[derive(Clone, FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
pub struct ColumnMetadata {
    pub name: String,
    /// Type of its values: `int`, `uint`, `float`, `bool`, `text`, or `empty`.
    pub kind: String,
    /// No row has a value.
    pub empty: bool,
    /// Some row has a hash with a known text.
    pub resolves: bool,
}

/// The events of one name.
#[derive(Clone, FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
pub struct EventMetadata {
    pub name: String,
    pub rows: u64,
    /// In order of first appearance.
    pub columns: Vec<ColumnMetadata>,
    /// Distinct ones, at most two.
    pub categories: Vec<Option<String>>,
}

#[derive(Clone, FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
pub struct FileMetadata {
    pub path: String,
    pub bytes: u64,
    pub events: u64,
    pub metadata: u64,
    pub invalid_lines: u64,
    pub other_lines: u64,
    pub time_unit: String,
    /// Nanoseconds in that unit.
    pub factor: i64,
    pub min_ts: Option<i64>,
    pub max_ts: Option<i64>,
}

#[derive(Clone, FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
pub struct TroubleMetadata {
    pub path: String,
    pub reason: String,
    pub count: u64,
    pub example: String,
    pub incomplete: bool,
}

/// A version of the writer as in the table.
#[derive(Clone, PartialEq, FromPyObject, IntoPyObject)]
pub enum Version {
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    Text(String),
}

#[derive(Clone, FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
pub struct TraceMetadata {
    /// Absolute time of the first event.
    pub start_ns: i64,
    /// The latest end of an event, in nanoseconds since the first one.
    pub last_ts: i64,
    pub files: Vec<FileMetadata>,
    pub troubles: Vec<TroubleMetadata>,
    /// In order of first appearance.
    pub events: Vec<EventMetadata>,
    pub metadata: Vec<ColumnMetadata>,
    pub versions: Vec<Version>,
    /// Some file gives a hash several texts: a pass must check every hash of every event.
    pub ambiguous: bool,
}

const KINDS: [(Kind, &str); 6] = [
    (Kind::Empty, "empty"),
    (Kind::Int, "int"),
    (Kind::Uint, "uint"),
    (Kind::Float, "float"),
    (Kind::Bool, "bool"),
    (Kind::Text, "text"),
];

pub fn kind_name(kind: Kind) -> String {
    let name = KINDS.iter().find(|(known, _)| *known == kind);
    name.map_or("text", |(_, name)| name).to_owned()
}

impl ColumnMetadata {
    pub fn kind(&self) -> Kind {
        let kind = KINDS.iter().find(|(_, name)| *name == self.kind);
        kind.map_or(Kind::Text, |(kind, _)| *kind)
    }
}

impl EventMetadata {
    pub fn shape(&self) -> Shape {
        Shape {
            empty: self.columns.iter().map(|column| column.empty).collect(),
            resolves: self.columns.iter().map(|column| column.resolves).collect(),
        }
    }
}

impl TraceMetadata {
    /// Nanoseconds in the time units of the files.
    pub fn factors(&self) -> Vec<i64> {
        self.files.iter().map(|file| file.factor).collect()
    }

    pub fn expectations(&self) -> Expectations {
        let events = self.events.iter().map(|event| {
            let expected = expected(&event.columns, EVENT_COLUMNS.len());
            (event.name.clone().into_bytes(), Arc::new(expected))
        });
        Expectations { events: events.collect(), metadata: Arc::new(expected(&self.metadata, METADATA_COLUMNS.len())) }
    }
}

fn expected(columns: &[ColumnMetadata], fixed: usize) -> Expected {
    let (fixed, keyed) = columns.split_at(fixed.min(columns.len()));
    let keyed = keyed.iter().map(|column| (raw_key(&column.name), column.kind()));
    Expected { fixed: fixed.iter().map(ColumnMetadata::kind).collect(), keyed: keyed.collect() }
}
