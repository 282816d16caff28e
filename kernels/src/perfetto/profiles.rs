//! Convert stack samples of the CPU and of the heap into rows with each stack as one string, outermost function first.

use std::sync::Arc;

use super::clocks::{MONOTONIC, MONOTONIC_COARSE};
use super::generic::{Generic, Shape};
use super::sequence::{
    BUILD_IDS, CALLSTACKS, EXECUTION_CONTEXTS, FRAMES, FUNCTION_NAMES, Interned, MAPPING_PATHS, MAPPINGS,
    SAMPLE_COUNTERS, TASK_CONTEXTS, numbers,
};
use super::tables::{EXTRA, LINE, PID, Phase, TID, TS, put_int, put_text};
use super::wire::{Fields, Value};
use super::world::{Packet, World};
use crate::rows::{Sink, Type};

/// Maximum frames of a stack; the innermost of a longer one are dropped.
const MOST_FRAMES: usize = 1024;

/// One sample.
#[derive(Default)]
struct Sample<'a> {
    cpu: Option<i64>,
    pid: Option<i64>,
    tid: Option<i64>,
    event: Option<&'a [u8]>,
    period: Option<f64>,
    stack: Option<Arc<[u8]>>,
}

fn put(world: &mut World, sink: &mut Sink, time: i64, sample: &Sample<'_>) {
    let table = world.tables.number(sink, Phase::Sample);
    let line = world.next_line();
    let rows = sink.rows(table);
    rows.int(TS, time);
    put_int(rows, PID, sample.pid);
    put_int(rows, TID, sample.tid);
    rows.int(LINE, line);
    put_int(rows, EXTRA, sample.cpu);
    put_text(rows, EXTRA + 1, sample.event);
    if let Some(period) = sample.period {
        rows.float(EXTRA + 2, period);
    }
    put_text(rows, EXTRA + 3, sample.stack.as_deref());
    sink.end(table);
}

/// The text of an interned stack.
fn stack(world: &mut World, sequence: u32, id: u64) -> Option<Arc<[u8]>> {
    let interned = &world.sequences.get(sequence).interned;
    if let Some(known) = interned.stack(id) {
        return Some(known);
    }
    let message = interned.message(CALLSTACKS, id)?;
    let mut frames = Vec::new();
    for (number, value) in Fields::of(message) {
        if number == 2 {
            numbers(value, &mut frames);
        }
    }
    let mut text = Vec::new();
    let mut whole = true;
    for frame in frames.iter().take(MOST_FRAMES) {
        if !text.is_empty() {
            text.push(b';');
        }
        whole &= push_frame(interned, *frame, &mut text);
    }
    let text: Arc<[u8]> = text.into();
    if whole {
        world.sequences.keep_stack(sequence, id, &text);
    }
    Some(text)
}

/// Append a frame: its function, or its file and offset; false if it is not known.
fn push_frame(interned: &Interned, id: u64, text: &mut Vec<u8>) -> bool {
    let Some(frame) = interned.message(FRAMES, id) else {
        text.extend_from_slice(b"[unknown]");
        return false;
    };
    let function = super::wire::number(frame, 2).and_then(|name| interned.text(FUNCTION_NAMES, name));
    if let Some(name) = function.filter(|name| !name.is_empty()) {
        text.extend(name.iter().map(|byte| if *byte == b';' { b':' } else { *byte }));
        return true;
    }
    let mapping = super::wire::number(frame, 3).and_then(|id| interned.message(MAPPINGS, id));
    let mut parts = Vec::new();
    for (number, value) in mapping.map(Fields::of).into_iter().flatten() {
        if number == 7 {
            numbers(value, &mut parts);
        }
    }
    for part in &parts {
        text.push(b'/');
        text.extend_from_slice(interned.text(MAPPING_PATHS, *part).unwrap_or_default());
    }
    let place = super::wire::number(frame, 4).unwrap_or(0);
    text.extend_from_slice(format!("+0x{place:x}").as_bytes());
    true
}

/// A message `PerfSample`.
pub fn perf(world: &mut World, sink: &mut Sink, packet: &Packet, message: &[u8]) {
    let Some(time) = packet.time else {
        world.notes.add("sample without a time", 1, false, String::new);
        return;
    };
    let mut sample = Sample::default();
    let mut callstack = None;
    for (number, value) in Fields::of(message) {
        let bits = value.number();
        match number {
            1 => sample.cpu = bits.map(u64::cast_signed),
            2 => sample.pid = bits.map(u64::cast_signed),
            3 => sample.tid = bits.map(u64::cast_signed),
            4 => callstack = bits,
            6 => sample.period = bits.map(|bits| bits as f64),
            17 => {
                let lost = bits.unwrap_or(0);
                world.notes.add("samples lost by the kernel", lost, false, String::new);
                return;
            }
            18 => world.notes.add("samples skipped by the profiler", 1, false, String::new),
            _ => (),
        }
    }
    sample.stack = callstack.and_then(|id| stack(world, packet.sequence, id));
    let defaults = world.sequences.get(packet.sequence).defaults.clone();
    let name = defaults.as_deref().and_then(|defaults| timebase(&defaults.perf));
    sample.event = name.as_deref().map(str::as_bytes);
    put(world, sink, time, &sample);
}

/// The perf event counted by a sequence's samples, from `PerfSampleDefaults`.
fn timebase(defaults: &[u8]) -> Option<String> {
    let timebase = super::wire::bytes(defaults, 1)?;
    let text = |message: &[u8], number| {
        super::wire::bytes(message, number).map(|text| String::from_utf8_lossy(text).into_owned())
    };
    if let Some(name) = text(timebase, 10) {
        return Some(name);
    }
    let tracepoint = super::wire::bytes(timebase, 3).and_then(|point| text(point, 1));
    tracepoint.or_else(|| super::wire::number(timebase, 4).map(|counter| format!("counter {counter}")))
}

/// A message `StreamingProfilePacket` of Chrome.
pub fn streaming(world: &mut World, sink: &mut Sink, packet: &Packet, message: &[u8]) {
    let (mut stacks, mut deltas) = (Vec::new(), Vec::new());
    for (number, value) in Fields::of(message) {
        match number {
            1 => numbers(value, &mut stacks),
            2 => numbers(value, &mut deltas),
            _ => (),
        }
    }
    let sequence = world.sequences.get(packet.sequence);
    let (pid, tid) = (sequence.pid, sequence.tid);
    let reference = sequence.reference.map(|reference| reference[0]);
    if stacks.len() != deltas.len() {
        world.notes.add("samples whose times are missing", 1, true, String::new);
    }
    let mut behind = 0i64;
    for (place, delta) in deltas.iter().enumerate() {
        behind = behind.saturating_add(delta.cast_signed().saturating_mul(1000));
        let time = match (reference, packet.time) {
            (Some(base), _) => {
                let moment = base.saturating_add(behind).cast_unsigned();
                world.time(MONOTONIC, packet.sequence, moment)
            }
            (None, Some(time)) => world.own_time(time.saturating_add(behind).cast_unsigned()),
            (None, None) => {
                world.notes.add("sample without a time", 1, false, String::new);
                return;
            }
        };
        let (Some(time), Some(id)) = (time, stacks.get(place)) else {
            continue;
        };
        let sample = Sample { pid, tid, stack: stack(world, packet.sequence, *id), ..Sample::default() };
        put(world, sink, time, &sample);
    }
    if let Some(reference) = &mut world.sequences.get(packet.sequence).reference {
        reference[0] = reference[0].saturating_add(behind);
    }
}

/// A message `StackSample`.
pub fn stack_sample(world: &mut World, sink: &mut Sink, packet: &Packet, message: &[u8]) {
    let Some(time) = packet.time else {
        world.notes.add("sample without a time", 1, false, String::new);
        return;
    };
    let mut sample = Sample::default();
    let callstack = super::wire::number(message, 6);
    let interned = &world.sequences.get(packet.sequence).interned;
    let of = |inline: u32, id: u32, field: u32| {
        super::wire::bytes(message, inline)
            .or_else(|| interned.message(field, super::wire::number(message, id)?))
            .map(<[u8]>::to_owned)
    };
    let task = of(1, 2, TASK_CONTEXTS).unwrap_or_default();
    let execution = of(3, 4, EXECUTION_CONTEXTS).unwrap_or_default();
    let counter = of(9, 10, SAMPLE_COUNTERS).unwrap_or_default();
    let int = |message: &[u8], number| super::wire::number(message, number).map(u64::cast_signed);
    (sample.pid, sample.tid) = (int(&task, 2), int(&task, 3));
    sample.cpu = int(&execution, 2);
    sample.event = super::wire::bytes(&counter, 2);
    sample.period = super::wire::number(message, 11).map(|weight| weight as f64);
    sample.stack = match (super::wire::bytes(message, 5), callstack) {
        (Some(inline), _) => Some(inline_stack(inline).into()),
        (None, Some(id)) => stack(world, packet.sequence, id),
        (None, None) => None,
    };
    put(world, sink, time, &sample);
}

/// A message `InlineCallstack` as text.
fn inline_stack(message: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    for (number, value) in Fields::of(message) {
        if let (1, Value::Bytes(frame)) = (number, value) {
            if !text.is_empty() {
                text.push(b';');
            }
            text.extend_from_slice(super::wire::bytes(frame, 1).unwrap_or(b"[unknown]"));
        }
    }
    text
}

/// A message `ProfilePacket` of the heap profiler: one row for each stack of each process.
pub fn heap(world: &mut World, sink: &mut Sink, generic: &mut Generic, packet: &Packet, message: &[u8]) {
    for (number, value) in Fields::of(message) {
        let Value::Bytes(one) = value else {
            continue;
        };
        let fields: &[u32] = match number {
            1 => &[FUNCTION_NAMES, BUILD_IDS, MAPPING_PATHS],
            4 => &[MAPPINGS],
            2 => &[FRAMES],
            3 => &[CALLSTACKS],
            _ => &[],
        };
        for field in fields {
            world.sequences.keep(packet.sequence, *field, one);
        }
    }
    for (number, value) in Fields::of(message) {
        if let (5, Value::Bytes(dump)) = (number, value) {
            heap_dump(world, sink, generic, packet, dump);
        }
    }
}

const HEAP: Shape =
    Shape { event: true, duration: "", more: &[("pid", Type::Int), ("heap_name", Type::Text), ("stack", Type::Text)] };

fn heap_dump(world: &mut World, sink: &mut Sink, generic: &mut Generic, packet: &Packet, dump: &[u8]) {
    let pid = super::wire::number(dump, 1).map(u64::cast_signed);
    let name = super::wire::bytes(dump, 11);
    let time = match super::wire::number(dump, 9).filter(|time| *time > 0) {
        Some(time) => world.time(MONOTONIC_COARSE, packet.sequence, time),
        None => packet.time.or(world.last_time),
    };
    let Some(time) = time else {
        let reason = "heap profile without a time";
        return world.notes.add(reason, 1, false, String::new);
    };
    for (field, reason) in [
        (4, "heap profile refused, since the process is profiled already"),
        (7, "heap profile whose buffer overran"),
        (8, "heap profile whose buffer was damaged"),
        (10, "heap profile ended by its limits"),
    ] {
        if super::wire::number(dump, field) == Some(1) {
            world.notes.add(reason, 1, false, || format!("process {}", pid.unwrap_or(0)));
        }
    }
    let Some(kind) = world.schema.find("ProfilePacket.HeapSample") else {
        return;
    };
    for (number, value) in Fields::of(dump) {
        if let (2, Value::Bytes(sample)) = (number, value) {
            let text = super::wire::number(sample, 1).and_then(|id| stack(world, packet.sequence, id));
            generic.row(world, sink, ("heap_sample", kind, HEAP), time, sample, |rows, first| {
                put_int(rows, first, pid);
                put_text(rows, first + 1, name);
                put_text(rows, first + 2, text.as_deref());
            });
        }
    }
}
