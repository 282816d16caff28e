//! Build numbered classes of streams and events from the metadata of traces, which comes from Python.

use rustc_hash::FxHashMap;

use super::clock::Scale;
use super::layout::{NONE, Program};
use super::metadata::{EventMetadata, StreamMetadata, TraceMetadata};

/// A class of events, and its number among all of the mount.
pub struct EventClass {
    pub number: usize,
    pub metadata: EventMetadata,
    pub common: usize,
    /// The header's node, if any of its fields have columns.
    pub header: usize,
}

/// A class of streams.
pub struct StreamClass {
    pub id: u64,
    pub packet: usize,
    /// Whether the packet's context is part of the output.
    pub extra: bool,
    pub header: usize,
    /// The alignment of events, in bits.
    pub align: u64,
    pub scale: Option<Scale>,
    pub events: Vec<EventClass>,
    by_id: FxHashMap<u64, usize>,
}

impl StreamClass {
    /// The class of events of a number; without one, the only one.
    #[inline]
    pub fn find(&self, id: Option<u64>) -> Option<usize> {
        match id {
            Some(id) => self.by_id.get(&id).copied(),
            None => (self.events.len() == 1).then_some(0),
        }
    }
}

/// One trace of the mount.
pub struct Trace {
    pub name: String,
    pub uuid: Option<[u8; 16]>,
    pub header: usize,
    pub streams: Vec<StreamClass>,
}

impl Trace {
    pub fn new(metadata: TraceMetadata, program: &Program, events: &mut usize) -> Trace {
        let streams = metadata.streams.into_iter();
        Trace {
            name: metadata.name,
            uuid: metadata.uuid.try_into().ok(),
            header: metadata.header,
            streams: streams.map(|one| stream(one, program, events)).collect(),
        }
    }

    /// The class of streams of a number; without one, the only one.
    pub fn find(&self, id: Option<u64>) -> Option<usize> {
        match id {
            Some(id) => self.streams.iter().position(|one| one.id == id),
            None => (self.streams.len() == 1).then_some(0),
        }
    }
}

fn stream(metadata: StreamMetadata, program: &Program, events: &mut usize) -> StreamClass {
    let header = if metadata.shows_header { metadata.header } else { NONE };
    let made = metadata.events.into_iter().map(|event| {
        *events += 1;
        EventClass { number: *events - 1, metadata: event, common: metadata.common, header }
    });
    let made: Vec<_> = made.collect();
    let by_id = made.iter().enumerate().map(|(place, event)| (event.metadata.id, place)).collect();
    StreamClass {
        id: metadata.id,
        packet: metadata.packet,
        extra: metadata.packet_extra,
        header: metadata.header,
        align: program.nodes.get(metadata.header).map_or(1, |node| node.align),
        scale: metadata.clock.map(Scale::new),
        events: made,
        by_id,
    }
}
