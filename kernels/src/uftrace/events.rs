//! Events in the files of threads: read or watched by the recorder, or reported by programs.

use rustc_hash::FxHashMap;

use super::tables::{self, event};
use crate::input::bytes::number_of;
use crate::rows::{Sink, Type};

/// Name, type and unit of columns.
pub type Fields = &'static [(&'static str, Type, &'static str)];

const CALL: (&str, Type, &str) = ("call", Type::Int, "");
const MEMORY: Fields = &[CALL, ("vmsize", Type::Int, "KiB"), ("vmrss", Type::Int, "KiB"), ("shared", Type::Int, "KiB")];
const FAULTS: Fields = &[CALL, ("major", Type::Int, ""), ("minor", Type::Int, "")];
const CYCLES: Fields = &[CALL, ("cycles", Type::Int, ""), ("instructions", Type::Int, "")];
const CACHE: Fields = &[CALL, ("refers", Type::Int, ""), ("misses", Type::Int, "")];
const BRANCHES: Fields = &[CALL, ("branch", Type::Int, ""), ("misses", Type::Int, "")];
const CPU: Fields = &[CALL, ("cpu", Type::Int, "")];
const VARIABLE: Fields = &[CALL, ("variable", Type::Text, ""), ("addr", Type::Int, ""), ("value", Type::Int, "")];
const CALLSITE: Fields = &[CALL, ("addr", Type::Int, "")];
const OTHER: Fields = &[CALL, ("data", Type::Text, "")];

const WATCH_VARIABLE: u64 = 100_012;
const CALLSITE_ID: u64 = 100_013;

/// The name and fields of a built-in event of the recorder.
fn known(id: u64) -> Option<(&'static str, Fields)> {
    Some(match id {
        100_001 => ("read:proc/statm", MEMORY),
        100_002 => ("read:page-fault", FAULTS),
        100_003 => ("diff:proc/statm", MEMORY),
        100_004 => ("diff:page-fault", FAULTS),
        100_005 => ("read:pmu-cycle", CYCLES),
        100_006 => ("diff:pmu-cycle", CYCLES),
        100_007 => ("read:pmu-cache", CACHE),
        100_008 => ("diff:pmu-cache", CACHE),
        100_009 => ("read:pmu-branch", BRANCHES),
        100_010 => ("diff:pmu-branch", BRANCHES),
        100_011 => ("watch:cpu", CPU),
        WATCH_VARIABLE => ("watch:var", VARIABLE),
        CALLSITE_ID => ("callsite", CALLSITE),
        _ => return None,
    })
}

/// The name of a built-in event of the recorder.
pub fn known_name(id: u64) -> Option<&'static str> {
    known(id).map(|one| one.0)
}

/// The values in the data of an event; None if their layout is unknown.
pub fn said(
    id: u64,
    data: &[u8],
    (big, wide): (bool, bool),
    variable: impl FnOnce(u64) -> Option<String>,
) -> Option<String> {
    let (_, fields) = known(id)?;
    if id == WATCH_VARIABLE {
        let (address, value) = data.split_at_checked(if wide { 8 } else { 4 }).unwrap_or((data, &[]));
        let address = number_of(address, big);
        let name = variable(address).unwrap_or_else(|| format!("[{address:#x}]"));
        return Some(format!("{name}={:x}", number_of(value, big)));
    }
    let values = fields.iter().skip(1).zip(data.chunks(8));
    let words = values.map(|((name, _, unit), value)| {
        let value = number_of(value, big);
        match *unit {
            _ if id == CALLSITE_ID => format!("callsite={value:#x}"),
            "KiB" => format!("{name}={value}KB"),
            _ => format!("{name}={value}"),
        }
    });
    Some(words.collect::<Vec<_>>().join(" "))
}

/// The common data of all events.
pub struct Head {
    pub time: i64,
    pub tid: i64,
    pub pid: i64,
    pub line: i64,
    /// The call around the event.
    pub call: Option<i64>,
}

/// Puts events into their tables.
pub struct Events {
    names: FxHashMap<u64, String>,
    tables: FxHashMap<u64, (usize, Fields)>,
    big: bool,
    wide: bool,
}

/// Maximum number of tables for numbered events; damaged traces have arbitrary numbers.
const MOST_TABLES: usize = 1000;

impl Events {
    pub fn new(names: Vec<(u64, String)>, big: bool, wide: bool) -> Events {
        Events { names: names.into_iter().collect(), tables: FxHashMap::default(), big, wide }
    }

    fn table(&mut self, sink: &mut Sink, id: u64) -> (usize, Fields) {
        if let Some(found) = self.tables.get(&id) {
            return *found;
        }
        let (name, fields) = match (known(id), self.names.get(&id)) {
            (Some((name, fields)), _) => (name.to_owned(), fields),
            (None, Some(name)) => (name.clone(), OTHER),
            (None, None) if self.tables.len() >= MOST_TABLES => ("event".to_owned(), OTHER),
            (None, None) if id >= 1_000_000 => (format!("user_event:{id}"), OTHER),
            (None, None) => (format!("event:{id}"), OTHER),
        };
        let table = (tables::events(sink, &name, fields), fields);
        if self.tables.len() <= MOST_TABLES {
            self.tables.insert(id, table);
        }
        table
    }

    /// Add an event with its data; `variable` names an address.
    pub fn add(
        &mut self,
        sink: &mut Sink,
        head: &Head,
        id: u64,
        data: &[u8],
        variable: impl FnOnce(u64) -> Option<String>,
    ) {
        let (table, fields) = self.table(sink, id);
        let rows = sink.rows(table);
        start(rows, head);
        if let Some(call) = head.call {
            rows.int(event::FIELDS, call);
        }
        if id == WATCH_VARIABLE {
            let (address, value) = data.split_at_checked(if self.wide { 8 } else { 4 }).unwrap_or((data, &[]));
            let address = number_of(address, self.big);
            if let Some(name) = variable(address) {
                rows.text(event::FIELDS + 1, name.as_bytes());
            }
            rows.int(event::FIELDS + 2, address.cast_signed());
            rows.int(event::FIELDS + 3, number_of(value, self.big).cast_signed());
        } else if fields.iter().any(|one| one.0 == "data") {
            if !data.is_empty() {
                rows.text(event::FIELDS + 1, hex(data).as_bytes());
            }
        } else {
            for (at, value) in data.chunks(8).enumerate().take(fields.len() - 1) {
                let signed = extended(number_of(value, self.big), value.len());
                rows.int(event::FIELDS + 1 + at, signed);
            }
        }
        sink.end(table);
    }
}

/// Start a row with the common data of events.
pub fn start(rows: &mut crate::rows::Rows, head: &Head) {
    rows.int(event::TS, head.time);
    rows.int(event::TID, head.tid);
    rows.int(event::PID, head.pid);
    rows.int(event::LINE, head.line);
}

/// Sign-extends a number of fewer than 8 bytes.
fn extended(value: u64, size: usize) -> i64 {
    let unused = 64 - 8 * size.clamp(1, 8) as u32;
    value.cast_signed() << unused >> unused
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|one| format!("{one:02x}")).collect()
}
