//! Report the statistics of a file as diagnostics and properties.

use super::header::Header;
use super::pages::Stream;
use super::tables::stat;
use crate::rows::{Learnt, Note};
use crate::tracepoints::{Put, Tracepoints};

/// Counts of events without a row, or with an incomplete one.
#[derive(Default)]
pub struct Counts {
    partial: u64,
    short: u64,
    unknown: u64,
    /// The number of the first event without a format.
    unknown_id: Option<u32>,
    too_many: u64,
    pub bad_formats: u64,
}

impl Counts {
    pub fn add(&mut self, put: Put) {
        match put {
            Put::Row => {}
            Put::Partial => self.partial += 1,
            Put::Short => self.short += 1,
            Put::TooMany => self.too_many += 1,
            Put::Unknown(id) => {
                self.unknown += 1;
                self.unknown_id.get_or_insert(id);
            }
        }
    }
}

/// Statistics of a file.
pub struct FileStatistics<'a> {
    pub header: &'a Header,
    pub streams: &'a [Stream],
    pub events: &'a Tracepoints,
    pub counts: &'a Counts,
    /// The earliest time of the trace.
    pub first: Option<i64>,
}

/// Add the statistics of a file to the metadata of the trace.
pub fn learn(file: u32, statistics: &FileStatistics<'_>, learnt: &mut Learnt) {
    let mut notes = Notes { file, notes: &mut learnt.notes };
    losses(statistics, &mut notes);
    damages(statistics, &mut notes);
    events(statistics, &mut notes);
    properties(statistics, &mut learnt.properties);
}

struct Notes<'a> {
    file: u32,
    notes: &'a mut Vec<Note>,
}

impl Notes<'_> {
    fn add(&mut self, reason: &str, count: u64, example: String, incomplete: bool) {
        if count > 0 {
            self.notes.push(Note { file: self.file, reason: reason.to_owned(), count, example, incomplete });
        }
    }
}

/// The sum of a number over all CPUs, and a text with the CPUs that have it.
fn sum(streams: &[Stream], of: impl Fn(&Stream) -> u64) -> (u64, String) {
    let mut total = 0u64;
    let mut words = Vec::new();
    for stream in streams {
        let count = of(stream);
        total = total.saturating_add(count);
        if count > 0 {
            words.push(format!("cpu {}: {count}", stream.cpu));
        }
    }
    (total, words.join(", "))
}

fn losses(statistics: &FileStatistics<'_>, notes: &mut Notes<'_>) {
    let (count, example) = sum(statistics.streams, |one| one.statistics.lost);
    notes.add("events lost by the kernel", count, example, false);
    let (count, example) = sum(statistics.streams, |one| one.statistics.lost_unknown);
    let reason = "events lost by the kernel, which does not say how many";
    notes.add(reason, count, example, false);
    let reasons = [
        ("overrun", "events overwritten in the kernel's buffer"),
        ("commit overrun", "events that came too late for the kernel's buffer"),
        ("dropped events", "events dropped by the kernel"),
        ("entries", "events left in the kernel's buffer"),
    ];
    for (key, reason) in reasons {
        let mut total = 0u64;
        let mut words = Vec::new();
        for text in &statistics.header.options.stats {
            if let Some(count @ 1..) = stat(text, key) {
                total = total.saturating_add(count.unsigned_abs());
                let cpu = stat(text, "CPU").unwrap_or_default();
                words.push(format!("cpu {cpu}: {count}"));
            }
        }
        notes.add(reason, total, words.join(", "), false);
    }
}

fn damages(statistics: &FileStatistics<'_>, notes: &mut Notes<'_>) {
    for fault in &statistics.header.faults {
        notes.add("part of the header cannot be read", 1, fault.clone(), true);
    }
    let texts = statistics.header.buffers.iter().filter(|one| one.is_text).count();
    let reason = "buffer holds the text of a latency tracer, which is not read";
    notes.add(reason, texts as u64, String::new(), true);
    let (count, example) = sum(statistics.streams, |one| one.statistics.missing);
    notes.add("bytes missing at the end of the file", count, example, true);
    let (count, example) = sum(statistics.streams, |one| one.statistics.bad_chunks);
    notes.add("packed pages do not unpack", count, example, true);
    let (count, example) = sum(statistics.streams, |one| one.statistics.bad_pages);
    notes.add("page makes no sense", count, example, true);
    let (count, example) = sum(statistics.streams, |one| one.statistics.bad_entries);
    notes.add("rest of a page makes no sense", count, example, true);
    let (count, example) = sum(statistics.streams, |one| one.statistics.odd);
    notes.add("bytes behind the last whole page", count, example, true);
    let options = &statistics.header.options;
    notes.add("option is too short", options.short, String::new(), false);
    for (id, count) in &options.unknown {
        notes.add("option is unknown", *count, format!("option {id}"), false);
    }
}

fn events(statistics: &FileStatistics<'_>, notes: &mut Notes<'_>) {
    let counts = statistics.counts;
    let none = String::new;
    let example = counts.unknown_id.map(|id| format!("event {id}"));
    let reason = "event whose format is not in the file";
    notes.add(reason, counts.unknown, example.unwrap_or_default(), true);
    notes.add("event is too short", counts.short, none(), true);
    let reason = "event with a value that cannot be read, which is NULL";
    notes.add(reason, counts.partial, none(), false);
    let reason = "event name beyond the 10000 that are kept";
    notes.add(reason, counts.too_many, none(), true);
    let reason = "format of an event cannot be read";
    notes.add(reason, counts.bad_formats, none(), false);
    let reason = "mark with missing fields, kept as text";
    notes.add(reason, statistics.events.bad_marks(), none(), false);
    let clock = clock_of(statistics.header);
    let main = main_clock(statistics.header);
    if !in_ns(&clock, statistics.header.options.tsc.is_some()) && !statistics.streams.is_empty() {
        let reason = "clock does not count ns, and its counts are taken as ns";
        notes.add(reason, 1, clock.clone(), false);
    }
    let others = statistics
        .header
        .buffers
        .iter()
        .filter(|one| !one.clock.is_empty() && one.clock != main && one.cpus.iter().any(|cpu| cpu.size > 0));
    for other in others {
        let name = String::from_utf8_lossy(&other.name);
        let example = format!("buffer `{name}` has the clock {}", other.clock);
        notes.add("buffer has another clock than the main one", 1, example, false);
    }
}

/// The clock of the recording. The option with the clocks of the first recorded buffer counts, as in trace-cmd: with
/// all buffers it stores the clock of the main one, even if that records nothing and has another.
fn clock_of(header: &Header) -> String {
    let clock = header.options.clock.clone();
    if clock.is_empty() { main_clock(header) } else { clock }
}

/// The clock that is stored with the main buffer.
fn main_clock(header: &Header) -> String {
    let main = header.buffers.iter().find(|one| one.name.is_empty() && !one.clock.is_empty());
    main.map_or_else(|| header.options.clock.clone(), |one| one.clock.clone())
}

fn in_ns(clock: &str, converted: bool) -> bool {
    match clock {
        "counter" | "uptime" => false,
        "x86-tsc" | "ppc-tb" => converted,
        _ => true,
    }
}

fn properties(statistics: &FileStatistics<'_>, properties: &mut Vec<(String, String)>) {
    let header = statistics.header;
    let options = &header.options;
    let mut add = |key: &str, value: String| {
        if !value.is_empty() && properties.iter().all(|known| known.0 != key) {
            properties.push((key.to_owned(), value));
        }
    };
    let clock = clock_of(header);
    add("clock", known_clock(&clock).to_owned());
    add("trace_clock", clock);
    let date = options.date.zip(statistics.first);
    let unix = date.map(|(date, first)| first.saturating_add(date).to_string());
    add("start_unix_ns", unix.unwrap_or_default());
    let mut words = options.uname.split_whitespace();
    if let (Some(_), Some(host), Some(kernel)) = (words.next(), words.next(), words.next()) {
        add("host", host.to_owned());
        add("kernel", kernel.to_owned());
        add("machine", words.next().unwrap_or_default().to_owned());
    }
    let tool = format!("trace-cmd {}", options.version);
    add("tool", tool.trim().to_owned());
    add("version", header.version.to_string());
    let seen = header.buffers.iter().map(|one| one.cpus.len()).max();
    let cpus = options.cpus.or(seen.map(|cpus| cpus as u64));
    add("cpus", cpus.map_or(String::new(), |cpus| cpus.to_string()));
    let hex = |id: Option<u64>| id.map_or(String::new(), |id| format!("{id:016x}"));
    add("trace_id", hex(options.trace));
    add("peer_trace_id", hex(options.peer));
    add("guests", options.guests.join(", "));
    add("hooks", options.hooks.join(", "));
}

/// The name of a kernel clock in dctv.
fn known_clock(clock: &str) -> &str {
    match clock {
        "mono" => "monotonic",
        "mono_raw" => "monotonic_raw",
        "boot" => "boottime",
        "" => "trace",
        other => other,
    }
}
