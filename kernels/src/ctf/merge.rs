//! Merge streams of packets into rows in time order, decoding each event in its turn.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustc_hash::FxHashMap;

use super::bits::Stop;
use super::layout::NONE;
use super::out::Row;
use super::stream::{Shared, Stream};
use super::tables::{Constant, Table, Tables, write_packets};
use super::trace::{EventClass, Trace};
use crate::columns::Interner;
use crate::rows::{Decode, Failure, Learnt, Note, Place, Sink};

/// Maximum number of numbered names of threads.
const MOST_NAMES: usize = 1 << 16;

/// The running thread of a CPU.
#[derive(Default)]
struct Running {
    tid: i64,
    comm: Vec<u8>,
    /// The number of the name in columns.
    number: Option<usize>,
}

/// All streams of a mount.
pub struct Decoder {
    pub shared: Shared,
    pub streams: Vec<Stream>,
    pub done: Arc<AtomicU64>,
    pub properties: Vec<(String, String)>,
    pub notes: Vec<Note>,
    pub unix: bool,
    heap: BinaryHeap<Reverse<(i64, usize)>>,
    tables: Tables,
    started: bool,
    line: i64,
    running: FxHashMap<(usize, i64), Running>,
    names: Interner,
    first: Option<i64>,
}

impl Decoder {
    pub fn new(
        shared: Shared,
        streams: Vec<Stream>,
        properties: Vec<(String, String)>,
        (notes, unix): (Vec<Note>, bool),
    ) -> Decoder {
        Decoder {
            shared,
            streams,
            done: Arc::default(),
            properties,
            notes,
            unix,
            heap: BinaryHeap::new(),
            tables: Tables::default(),
            started: false,
            line: 0,
            running: FxHashMap::default(),
            names: Interner::default(),
            first: None,
        }
    }

    fn begin(&mut self, sink: &mut Sink) -> Result<(), Failure> {
        self.started = true;
        for (number, stream) in self.streams.iter_mut().enumerate() {
            if stream.advance(&mut self.shared)? {
                let ts = stream.next.map_or(0, |next| next.ts);
                self.heap.push(Reverse((ts, number)));
            }
            self.shared.count_done(&self.done);
            write_packets(&mut self.shared, sink);
        }
        Ok(())
    }

    /// Decode the next event of a stream into a row.
    fn event(&mut self, number: usize, traces: &[Trace], sink: &mut Sink) -> Result<(), Failure> {
        let Some(stream) = self.streams.get_mut(number) else {
            return Ok(());
        };
        let (Some(next), Some(trace)) = (stream.next, stream.file().map(|file| file.trace)) else {
            return Ok(());
        };
        let class = traces.get(trace).and_then(|trace| trace.streams.get(stream.packet.class));
        let Some(event) = class.and_then(|class| class.events.get(next.event)) else {
            return Ok(());
        };
        let table = self.tables.of(event, sink);
        let place = (trace, stream.packet.cpu.unwrap_or(-1));
        fill(sink, table, (next.ts, self.line), stream.packet.cpu);
        let begin = if event.header == NONE { next.pos } else { next.from };
        let end = stream.packet.content;
        let rows = sink.rows(table.number);
        let found = stream.walk(&mut self.shared, (begin, end), |walker, bits| {
            let metadata = &event.metadata;
            let nodes = [event.header, event.common, metadata.context, metadata.payload];
            for (node, fills) in nodes.into_iter().zip(&table.fills) {
                if node != NONE {
                    walker.field(bits, node, &mut Row { rows, fills })?;
                }
            }
            Ok(bits.pos)
        })?;
        match found {
            Ok(pos) if pos > next.from => stream.packet.pos = pos,
            Ok(_) => {
                sink.forget(table.number);
                stream.skip_packet(&mut self.shared, "an event has no size", next.from);
                return Ok(());
            }
            Err(stop) => {
                sink.forget(table.number);
                let reason = match stop {
                    Stop::Damaged(reason) => reason,
                    Stop::Short => "the file is shorter than it was",
                };
                stream.skip_packet(&mut self.shared, reason, next.from);
                return Ok(());
            }
        }
        if event.metadata.inferred
            && let Some(running) = self.running.get(&place)
        {
            let rows = sink.rows(table.number);
            rows.int(table.common_pid, running.tid);
            match running.number {
                Some(number) => rows.numbered(table.common_comm, number, || &running.comm),
                None => rows.text(table.common_comm, &running.comm),
            }
        }
        sink.end(table.number);
        self.line += 1;
        self.first = Some(self.first.map_or(next.ts, |first| first.min(next.ts)));
        self.switched(event, number, place);
        Ok(())
    }

    /// Record the thread that an event switches to.
    fn switched(&mut self, event: &EventClass, number: usize, place: (usize, i64)) {
        if event.metadata.switch == NONE {
            return;
        }
        let slots = self.streams.get(number).map(|stream| &stream.slots);
        if let Some(tid) = slots.and_then(|slots| slots.get(event.metadata.switch)) {
            let comm = &self.shared.captured;
            let is_known = self.names.len() < MOST_NAMES || self.names.find(comm).is_some();
            let running = self.running.entry(place).or_default();
            running.tid = tid.cast_signed();
            running.comm.clone_from(comm);
            running.number = is_known.then(|| self.names.intern(comm));
        }
    }
}

#[inline]
fn fill(sink: &mut Sink, table: &Table, (ts, line): (i64, i64), cpu: Option<i64>) {
    let rows = sink.rows(table.number);
    rows.int(table.ts, ts);
    rows.int(table.line, line);
    if let Some(cpu) = cpu
        && table.cpu != NONE
    {
        rows.int(table.cpu, cpu);
    }
    for (column, constant) in &table.constants {
        match constant {
            Constant::Number(value) => rows.int(*column, *value),
            Constant::Text(value) => rows.text(*column, value.as_bytes()),
        }
    }
}

impl Decode for Decoder {
    fn step(&mut self, sink: &mut Sink) -> Result<Option<Place>, Failure> {
        let begin = self.done.load(Ordering::Relaxed);
        if !self.started {
            self.begin(sink)?;
        }
        let traces = Arc::clone(&self.shared.traces);
        while !sink.full() {
            let Some(Reverse((_, number))) = self.heap.peek().copied() else {
                break;
            };
            self.event(number, &traces, sink)?;
            let Some(stream) = self.streams.get_mut(number) else {
                break;
            };
            if stream.advance(&mut self.shared)? {
                let ts = stream.next.map_or(0, |next| next.ts);
                if let Some(mut top) = self.heap.peek_mut() {
                    *top = Reverse((ts, number));
                }
            } else {
                self.heap.pop();
            }
            if !self.shared.packets.is_empty() {
                self.shared.count_done(&self.done);
                write_packets(&mut self.shared, sink);
            }
        }
        if sink.len() == 0 {
            return Ok(None);
        }
        let end = self.done.load(Ordering::Relaxed);
        Ok(Some(Place { file: 0, begin, end }))
    }

    fn learnt(&mut self) -> Learnt {
        let mut notes = std::mem::take(&mut self.notes);
        let mut shared_notes = self.shared.notes.take();
        shared_notes.sort_by(|one, other| (one.file, &one.reason).cmp(&(other.file, &other.reason)));
        notes.extend(shared_notes);
        if self.shared.too_long > 0 {
            notes.push(Note {
                reason: "values are null because they are too long".to_owned(),
                count: self.shared.too_long,
                ..Note::default()
            });
        }
        let mut properties = std::mem::take(&mut self.properties);
        let streams = self.shared.traces.iter().flat_map(|trace| &trace.streams);
        let scales = streams.filter_map(|stream| stream.scale);
        let mut offsets: Vec<_> = scales.map(|scale| scale.offset_ns()).collect();
        offsets.sort_unstable();
        offsets.dedup();
        if let (Some(first), true) = (self.first, self.unix) {
            properties.push(("start_unix_ns".to_owned(), first.to_string()));
            if let [offset] = offsets[..] {
                let start = i128::from(first) - offset;
                properties.push(("start_ns".to_owned(), start.to_string()));
            } else {
                // Clocks of several offsets have only the time since 1970 in common.
                properties.push(("clock".to_owned(), "realtime".to_owned()));
            }
        }
        Learnt { notes, properties }
    }
}
