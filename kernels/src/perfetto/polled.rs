//! Convert polled values of the system and of processes into values of counters.

use super::schema::Kind;
use super::tables::{EXTRA, LINE, NAME, PID, Phase, TRACK, TS, put_int, put_text};
use super::tracks::int;
use super::wire::{Fields, Value};
use super::world::World;
use crate::rows::Sink;

/// A polled counter.
pub struct Polled<'a> {
    pub name: &'a [u8],
    pub unit: &'static str,
    pub pid: Option<i64>,
    /// The rest of a counter's identity.
    pub scope: &'a str,
}

/// A value of a polled counter.
pub fn value(world: &mut World, sink: &mut Sink, time: i64, counter: &Polled<'_>, value: f64) {
    let track = world.tracks.counter(counter.name, counter.unit, counter.pid, counter.scope);
    row(world, sink, time, counter, track, value);
}

fn row(world: &mut World, sink: &mut Sink, time: i64, counter: &Polled<'_>, track: usize, value: f64) {
    let table = world.tables.number(sink, Phase::Counter);
    let line = world.next_line();
    let rows = sink.rows(table);
    rows.int(TS, time);
    put_text(rows, NAME, Some(counter.name));
    put_int(rows, PID, counter.pid);
    rows.int(TRACK, track as i64);
    rows.int(LINE, line);
    rows.float(EXTRA, value);
    sink.end(table);
}

/// Memory of processes as in `/proc/PID/status`: field, name, factor to bytes.
const MEMORY: [(u32, &str); 15] = [
    (2, "mem.virt"),
    (3, "mem.rss"),
    (4, "mem.rss.anon"),
    (5, "mem.rss.file"),
    (6, "mem.rss.shmem"),
    (7, "mem.swap"),
    (8, "mem.locked"),
    (9, "mem.rss.watermark"),
    (13, "chrome.private_footprint"),
    (14, "chrome.peak_resident_set"),
    (16, "mem.smaps.rss"),
    (17, "mem.smaps.pss"),
    (18, "mem.smaps.pss.anon"),
    (19, "mem.smaps.pss.file"),
    (20, "mem.smaps.pss.shmem"),
];

/// A message `ProcessStats.Process`.
pub fn process(world: &mut World, sink: &mut Sink, time: i64, message: &[u8]) {
    let pid = int(message, 1);
    for (number, reading) in Fields::of(message) {
        let Some(bits) = reading.number() else {
            continue;
        };
        let (name, unit, scale) = match number {
            10 => ("oom_score_adj", "", 1.0),
            21 => ("runtime.user", "ns", 1.0),
            22 => ("runtime.kernel", "ns", 1.0),
            23 => ("mem.smaps.swap.pss", "B", 1024.0),
            24 => ("mem.dmabuf_rss", "B", 1024.0),
            _ => match MEMORY.iter().find(|(field, _)| *field == number) {
                Some((_, name)) => (*name, "B", 1024.0),
                None => continue,
            },
        };
        let counter = Polled { name: name.as_bytes(), unit, pid: Some(pid), scope: "process" };
        value(world, sink, time, &counter, bits.cast_signed() as f64 * scale);
    }
}

/// A message `SysStats`: its single values; its lists of records have tables of their own.
pub fn system(world: &mut World, sink: &mut Sink, time: i64, message: &[u8]) {
    let (mut cpus, mut gpus) = (0, 0);
    for (number, reading) in Fields::of(message) {
        match (number, reading) {
            (1, Value::Bytes(pair)) => keyed(world, sink, time, pair, "MeminfoValue"),
            (2, Value::Bytes(pair)) => keyed(world, sink, time, pair, "VmstatValue"),
            (14, Value::Bytes(pair)) => keyed(world, sink, time, pair, "PsiSample"),
            (4, Value::Varint(bits)) => single(world, sink, time, ("num_forks", "", ""), bits as f64),
            (5, Value::Varint(bits)) => single(world, sink, time, ("num_irq_total", "", ""), bits as f64),
            (7, Value::Varint(bits)) => single(world, sink, time, ("num_softirq_total", "", ""), bits as f64),
            (6 | 8, Value::Bytes(pair)) => {
                let name = if number == 6 { "num_irq" } else { "num_softirq" };
                let count = super::wire::number(pair, 2).unwrap_or(0);
                one_of(world, sink, time, (name, "", &int(pair, 1).to_string()), count as f64);
            }
            (10, Value::Bytes(pair)) => {
                let name = String::from_utf8_lossy(super::wire::bytes(pair, 1).unwrap_or_default()).into_owned();
                let hertz = super::wire::number(pair, 2).unwrap_or(0);
                one_of(world, sink, time, ("devfreq", "", &name), hertz as f64);
            }
            (11, _) => cpus = frequencies(world, sink, time, reading, (cpus, "cpufreq", "kHz")),
            (17, _) => gpus = frequencies(world, sink, time, reading, (gpus, "gpufreq", "MHz")),
            (15, Value::Bytes(zone)) => thermal(world, sink, time, zone),
            _ => (),
        }
    }
}

fn single(world: &mut World, sink: &mut Sink, time: i64, of: (&str, &'static str, &str), reading: f64) {
    let (name, unit, scope) = of;
    let counter = Polled { name: name.as_bytes(), unit, pid: None, scope };
    value(world, sink, time, &counter, reading);
}

/// A value of one of several CPUs, interrupts or devices: its track is named after it, since nothing else tells which.
fn one_of(world: &mut World, sink: &mut Sink, time: i64, of: (&str, &'static str, &str), reading: f64) {
    let (name, unit, which) = of;
    let track = world.tracks.counter(format!("{name} {which}").as_bytes(), unit, None, name);
    let counter = Polled { name: name.as_bytes(), unit, pid: None, scope: name };
    row(world, sink, time, &counter, track, reading);
}

fn frequencies(
    world: &mut World,
    sink: &mut Sink,
    time: i64,
    reading: Value<'_>,
    of: (u64, &str, &'static str),
) -> u64 {
    let (mut number, name, unit) = of;
    let mut all = Vec::new();
    super::sequence::numbers(reading, &mut all);
    for bits in all {
        one_of(world, sink, time, (name, unit, &number.to_string()), bits as f64);
        number += 1;
    }
    number
}

fn thermal(world: &mut World, sink: &mut Sink, time: i64, zone: &[u8]) {
    let text = |number| String::from_utf8_lossy(super::wire::bytes(zone, number).unwrap_or_default()).into_owned();
    let zone_name = text(1);
    let name = match text(3) {
        kind if kind.is_empty() => zone_name.clone(),
        kind => kind,
    };
    let degrees = super::wire::number(zone, 2).unwrap_or(0).cast_signed();
    let scope = format!("temperature {zone_name}");
    single(world, sink, time, (&name, "", &scope), degrees as f64);
}

/// A pair of a key, from an enumeration, and a value.
fn keyed(world: &mut World, sink: &mut Sink, time: i64, pair: &[u8], kind: &str) {
    let key = super::wire::number(pair, 1).unwrap_or(0);
    let bits = super::wire::number(pair, 2).unwrap_or(0);
    let message = world.schema.find(&format!("SysStats.{kind}"));
    let field = message.and_then(|message| world.schema.message(message)).and_then(|message| message.field(1));
    let name = match field.map(|field| field.kind) {
        Some(Kind::Enum(names)) => world.schema.value_name(names, key.cast_signed()),
        _ => None,
    };
    let name = name.map_or_else(|| key.to_string(), str::to_owned);
    match kind {
        "MeminfoValue" => single(world, sink, time, (&meminfo(&name), "B", ""), bits as f64 * 1024.0),
        "VmstatValue" => {
            let name = name.trim_start_matches("VMSTAT_").to_lowercase();
            single(world, sink, time, (&name, "", "vmstat"), bits as f64);
        }
        _ => {
            let name = name.trim_start_matches("PSI_RESOURCE_").to_lowercase();
            let name = format!("psi.{}", name.replace('_', "."));
            single(world, sink, time, (&name, "ns", ""), bits as f64);
        }
    }
}

/// The key of `/proc/meminfo` for the name of an enumeration value.
fn meminfo(name: &str) -> String {
    let name = name.trim_start_matches("MEMINFO_");
    match name {
        "ACTIVE_ANON" => return "Active(anon)".to_owned(),
        "ACTIVE_FILE" => return "Active(file)".to_owned(),
        "INACTIVE_ANON" => return "Inactive(anon)".to_owned(),
        "INACTIVE_FILE" => return "Inactive(file)".to_owned(),
        "SLAB_RECLAIMABLE" => return "SReclaimable".to_owned(),
        "SLAB_UNRECLAIMABLE" => return "SUnreclaim".to_owned(),
        "COMMITED_AS" => return "Committed_AS".to_owned(),
        _ => (),
    }
    let words = name.split('_').map(|word| match word.split_at_checked(1) {
        Some((first, rest)) => format!("{first}{}", rest.to_lowercase()),
        None => String::new(),
    });
    words.collect()
}
