//! Metadata of traces, their streams and events, from Python.

use pyo3::prelude::*;

use super::layout::NodeSpec;

/// A class of events.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct EventMetadata {
    pub id: u64,
    pub table: String,
    pub context: usize,
    pub payload: usize,
    /// Name, type, unit.
    pub columns: Vec<(String, String, String)>,
    /// The column of each field of the header, the common context, the context, the payload.
    pub fills: Vec<Vec<usize>>,
    /// Another column of the same fields.
    pub also: Vec<Vec<usize>>,
    pub cpu: bool,
    pub inferred: bool,
    /// Column, value, whether it is a number.
    pub constants: Vec<(usize, String, bool)>,
    /// The slot of the thread in a switch event.
    pub switch: usize,
}

/// A class of streams.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct StreamMetadata {
    pub id: u64,
    pub packet: usize,
    /// Whether the packet's context has fields without a role.
    pub packet_extra: bool,
    pub header: usize,
    pub shows_header: bool,
    pub common: usize,
    pub clock: Option<(u64, i64, i64)>,
    pub events: Vec<EventMetadata>,
}

/// A trace: one folder with metadata.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct TraceMetadata {
    pub name: String,
    pub uuid: Vec<u8>,
    pub header: usize,
    pub streams: Vec<StreamMetadata>,
    /// Files of streams: number among the files of the mount, and path.
    pub files: Vec<(u32, String)>,
}

/// All traces of a mount.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct MountMetadata {
    pub nodes: Vec<NodeSpec>,
    pub slots: usize,
    pub traces: Vec<TraceMetadata>,
    pub properties: Vec<(String, String)>,
    /// File, reason, count, example.
    pub notes: Vec<(u32, String, u64, String)>,
    /// Whether times count from 1970, so that the start is also given in the clock's own time.
    pub unix: bool,
}
