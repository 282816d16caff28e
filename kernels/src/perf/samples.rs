//! Convert samples into rows of `raw_events.sample`, with their stacks as text.

use std::fmt::Write;
use std::sync::Arc;

use super::attr::{Events, TRACEPOINT, has};
use super::maps::{Maps, Mode};
use super::metadata::Metadata;
use super::sample::{self, Sample};
use super::work::Work;
use crate::input::bytes::Bytes;
use crate::rows::{ColumnSpec, EventSpec, Sink, TableSpec, Type};
use crate::tracepoints::{Put, Record};

/// The maximum depth of a stack that is kept whole.
const DEPTH: usize = 1024;
/// Maximum branches and bytes of raw data that are kept of a sample.
const BRANCHES: usize = 64;
const RAW: usize = 4096;

/// Markers in call chains.
const CONTEXT_MAX: u64 = -4095i64 as u64;

const COLUMNS: [(&str, Type, &str, u64); 29] = [
    ("_ts", Type::Int, "ns", 0),
    ("event", Type::Text, "", 0),
    ("pid", Type::Int, "", 0),
    ("tid", Type::Int, "", 0),
    ("cpu", Type::Int, "", 0),
    ("comm", Type::Text, "", 0),
    ("mode", Type::Text, "", 0),
    ("period", Type::Uint, "", 0),
    ("ip", Type::Uint, "", 0),
    ("stack", Type::Text, "", 0),
    ("line", Type::Int, "", 0),
    ("addr", Type::Uint, "", has::ADDR),
    ("addr_frame", Type::Text, "", has::ADDR),
    ("stream_id", Type::Uint, "", has::STREAM_ID),
    ("value", Type::Uint, "", has::READ),
    ("group_values", Type::Json, "", has::READ),
    ("branches", Type::Text, "", has::BRANCH_STACK),
    ("user_stack_size", Type::Uint, "B", has::STACK_USER),
    ("weight", Type::Uint, "", has::WEIGHT),
    ("data_src", Type::Uint, "", has::DATA_SRC),
    ("transaction", Type::Uint, "", has::TRANSACTION),
    ("phys_addr", Type::Uint, "", has::PHYS_ADDR),
    ("cgroup", Type::Uint, "", has::CGROUP),
    ("data_page_size", Type::Uint, "B", has::DATA_PAGE_SIZE),
    ("code_page_size", Type::Uint, "B", has::CODE_PAGE_SIZE),
    ("aux_size", Type::Uint, "B", has::AUX),
    ("raw", Type::Text, "", has::RAW),
    ("raw_size", Type::Uint, "B", has::RAW),
    ("id", Type::Uint, "", has::ID | has::IDENTIFIER),
];

/// A function that formats a part of a sample.
type Written = fn(&Sample<'_>, &mut String);

/// The table of samples, and names of events.
#[derive(Default)]
pub struct Samples {
    names: Vec<Option<Arc<str>>>,
    /// The table and its columns in the order of `COLUMNS`; none for columns without data in any event.
    table: Option<(usize, Vec<Option<usize>>)>,
    /// Whether some tracepoint lacks a description, so that its raw data are kept.
    undescribed: bool,
    stack: String,
    text: String,
}

impl Samples {
    /// Clear names and the columns, after new information about the events.
    pub fn renew(&mut self) {
        self.names.clear();
        self.table = None;
    }

    /// The name of an event.
    pub fn name(&mut self, place: usize, events: &Events, metadata: &Metadata) -> Arc<str> {
        if self.names.len() < events.len() {
            self.names.resize(events.len(), None);
        }
        if let Some(Some(name)) = self.names.get(place) {
            return Arc::clone(name);
        }
        let name: Arc<str> = Arc::from(name_of(place, events, metadata));
        if let Some(slot) = self.names.get_mut(place) {
            *slot = Some(Arc::clone(&name));
        }
        name
    }

    fn table(&mut self, events: &Events, sink: &mut Sink) -> usize {
        if let Some((table, _)) = &self.table {
            return *table;
        }
        let all = events.all().iter();
        let here = all.filter(|event| self.undescribed || event.attr.kind != TRACEPOINT);
        let mask = here.fold(0, |mask, event| mask | event.attr.sample_type);
        // The id of a counter identifies the CPU's counter, if the CPU is not recorded.
        let mask = match mask & has::CPU {
            0 => mask,
            _ => mask & !(has::ID | has::IDENTIFIER),
        };
        let wanted = |bit: u64| bit == 0 || mask & bit != 0;
        let present = || COLUMNS.iter().filter(|column| wanted(column.3));
        let table = sink.table("raw_events.sample", || TableSpec {
            name: "raw_events.sample".to_owned(),
            columns: present().map(|(name, kind, unit, _)| ColumnSpec::new(*name, *kind).with_unit(unit)).collect(),
            event: Some(EventSpec {
                name: "sample".to_owned(),
                named_by: Some("event".to_owned()),
                category: None,
                pid: Some("pid".to_owned()),
                tid: Some("tid".to_owned()),
                duration: None,
                args: present()
                    .map(|(name, ..)| (*name).to_owned())
                    .filter(|name| !matches!(name.as_str(), "_ts" | "event" | "pid" | "tid" | "line"))
                    .collect(),
            }),
        });
        let columns = COLUMNS.iter().map(|(name, kind, unit, bit)| {
            let column = ColumnSpec::new(*name, *kind).with_unit(unit);
            wanted(*bit).then(|| sink.column(table, &column))
        });
        let columns = columns.collect();
        self.table = Some((table, columns));
        table
    }

    fn column(&self, place: usize) -> Option<usize> {
        *self.table.as_ref()?.1.get(place)?
    }
}

fn name_of(place: usize, events: &Events, metadata: &Metadata) -> String {
    let Some(event) = events.get(place) else {
        return "unknown".to_owned();
    };
    if let Some(name) = &event.name {
        return name.clone();
    }
    let attr = &event.attr;
    if let Some((_, name)) = metadata.types.iter().find(|(number, _)| *number == attr.config) {
        return name.clone();
    }
    match metadata.pmus.iter().find(|(kind, _)| *kind == attr.kind) {
        Some((kind, name)) if *kind > 5 => format!("{name}/config={:#x}/", attr.config),
        _ => attr.generic_name(),
    }
}

impl Work {
    /// Make a row of a sample.
    pub fn sample(&mut self, body: &[u8], (ts, line): (i64, i64), misc: u16, event: usize, sink: &mut Sink) {
        let at = Bytes::new(body, self.big);
        let Some(attr) = self.events.get(event).map(|event| &event.attr) else {
            return;
        };
        let Some(sample) = sample::read(at, attr) else {
            let reason = "sample is shorter than its event says";
            return self.notes.add(reason, 1, false, || format!("record {line}"));
        };
        if attr.sample_type & !has::KNOWN != 0 {
            let reason = "sample with parts that are not known, which are not kept";
            self.notes.add(reason, 1, false, || format!("{:#x}", attr.sample_type));
        }
        let period = sample.period.or(attr.period);
        if sample.registers {
            let reason = "registers of a sample, not kept";
            self.notes.add(reason, 1, false, String::new);
        }
        if sample.user_stack.is_some_and(|size| size > 0) {
            let reason = "copy of a stack, not kept but for its size";
            self.notes.add(reason, 1, false, String::new);
        }
        let mode = Mode::of_misc(misc);
        let traced = attr.kind == TRACEPOINT && sample.raw.is_some();
        self.stack(&sample, mode);
        if traced {
            if self.tracepoint(&sample, (ts, line), sink) {
                return;
            }
            if !self.samples.undescribed {
                self.samples.undescribed = true;
                self.samples.renew();
            }
        }
        let name = self.samples.name(event, &self.events, &self.metadata);
        let table = self.samples.table(&self.events, sink);
        let rows = sink.rows(table);
        let origin = sample.origin;
        let column = |place: usize| self.samples.column(place).unwrap_or(usize::MAX);
        rows.int(column(0), ts);
        rows.text(column(1), name.as_bytes());
        origin.pid.inspect(|pid| rows.int(column(2), *pid));
        origin.tid.inspect(|tid| rows.int(column(3), *tid));
        origin.cpu.inspect(|cpu| rows.int(column(4), *cpu));
        if let Some(comm) = origin.tid.and_then(|tid| self.threads.name(tid)) {
            rows.text(column(5), &comm);
        }
        mode.name().inspect(|mode| rows.text(column(6), mode.as_bytes()));
        period.inspect(|period| rows.uint(column(7), *period));
        sample.ip.inspect(|ip| rows.uint(column(8), *ip));
        if !self.samples.stack.is_empty() {
            rows.text(column(9), self.samples.stack.as_bytes());
        }
        rows.int(column(10), line);
        self.more(table, &sample, sink);
        sink.end(table);
    }

    /// Make a row of a tracepoint's fields; false if they have no description.
    fn tracepoint(&mut self, sample: &Sample<'_>, (ts, line): (i64, i64), sink: &mut Sink) -> bool {
        let (Some(tracepoints), Some(bytes)) = (&mut self.tracepoints, sample.raw) else {
            return false;
        };
        let comm = sample.origin.tid.and_then(|tid| self.threads.name(tid));
        let record = Record {
            ts,
            cpu: sample.origin.cpu.unwrap_or(-1),
            comm: comm.as_deref().unwrap_or(b"<...>"),
            comm_number: None,
            tgid: sample.origin.pid,
            line,
            buffer: None,
            bytes,
        };
        let stack = sample.chain.map(|_| self.samples.stack.as_bytes());
        let reason = match tracepoints.row_with(&record, stack, sink) {
            Put::Row => return true,
            Put::Partial => "value outside of its record",
            Put::Short => "tracepoint shorter than its format, kept as a sample",
            Put::Unknown(_) => "tracepoint without a format, kept as a sample",
            Put::TooMany => "tracepoint beyond those that get tables, kept as a sample",
        };
        self.notes.add(reason, 1, false, || format!("record {line}"));
        reason == "value outside of its record"
    }

    /// The columns that only some traces have.
    fn more(&mut self, table: usize, sample: &Sample<'_>, sink: &mut Sink) {
        let rows = sink.rows(table);
        let value = sample.values.first().map(|value| value.1);
        let numbers = [
            (11, sample.addr),
            (13, sample.stream_id),
            (14, value),
            (17, sample.user_stack),
            (18, sample.weight),
            (19, sample.data_src),
            (20, sample.transaction),
            (21, sample.phys_addr),
            (22, sample.cgroup),
            (23, sample.data_page_size),
            (24, sample.code_page_size),
            (25, sample.aux_size),
            (27, sample.raw.map(|raw| raw.len() as u64)),
            (28, sample.origin.id),
        ];
        for (place, number) in numbers {
            if let (Some(column), Some(number)) = (self.samples.column(place), number) {
                rows.uint(column, number);
            }
        }
        if let (Some(column), Some(addr)) = (self.samples.column(12), sample.addr)
            && addr != 0
        {
            let pid = sample.origin.pid.unwrap_or(-1);
            let frame = self.maps.frame(pid, addr, Mode::Unknown);
            rows.text(column, frame.as_bytes());
        }
        let texts: [(usize, Written); 3] = [(15, group_text), (16, branch_text), (26, raw_text)];
        for (place, write) in texts {
            let Some(column) = self.samples.column(place) else {
                continue;
            };
            self.samples.text.clear();
            write(sample, &mut self.samples.text);
            if !self.samples.text.is_empty() {
                rows.text(column, self.samples.text.as_bytes());
            }
        }
    }

    /// Format a sample's stack, root first; for a sample without one, the place where it was taken.
    fn stack(&mut self, sample: &Sample<'_>, mode: Mode) {
        self.samples.stack.clear();
        let pid = sample.origin.pid.unwrap_or(-1);
        let mut frames = Vec::new();
        if let Some(chain) = sample.chain {
            let deep = chain_of(chain, mode, &mut frames);
            if deep > 0 {
                let reason = "frame beyond the 1024 of a stack that are kept";
                self.notes.add(reason, deep, false, String::new);
            }
        }
        if frames.is_empty() {
            frames.extend(sample.ip.map(|ip| (ip, mode)));
        }
        write_stack(&frames, pid, &mut self.maps, &mut self.samples.stack);
    }
}

/// Addresses of a chain, leaf first, each with the mode marked before it; returns the number of dropped ones.
fn chain_of(mut chain: Bytes<'_>, mode: Mode, frames: &mut Vec<(u64, Mode)>) -> u64 {
    let mut mode = mode;
    let mut left_out = 0;
    while let Some(ip) = chain.u64() {
        if ip >= CONTEXT_MAX {
            mode = match ip.cast_signed() {
                -32 => Mode::Hypervisor,
                -128 => Mode::Kernel,
                -512 => Mode::User,
                -2048 => Mode::GuestKernel,
                -2176 => Mode::GuestKernel,
                -2560 => Mode::GuestUser,
                _ => Mode::Unknown,
            };
        } else if frames.len() < DEPTH {
            frames.push((ip, mode));
        } else {
            left_out += 1;
        }
    }
    left_out
}

fn write_stack(frames: &[(u64, Mode)], pid: i64, maps: &mut Maps, stack: &mut String) {
    for (ip, mode) in frames.iter().rev() {
        if !stack.is_empty() {
            stack.push(';');
        }
        stack.push_str(&maps.frame(pid, *ip, *mode));
    }
}

/// Values of a group as JSON: `{"12": 345}` by the id of each counter.
fn group_text(sample: &Sample<'_>, text: &mut String) {
    if sample.values.len() < 2 {
        return;
    }
    for (place, (id, value)) in sample.values.iter().enumerate() {
        let key = id.unwrap_or(place as u64);
        let comma = if place == 0 { '{' } else { ',' };
        // Writing to a String cannot fail.
        let _ = write!(text, "{comma}\"{key}\":{value}");
    }
    text.push('}');
}

/// Branches, the latest first: `0xfrom>0xto`, with `!` after mispredicted ones.
fn branch_text(sample: &Sample<'_>, text: &mut String) {
    let Some(mut branches) = sample.branches else {
        return;
    };
    for _ in 0..BRANCHES {
        let (Some(from), Some(to), Some(flags)) = (branches.u64(), branches.u64(), branches.u64()) else {
            return;
        };
        let flags = if branches.big { flags.reverse_bits() } else { flags };
        let blank = if text.is_empty() { "" } else { " " };
        let missed = if flags & 1 == 1 { "!" } else { "" };
        let _ = write!(text, "{blank}{from:#x}>{to:#x}{missed}");
    }
}

fn raw_text(sample: &Sample<'_>, text: &mut String) {
    let raw = sample.raw.unwrap_or_default();
    for byte in raw.iter().take(RAW) {
        let _ = write!(text, "{byte:02x}");
    }
}
