//! Convert information about the system, the recorder and losses into properties and diagnostics.

use super::schema::Kind;
use super::wire::{Fields, Value};
use super::world::World;

fn text(message: &[u8], number: u32) -> Option<String> {
    super::wire::bytes(message, number).map(|text| String::from_utf8_lossy(text).into_owned())
}

/// A message `SystemInfo`.
pub fn system(world: &mut World, message: &[u8]) {
    if let Some(names) = super::wire::bytes(message, 1) {
        for (key, number) in [("system", 1), ("kernel_build", 2), ("kernel", 3), ("machine", 4)] {
            if let Some(text) = text(names, number) {
                world.property(key, text);
            }
        }
        world.kernel = text(names, 3).and_then(|release| version(&release)).or(world.kernel);
    }
    for (key, number) in [("android_build", 2), ("tool", 4), ("soc", 9), ("manufacturer", 14), ("host", 17)] {
        if let Some(text) = text(message, number) {
            world.property(key, text);
        }
    }
    for (key, number) in [("android_sdk", 5), ("page_size", 6), ("cpus", 8), ("ram_bytes", 16)] {
        if let Some(number) = super::wire::number(message, number) {
            world.property(key, number.to_string());
        }
    }
}

/// Major and minor number of a release such as `6.1.0-rc3`.
fn version(release: &str) -> Option<(u64, u64)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// A message `TraceUuid`.
pub fn uuid(world: &mut World, message: &[u8]) {
    let half = |number| super::wire::number(message, number).unwrap_or(0);
    let bits = u128::from(half(1)) << 64 | u128::from(half(2));
    let hex = format!("{bits:032x}");
    let parts: Vec<&str> =
        [(0, 8), (8, 12), (12, 16), (16, 20), (20, 32)].iter().filter_map(|(from, to)| hex.get(*from..*to)).collect();
    world.property("uuid", parts.join("-"));
}

/// A message `TraceConfig`.
pub fn config(world: &mut World, message: &[u8]) {
    let described = world.schema.find("TraceConfig").and_then(|number| world.schema.message(number));
    let field = described.and_then(|message| message.named("unique_session_name"));
    if let Some(name) = field.and_then(|field| text(message, field.number)) {
        world.property("session", name);
    }
}

/// A number in a message, by its name in the descriptor.
fn named(world: &World, kind: &str, message: &[u8], name: &str) -> u64 {
    let described = world.schema.find(kind).and_then(|number| world.schema.message(number));
    let field = described.and_then(|message| message.named(name));
    field.and_then(|field| super::wire::number(message, field.number)).unwrap_or(0)
}

/// A message `TraceStats`: the last one counts.
pub fn stats(world: &mut World, message: &[u8]) {
    let described = world.schema.find("TraceStats").and_then(|number| world.schema.message(number));
    let buffers = described.and_then(|message| message.named("buffer_stats")).map(|field| field.number);
    for (name, reason) in [
        ("chunks_overwritten", "chunks overwritten in the recorder's buffer"),
        ("chunks_discarded", "chunks discarded by the recorder"),
        ("trace_writer_packet_loss", "packets lost by writers, as the recorder counts"),
        ("patches_failed", "packets that the recorder could not complete"),
        ("abi_violations", "chunks refused by the recorder"),
    ] {
        let mut count = 0u64;
        for (number, value) in Fields::of(message) {
            if let (Value::Bytes(buffer), true) = (value, Some(number) == buffers) {
                count = count.saturating_add(named(world, "TraceStats.BufferStats", buffer, name));
            }
        }
        world.notes.set(reason, count, String::new);
    }
    let errors = named(world, "TraceStats", message, "flushes_failed");
    world.notes.set("flushes that failed", errors, String::new);
    let final_flush = named(world, "TraceStats", message, "invalid_packets");
    world.notes.set("packets refused by the recorder", final_flush, String::new);
}

/// A message `FtraceStats`.
pub fn ftrace(world: &mut World, message: &[u8]) {
    let described = world.schema.find("FtraceStats").and_then(|number| world.schema.message(number));
    let cpus = described.and_then(|message| message.named("cpu_stats"));
    let Some((cpus, Kind::Message(kind))) = cpus.map(|field| (field.number, field.kind)) else {
        return;
    };
    let ends = super::wire::number(message, 1) == Some(2);
    for (number, value) in Fields::of(message) {
        match (number, value) {
            (number, Value::Bytes(cpu)) if number == cpus => lost(world, kind, cpu, ends),
            (6, Value::Bytes(name)) => unknown(world, "event that the recorder did not know", name),
            (7, Value::Bytes(name)) => unknown(world, "event that could not be enabled", name),
            (5, Value::Bytes(name)) if !name.is_empty() => unknown(world, "atrace failed", name),
            _ => (),
        }
    }
}

fn unknown(world: &mut World, reason: &str, name: &[u8]) {
    world.notes.add(reason, 1, false, || String::from_utf8_lossy(name).into_owned());
}

/// Events of a CPU that its ring buffer lost during the recording.
fn lost(world: &mut World, kind: usize, stats: &[u8], ends: bool) {
    for (name, reason) in [
        ("overrun", "events overwritten in the kernel's buffer"),
        ("commit_overrun", "events lost in the kernel, nested too deeply"),
        ("dropped_events", "events dropped by the kernel"),
    ] {
        let field = world.schema.message(kind).and_then(|message| message.named(name));
        let count = field.and_then(|field| super::wire::number(stats, field.number)).unwrap_or(0);
        let cpu = super::wire::number(stats, 1).unwrap_or(0);
        let before = world.losses.entry((cpu, name)).or_insert(0);
        if !ends {
            *before = count;
            continue;
        }
        let during = count.saturating_sub(*before);
        if during > 0 {
            world.notes.add(reason, during, false, || format!("cpu {cpu}"));
        }
    }
}

/// The clusters of CPUs, messages `CpuInfo.Cpu`: CPUs of equal capacity, or else of equal maximum frequency.
///
/// Clusters are numbered from 0, the slowest. None if this is not known for every CPU.
pub fn clusters(cpus: &[&[u8]]) -> Vec<Option<i64>> {
    let capacity = |cpu: &&[u8]| super::wire::number(cpu, 3);
    let fastest = |cpu: &&[u8]| {
        let mut frequencies = Vec::new();
        for (number, value) in Fields::of(cpu) {
            if number == 2 {
                super::sequence::numbers(value, &mut frequencies);
            }
        }
        frequencies.into_iter().max()
    };
    let all = |of: &dyn Fn(&&[u8]) -> Option<u64>| cpus.iter().map(of).collect::<Option<Vec<_>>>();
    let Some(speeds) = all(&capacity).or_else(|| all(&fastest)) else {
        return vec![None; cpus.len()];
    };
    let distinct: std::collections::BTreeSet<u64> = speeds.iter().copied().collect();
    let place = |speed: &u64| distinct.range(..speed).count() as i64;
    speeds.iter().map(|speed| Some(place(speed))).collect()
}

/// A message `ExtensionDescriptor`: descriptors in the trace.
pub fn extensions(world: &mut World, message: &[u8]) {
    for (number, value) in Fields::of(message) {
        let (1, Value::Bytes(set)) = (number, value) else {
            world.notes.add("descriptors in a form that is not known", 1, false, || format!("field {number}"));
            continue;
        };
        for (number, value) in Fields::of(set) {
            if let (1, Value::Bytes(file)) = (number, value) {
                world.schema.add_file(file);
            }
        }
    }
}
