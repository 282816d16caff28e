//! Track events -> rows of the table of their phase, on their track.

use super::annotations::Args;
use super::clocks::MONOTONIC;
use super::sequence::{CATEGORIES, EVENT_NAMES, Sequence, numbers};
use super::tables::{ARGS, CAT, EXTRA, LINE, NAME, PID, Phase, TID, TRACK, TS, put_int, put_text};
use super::tracks::{Counting, Kind};
use super::wire::{Fields, Value};
use super::world::{Packet, World};
use crate::rows::Sink;

/// A message `TrackEvent`, its fields found.
#[derive(Default)]
pub struct Event<'a> {
    pub kind: u64,
    track: Option<u64>,
    name: Option<&'a [u8]>,
    name_id: Option<u64>,
    categories: Vec<Value<'a>>,
    category_ids: Vec<u64>,
    value: Option<f64>,
    counters: Vec<u64>,
    double_counters: Vec<u64>,
    values: Vec<f64>,
    double_values: Vec<f64>,
    flows: Vec<u64>,
    last_flows: Vec<u64>,
    pub annotations: Vec<&'a [u8]>,
    others: Vec<(u32, Value<'a>)>,
    /// In µs: time and thread time, and instructions, since the last event.
    deltas: [Option<i64>; 3],
    absolutes: [Option<i64>; 3],
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
            36 => numbers(value, &mut self.flows),
            42 => numbers(value, &mut self.last_flows),
            47 => fixed(value, &mut self.flows),
            48 => fixed(value, &mut self.last_flows),
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
        Value::Bytes(bytes) => out.extend(
            bytes
                .as_chunks::<8>()
                .0
                .iter()
                .map(|bits| u64::from_le_bytes(*bits)),
        ),
        _ => out.extend(value.number()),
    }
}

/// What all rows of an event share.
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
    /// Put what all tables have into a row; the row is not ended.
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

    pub fn flow(
        &self,
        world: &mut World,
        sink: &mut Sink,
        phase: Phase,
        flow: u64,
        binding: &[u8],
    ) {
        let table = self.put(world, sink, phase);
        let rows = sink.rows(table);
        rows.int(EXTRA, flow.cast_signed());
        rows.text(EXTRA + 1, binding);
        sink.end(table);
    }

    /// A value of a counter, on the track of the event or on another one.
    pub fn value(&self, world: &mut World, sink: &mut Sink, track: usize, value: f64) {
        let table = world.tables.number(sink, Phase::Counter);
        let name = match &self.name {
            Some(name) if track == self.track => Some(name.as_slice()),
            _ => world
                .tracks
                .get(track)
                .and_then(|track| track.name.as_deref()),
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
        world
            .notes
            .add("track event without a time", 1, false, String::new);
        return;
    };
    let mut common = common_of(world, packet, &event, time);
    count(world, sink, packet, &event, &mut common);
    let nested = world
        .tracks
        .get(common.track)
        .is_none_or(|track| track.kind == Kind::Thread);
    let phase = match event.kind {
        1 if nested => Phase::Begin,
        1 => Phase::AsyncBegin,
        2 if nested => Phase::End,
        2 => Phase::AsyncEnd,
        3 => Phase::Instant,
        4 => return counter(world, sink, packet, &event, &common),
        5 => Phase::State,
        _ => return super::legacy::row(world, sink, &event, common),
    };
    common.row(world, sink, phase);
    flows(world, sink, &event, &common, phase);
}

/// The rows of the flows that go through an event: to the slice that it begins, or that is open then.
pub fn flows(world: &mut World, sink: &mut Sink, event: &Event<'_>, common: &Common, phase: Phase) {
    let binding: &[u8] = match phase {
        Phase::Begin | Phase::Complete => b"own",
        _ => b"enclosing",
    };
    for flow in &event.flows {
        common.flow(world, sink, Phase::FlowStep, *flow, binding);
    }
    for flow in &event.last_flows {
        common.flow(world, sink, Phase::FlowEnd, *flow, binding);
    }
    if let Some(legacy) = event.legacy {
        super::legacy::bound(world, sink, legacy, common, binding);
    }
}

fn time_of(world: &mut World, packet: &Packet, event: &Event<'_>) -> Option<i64> {
    let told = if let Some(delta) = event.deltas[0] {
        let reference = world.sequences.get(packet.sequence).reference.as_mut()?;
        reference[0] = reference[0].saturating_add(delta.saturating_mul(1000));
        reference[0]
    } else if let Some(absolute) = event.absolutes[0] {
        absolute.saturating_mul(1000)
    } else {
        return packet.time;
    };
    Some(world.time(MONOTONIC, packet.sequence, told.cast_unsigned()))
}

fn common_of(world: &mut World, packet: &Packet, event: &Event<'_>, time: i64) -> Common {
    let World {
        sequences,
        tracks,
        json,
        schema,
        line,
        ..
    } = world;
    *line += 1;
    let sequence = sequences.get(packet.sequence);
    let name = match (event.name, event.name_id) {
        (Some(name), _) => Some(name),
        (None, Some(id)) => sequence.interned.text(EVENT_NAMES, id),
        (None, None) => None,
    };
    let uuid = event
        .track
        .or(sequence.defaults.as_ref().and_then(|known| known.track));
    let track = match (uuid.filter(|uuid| *uuid != 0), sequence.pid, sequence.tid) {
        (Some(uuid), _, _) => tracks.of(uuid),
        (None, Some(pid), Some(tid)) => tracks.thread(pid, tid),
        (None, _, _) => tracks.of(0),
    };
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
        thread_time: thread_time(sequence, event, 1),
        instructions: thread_time(sequence, event, 2),
        args: None,
    };
    if !event.annotations.is_empty() || !event.others.is_empty() {
        json.clear();
        json.raw(b"{");
        let message = schema.find("TrackEvent");
        let mut args = Args {
            json,
            schema,
            interned: &sequence.interned,
        };
        event
            .annotations
            .iter()
            .for_each(|one| args.annotation(one));
        for (number, value) in &event.others {
            args.field(message, *number, *value);
        }
        json.raw(b"}");
        common.args = Some(json.text.clone());
    }
    common
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

/// Thread time (1, told in µs) or instructions (2), told since the last event or in all.
fn thread_time(sequence: &mut Sequence, event: &Event<'_>, which: usize) -> Option<i64> {
    let unit = if which == 1 { 1000 } else { 1 };
    if let Some(delta) = event.deltas[which] {
        let reference = sequence.reference.as_mut()?;
        reference[which] = reference[which].saturating_add(delta.saturating_mul(unit));
        return Some(reference[which]);
    }
    event.absolutes[which].map(|value| value.saturating_mul(unit))
}

/// The value of a counter as it is, from what a sequence tells of it.
fn absolute(sequence: &mut Sequence, track: usize, counting: Counting, told: f64) -> f64 {
    let told = told * counting.multiplier.filter(|times| *times != 0).unwrap_or(1) as f64;
    if !counting.incremental {
        return told;
    }
    let sum = sequence.sums.entry(track as u64).or_insert(0.0);
    *sum += told;
    *sum
}

/// Values of counters that come with an event.
fn count(
    world: &mut World,
    sink: &mut Sink,
    packet: &Packet,
    event: &Event<'_>,
    common: &mut Common,
) {
    if event.values.is_empty() && event.double_values.is_empty() {
        return;
    }
    let defaults = world.sequences.get(packet.sequence).defaults.clone();
    let pick =
        |own: &[u64], known: fn(&super::sequence::Defaults) -> &Vec<u64>| match own.is_empty() {
            false => own.to_vec(),
            true => defaults
                .as_deref()
                .map(|defaults| known(defaults).clone())
                .unwrap_or_default(),
        };
    let whole = pick(&event.counters, |defaults| &defaults.counters);
    let floats = pick(&event.double_counters, |defaults| &defaults.double_counters);
    let told = whole
        .iter()
        .zip(&event.values)
        .chain(floats.iter().zip(&event.double_values));
    for (uuid, value) in told {
        let track = world.tracks.of(*uuid);
        let counting = world
            .tracks
            .get(track)
            .map(|track| track.counting)
            .unwrap_or_default();
        let value = absolute(
            world.sequences.get(packet.sequence),
            track,
            counting,
            *value,
        );
        match counting.builtin {
            1 => common.thread_time = Some(value as i64),
            2 => common.instructions = Some(value as i64),
            _ => common.value(world, sink, track, value),
        }
    }
}

fn counter(
    world: &mut World,
    sink: &mut Sink,
    packet: &Packet,
    event: &Event<'_>,
    common: &Common,
) {
    let track = world.tracks.get(common.track);
    let counting = track.map(|track| track.counting).unwrap_or_default();
    match event.value {
        Some(value) => {
            let value = absolute(
                world.sequences.get(packet.sequence),
                common.track,
                counting,
                value,
            );
            common.value(world, sink, common.track, value);
        }
        None => world
            .notes
            .add("counter event without a value", 1, false, String::new),
    }
}
