//! Convert track events with a phase of Chrome's JSON format into rows of the same tables as for that format.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::annotations::annotation_name;
use super::tables::{EXTRA, Phase, put_int};
use super::track_event::{Common, Event, flows};
use super::tracks::int;
use super::wire::{Fields, Value};
use super::world::World;
use crate::rows::Sink;

/// An event's id. As in JSON, only a local one belongs to its process: others are one kind, whose writers may differ in
/// how they call them.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Id {
    #[default]
    None,
    Unscoped(u64),
    Local(u64),
    Global(u64),
}

impl Id {
    fn number(self) -> u64 {
        match self {
            Id::None => 0,
            Id::Unscoped(id) | Id::Local(id) | Id::Global(id) => id,
        }
    }

    fn text(self) -> String {
        format!("0x{:x}", self.number())
    }
}

/// A message `TrackEvent.LegacyEvent`.
#[derive(Default)]
struct Legacy<'a> {
    phase: u8,
    duration: Option<i64>,
    thread_duration: Option<i64>,
    id: Id,
    scope: Option<&'a [u8]>,
    bind: Option<u64>,
    enclosing: bool,
    direction: u64,
    pid: Option<i64>,
    tid: Option<i64>,
    instant_scope: u64,
}

impl<'a> Legacy<'a> {
    fn of(message: &'a [u8]) -> Legacy<'a> {
        let mut legacy = Legacy::default();
        for (number, value) in Fields::of(message) {
            let bits = value.number();
            match (number, value) {
                (2, _) => legacy.phase = bits.and_then(|bits| u8::try_from(bits).ok()).unwrap_or(b'?'),
                (3, _) => legacy.duration = bits.map(u64::cast_signed),
                (4, _) => legacy.thread_duration = bits.map(u64::cast_signed),
                (6, Value::Varint(id)) => legacy.id = Id::Unscoped(id),
                (10, Value::Varint(id)) => legacy.id = Id::Local(id),
                (11, Value::Varint(id)) => legacy.id = Id::Global(id),
                (7, _) => legacy.scope = value.bytes(),
                (8, _) => legacy.bind = bits,
                (12, _) => legacy.enclosing = bits == Some(1),
                (13, _) => legacy.direction = bits.unwrap_or(0),
                (14, _) => legacy.instant_scope = bits.unwrap_or(0),
                (18, _) => legacy.pid = Some(int(message, 18)),
                (19, _) => legacy.tid = Some(int(message, 19)),
                _ => (),
            }
        }
        legacy
    }
}

/// The process and thread of an event according to a message `LegacyEvent`.
pub fn thread(message: &[u8]) -> (Option<i64>, Option<i64>) {
    let read = |number| super::wire::number(message, number).map(|_| int(message, number));
    (read(18), read(19))
}

/// Put an event without a type into rows, by its phase.
pub fn row(world: &mut World, sink: &mut Sink, event: &Event<'_>, mut common: Common) {
    let legacy = event.legacy.map(Legacy::of).unwrap_or_default();
    place(world, &legacy, &mut common);
    let phase = match legacy.phase {
        b'B' => Phase::Begin,
        b'E' => Phase::End,
        b'i' | b'I' | b'R' => Phase::Instant,
        b'b' | b'S' => Phase::AsyncBegin,
        b'e' | b'F' => Phase::AsyncEnd,
        b'n' | b'T' | b'p' => Phase::AsyncInstant,
        b'P' => Phase::Sample,
        b'X' => return complete(world, sink, event, &legacy, &common),
        b'C' => return counters(world, sink, event, &common),
        b's' => return arrow(world, sink, Phase::FlowBegin, &legacy, &common),
        b't' => return arrow(world, sink, Phase::FlowStep, &legacy, &common),
        b'f' => return arrow(world, sink, Phase::FlowEnd, &legacy, &common),
        b'N' => return object(world, sink, Phase::ObjectNew, &legacy, &common),
        b'O' => return object(world, sink, Phase::ObjectSnapshot, &legacy, &common),
        b'D' => return object(world, sink, Phase::ObjectDelete, &legacy, &common),
        other => return mark(world, sink, other, &common),
    };
    if matches!(phase, Phase::AsyncBegin | Phase::AsyncEnd | Phase::AsyncInstant) {
        common.track = async_track(world, &legacy, &common);
    } else if let b'i' | b'I' = legacy.phase {
        scope(world, &legacy, &mut common);
    }
    common.row(world, sink, phase);
    flows(world, sink, event, &common, phase);
}

/// Instant events of a process or of the whole trace are on a track of that.
fn scope(world: &mut World, legacy: &Legacy<'_>, common: &mut Common) {
    match (legacy.instant_scope, common.pid) {
        (1, _) => {
            common.track = world.tracks.moments(None);
            (common.pid, common.tid) = (None, None);
        }
        (2, Some(pid)) => {
            common.track = world.tracks.moments(Some(pid));
            common.tid = None;
        }
        _ => (),
    }
}

/// The thread of an event according to itself, instead of the writing thread.
fn place(world: &mut World, legacy: &Legacy<'_>, common: &mut Common) {
    if legacy.pid.is_none() && legacy.tid.is_none() {
        return;
    }
    common.pid = legacy.pid.or(common.pid);
    common.tid = legacy.tid.or(common.tid);
    if let (Some(pid), Some(tid)) = (common.pid, common.tid) {
        common.track = world.tracks.thread(pid, tid);
    }
}

fn async_track(world: &mut World, legacy: &Legacy<'_>, common: &Common) -> usize {
    let mut scope = common.category.clone().unwrap_or_default();
    if let Some(read) = legacy.scope {
        scope.push(b':');
        scope.extend_from_slice(read);
    }
    let pid = match legacy.id {
        Id::Local(_) => common.pid,
        _ => None,
    };
    // In the older kind, events with one id and several names are separate.
    let name = match legacy.phase {
        b'S' | b'T' | b'p' | b'F' => common.name.clone().unwrap_or_default(),
        _ => Vec::new(),
    };
    if legacy.id == Id::None {
        let reason = "asynchronous event without an id";
        world.notes.add(reason, 1, false, || String::from_utf8_lossy(&name).into_owned());
    }
    world.tracks.id(&scope, &legacy.id.text(), pid, &name)
}

fn complete(world: &mut World, sink: &mut Sink, event: &Event<'_>, legacy: &Legacy<'_>, common: &Common) {
    let table = common.put(world, sink, Phase::Complete);
    let rows = sink.rows(table);
    let ns = |micros: Option<i64>| micros.map(|micros| micros.saturating_mul(1000));
    put_int(rows, EXTRA, ns(legacy.duration));
    put_int(rows, EXTRA + 1, common.thread_time);
    put_int(rows, EXTRA + 2, ns(legacy.thread_duration));
    sink.end(table);
    flows(world, sink, event, common, Phase::Complete);
}

/// Each annotation of a counter is a series of its own.
fn counters(world: &mut World, sink: &mut Sink, event: &Event<'_>, common: &Common) {
    let name = common.name.clone().unwrap_or_default();
    for annotation in &event.annotations {
        let value = Fields::of(annotation).find_map(|(number, value)| match (number, value) {
            (3, Value::Varint(bits)) => Some(bits as f64),
            (2 | 4, Value::Varint(bits)) => Some(bits.cast_signed() as f64),
            (5, Value::Fixed64(bits)) => Some(f64::from_bits(bits)),
            (6, Value::Bytes(text)) => str::from_utf8(text).ok()?.trim().parse().ok(),
            _ => None,
        });
        let Some(value) = value else {
            world
                .notes
                .add("counter value that is no number", 1, false, || String::from_utf8_lossy(&name).into_owned());
            continue;
        };
        let series = series(world, common.sequence, annotation);
        let mut whole = name.clone();
        if !matches!(series.as_slice(), b"" | b"value") {
            whole.push(b' ');
            whole.extend_from_slice(&series);
        }
        let track = world.tracks.counter(&whole, "", common.pid, "chrome");
        common.value(world, sink, track, value);
    }
}

/// The name of a value of a counter.
fn series(world: &mut World, sequence: u32, annotation: &[u8]) -> Vec<u8> {
    let World { sequences, .. } = world;
    let interned = &sequences.get(sequence).interned;
    annotation_name(interned, annotation).unwrap_or_default().to_owned()
}

/// An arrow of the older kind: it is identified by id, category and name.
fn arrow(world: &mut World, sink: &mut Sink, phase: Phase, legacy: &Legacy<'_>, common: &Common) {
    let mut hasher = FxHasher::default();
    (legacy.id.number(), &common.category, &common.name, legacy.scope).hash(&mut hasher);
    let binding: &[u8] = match (legacy.enclosing, phase) {
        (true, _) | (_, Phase::FlowBegin | Phase::FlowStep) => b"enclosing",
        _ => b"next",
    };
    common.flow(world, sink, phase, hasher.finish() >> 1, binding);
}

/// An arrow of the newer kind, which begins or ends at a slice.
pub fn bound(world: &mut World, sink: &mut Sink, message: &[u8], common: &Common, binding: &[u8]) {
    let legacy = Legacy::of(message);
    let Some(bind) = legacy.bind else {
        return;
    };
    let phase = match legacy.direction {
        1 => Phase::FlowEnd,
        2 => Phase::FlowBegin,
        3 => Phase::FlowStep,
        _ => return,
    };
    common.flow(world, sink, phase, bind, binding);
}

fn object(world: &mut World, sink: &mut Sink, phase: Phase, legacy: &Legacy<'_>, common: &Common) {
    let table = common.put(world, sink, phase);
    sink.rows(table).text(EXTRA, legacy.id.text().as_bytes());
    sink.end(table);
}

fn mark(world: &mut World, sink: &mut Sink, phase: u8, common: &Common) {
    if phase == 0 {
        world.notes.add("track event without a type", 1, false, String::new);
    }
    let table = common.put(world, sink, Phase::Mark);
    sink.rows(table).text(EXTRA, &[phase]);
    sink.end(table);
}
