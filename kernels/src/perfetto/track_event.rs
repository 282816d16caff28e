//! Convert track events into rows of the table of their phase, on their track.

use super::annotations::Args;
use super::clocks::MONOTONIC;
use super::counting;
use super::sequence::{CATEGORIES, EVENT_NAMES, Sequence, numbers};
use super::tables::{ARGS, CAT, EXTRA, LINE, NAME, PID, Phase, TID, TRACK, TS, put_int, put_text};
use super::tracks::Kind;
use super::wire::{Fields, Value};
use super::world::{Packet, World};
use crate::rows::Sink;

/// Type of events that set the value of a track; the event's name is the value.
const STATE: u64 = 5;

/// Ids of flows; newer writers may repeat them in the fields of older ones.
#[derive(Default)]
struct Flows {
    ids: Vec<u64>,
    old: Vec<u64>,
}

impl Flows {
    fn all(&self) -> &[u64] {
        match self.ids.as_slice() {
            [] => &self.old,
            ids => ids,
        }
    }
}

/// A parsed message `TrackEvent`.
#[derive(Default)]
pub struct Event<'a> {
    pub kind: u64,
    track: Option<u64>,
    name: Option<&'a [u8]>,
    name_id: Option<u64>,
    categories: Vec<Value<'a>>,
    category_ids: Vec<u64>,
    pub value: Option<f64>,
    pub counters: Vec<u64>,
    pub double_counters: Vec<u64>,
    pub values: Vec<f64>,
    pub double_values: Vec<f64>,
    flows: Flows,
    last_flows: Flows,
    pub annotations: Vec<&'a [u8]>,
    others: Vec<(u32, Value<'a>)>,
    /// In µs: time and thread time, and instructions, since the last event.
    pub deltas: [Option<i64>; 3],
    pub absolutes: [Option<i64>; 3],
    pub legacy: Option<&'a [u8]>,
}

impl<'a> Event<'a> {
    fn of(message: &'a [u8]) -> Event<'a> {
        let mut event = Event::default();
        for (number, value) in Fields::of(message) {
            event.take(number, value);
        }
        event
    }

    fn take(&mut self, number: u32, value: Value<'a>) {
        let int = || value.number().map(u64::cast_signed);
        match number {
            9 => self.kind = value.number().unwrap_or(0),
            11 => self.track = value.number(),
            23 => self.name = value.bytes(),
            10 => self.name_id = value.number(),
            22 => self.categories.push(value),
            3 => numbers(value, &mut self.category_ids),
            30 => self.value = int().map(|value| value as f64),
            44 => self.value = value.number().map(f64::from_bits),
            31 => numbers(value, &mut self.counters),
            45 => numbers(value, &mut self.double_counters),
            12 => ints(value, &mut self.values),
            46 => floats(value, &mut self.double_values),
            36 => numbers(value, &mut self.flows.old),
            42 => numbers(value, &mut self.last_flows.old),
            47 => fixed(value, &mut self.flows.ids),
            48 => fixed(value, &mut self.last_flows.ids),
            4 => self.annotations.extend(value.bytes()),
            1 => self.deltas[0] = int(),
            2 => self.deltas[1] = int(),
            8 => self.deltas[2] = int(),
            16 => self.absolutes[0] = int(),
            17 => self.absolutes[1] = int(),
            20 => self.absolutes[2] = int(),
            6 => self.legacy = value.bytes(),
            _ => self.others.push((number, value)),
        }
    }
}

fn ints(value: Value<'_>, out: &mut Vec<f64>) {
    let mut bits = Vec::new();
    numbers(value, &mut bits);
    out.extend(bits.into_iter().map(|bits| bits.cast_signed() as f64));
}

fn floats(value: Value<'_>, out: &mut Vec<f64>) {
    let mut bits = Vec::new();
    fixed(value, &mut bits);
    out.extend(bits.into_iter().map(f64::from_bits));
}

/// Numbers of 8 bytes each, packed or not.
fn fixed(value: Value<'_>, out: &mut Vec<u64>) {
    match value {
        Value::Bytes(bytes) => out.extend(bytes.as_chunks::<8>().0.iter().map(|bits| u64::from_le_bytes(*bits))),
        _ => out.extend(value.number()),
    }
}

/// The common data of all rows of an event.
pub struct Common {
    pub sequence: u32,
    pub time: i64,
    pub name: Option<Vec<u8>>,
    pub category: Option<Vec<u8>>,
    pub track: usize,
    pub pid: Option<i64>,
    pub tid: Option<i64>,
    pub line: i64,
    /// The thread's CPU time in ns.
    pub thread_time: Option<i64>,
    pub instructions: Option<i64>,
    pub args: Option<Vec<u8>>,
}

impl Common {
    /// Put the common columns into a row; the row is not ended.
    pub fn put(&self, world: &mut World, sink: &mut Sink, phase: Phase) -> usize {
        let table = world.tables.number(sink, phase);
        let rows = sink.rows(table);
        rows.int(TS, self.time);
        put_text(rows, NAME, self.name.as_deref());
        put_text(rows, CAT, self.category.as_deref());
        put_int(rows, PID, self.pid);
        put_int(rows, TID, self.tid);
        rows.int(TRACK, self.track as i64);
        rows.int(LINE, self.line);
        put_text(rows, ARGS, self.args.as_deref());
        table
    }

    pub fn row(&self, world: &mut World, sink: &mut Sink, phase: Phase) {
        let table = self.put(world, sink, phase);
        let rows = sink.rows(table);
        match phase {
            Phase::Begin | Phase::End => put_int(rows, EXTRA, self.thread_time),
            Phase::Complete => put_int(rows, EXTRA + 1, self.thread_time),
            _ => (),
        }
        sink.end(table);
    }

    pub fn flow(&self, world: &mut World, sink: &mut Sink, phase: Phase, flow: u64, binding: &[u8]) {
        let table = self.begin_flow(world, sink, phase, flow, binding);
        sink.end(table);
    }

    fn begin_flow(&self, world: &mut World, sink: &mut Sink, phase: Phase, flow: u64, binding: &[u8]) -> usize {
        let table = self.put(world, sink, phase);
        let rows = sink.rows(table);
        rows.int(EXTRA, flow.cast_signed());
        rows.text(EXTRA + 1, binding);
        table
    }

    /// A value of a counter, on the track of the event or on another one.
    pub fn value(&self, world: &mut World, sink: &mut Sink, track: usize, value: f64) {
        let table = world.tables.number(sink, Phase::Counter);
        let name = match &self.name {
            Some(name) if track == self.track => Some(name.as_slice()),
            _ => world.tracks.get(track).and_then(|track| track.name.as_deref()),
        };
        let rows = sink.rows(table);
        rows.int(TS, self.time);
        put_text(rows, NAME, name);
        put_text(rows, CAT, self.category.as_deref());
        put_int(rows, PID, self.pid);
        put_int(rows, TID, self.tid);
        rows.int(TRACK, track as i64);
        rows.int(LINE, self.line);
        rows.float(EXTRA, value);
        sink.end(table);
    }
}

/// Put a message `TrackEvent` into rows.
pub fn rows(world: &mut World, sink: &mut Sink, packet: &Packet, message: &[u8]) {
    let event = Event::of(message);
    let Some(time) = time_of(world, packet, &event) else {
        return;
    };
    let mut common = common_of(world, packet, &event, time);
    counting::count(world, sink, packet, &event, &mut common);
    counting::of_thread(world, sink, &event, &common);
    let nested = world.tracks.get(common.track).is_none_or(|track| track.kind == Kind::Thread);
    let phase = match event.kind {
        1 if nested => Phase::Begin,
        1 => Phase::AsyncBegin,
        2 if nested => Phase::End,
        2 => Phase::AsyncEnd,
        3 => Phase::Instant,
        4 => return counting::counter(world, sink, packet, &event, &common),
        STATE => Phase::State,
        _ => return super::legacy::row(world, sink, &event, common),
    };
    common.row(world, sink, phase);
    flows(world, sink, &event, &common, phase);
}

/// The rows of the flows through an event: at the slice that it begins or ends, or at the instant event itself.
pub fn flows(world: &mut World, sink: &mut Sink, event: &Event<'_>, common: &Common, phase: Phase) {
    let binding: &[u8] = match phase {
        Phase::End | Phase::AsyncEnd => b"ended",
        _ => b"own",
    };
    if let Some(legacy) = event.legacy {
        super::legacy::bound(world, sink, legacy, common, binding);
    }
    for flow in event.flows.all() {
        common.flow(world, sink, Phase::FlowStep, *flow, binding);
    }
    for flow in event.last_flows.all() {
        let table = common.begin_flow(world, sink, Phase::FlowEnd, *flow, binding);
        sink.rows(table).bool(EXTRA + 2, true);
        sink.end(table);
    }
}

/// The time of an event; None if it is missing or impossible, which is counted.
fn time_of(world: &mut World, packet: &Packet, event: &Event<'_>) -> Option<i64> {
    let reference = &mut world.sequences.get(packet.sequence).reference;
    let time_ns = match (event.deltas[0], reference, event.absolutes[0]) {
        // An overflow sticks to the bound, so that later differences are impossible too.
        (Some(delta), Some(reference), _) => {
            reference[0] = reference[0].saturating_add(delta.saturating_mul(1000));
            Some(reference[0])
        }
        (None, _, Some(absolute)) => Some(absolute.saturating_mul(1000)),
        _ => None,
    };
    if let Some(time_ns) = time_ns {
        return world.time(MONOTONIC, packet.sequence, time_ns.cast_unsigned());
    }
    let time = packet.time.filter(|_| event.deltas[0].is_none());
    if time.is_none() {
        let reason = "track event without a time";
        world.notes.add(reason, 1, false, String::new);
    }
    time
}

fn common_of(world: &mut World, packet: &Packet, event: &Event<'_>, time: i64) -> Common {
    let World { sequences, tracks, json, schema, line, .. } = world;
    *line += 1;
    let sequence = sequences.get(packet.sequence);
    // The first writers named events in their message of the older kind.
    let name_id = event.name_id.or_else(|| super::wire::number(event.legacy?, 1));
    let name = event.name.or_else(|| sequence.interned.text(EVENT_NAMES, name_id?));
    let uuid = event.track.or(sequence.defaults.as_ref().and_then(|known| known.track));
    let track = match uuid.filter(|uuid| *uuid != 0) {
        Some(uuid) => tracks.of(uuid),
        None => match thread_of(sequence, event) {
            Some((pid, tid)) => tracks.thread(pid, tid),
            None => tracks.of(0),
        },
    };
    if let Some(name) = name.filter(|_| event.kind != STATE) {
        tracks.named_by_event(track, name);
    }
    let (pid, tid) = tracks.owner(track);
    let mut common = Common {
        sequence: packet.sequence,
        time,
        name: name.map(<[u8]>::to_owned),
        category: category(sequence, event),
        track,
        pid,
        tid,
        line: *line,
        thread_time: counting::thread_time(sequence, event, 1),
        instructions: counting::thread_time(sequence, event, 2),
        args: None,
    };
    if !event.annotations.is_empty() || !event.others.is_empty() {
        json.clear();
        json.raw(b"{");
        let message = schema.find("TrackEvent");
        let mut args = Args { json, schema, interned: &sequence.interned };
        event.annotations.iter().for_each(|one| args.annotation(one));
        for (number, value) in &event.others {
            args.field(message, *number, *value);
        }
        json.raw(b"}");
        common.args = Some(json.text.clone());
    }
    common
}

/// The thread of an event without a track: that of its sequence, unless a newer writer gives track 0.
fn thread_of(sequence: &Sequence, event: &Event<'_>) -> Option<(i64, i64)> {
    let (pid, tid) = event.legacy.map(super::legacy::thread).unwrap_or_default();
    let default = event.track == Some(0) && event.kind != 0;
    if default && pid.is_none() && tid.is_none() {
        return None;
    }
    Some((pid.or(sequence.pid)?, tid.or(sequence.tid)?))
}

fn category(sequence: &Sequence, event: &Event<'_>) -> Option<Vec<u8>> {
    let interned = event.category_ids.iter();
    let interned = interned.filter_map(|id| sequence.interned.text(CATEGORIES, *id));
    let all = interned.chain(event.categories.iter().filter_map(|value| value.bytes()));
    let mut joined: Option<Vec<u8>> = None;
    for one in all {
        match &mut joined {
            Some(text) => {
                text.push(b',');
                text.extend_from_slice(one);
            }
            None => joined = Some(one.to_owned()),
        }
    }
    joined
}
