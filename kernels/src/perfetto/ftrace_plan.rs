//! Choose the table of an ftrace event, and the column of each of its fields, by the event's descriptor.

use super::comms::Comm;
use super::generic::{column_type, unit_of};
use super::json::Json;
use super::schema::{Field, Kind, Schema};
use super::tables::put_int;
use super::wire::Value;
use super::world::World;
use crate::rows::{ColumnSpec, EventSpec, Rows, Sink, TableSpec, Type};

/// Columns of every event of the kernel.
pub const TS: usize = 0;
pub const CPU: usize = 1;
pub const COMM: usize = 2;
pub const PID: usize = 3;
pub const LINE: usize = 4;
pub const FIRST: usize = 5;

/// The data of every event of the kernel.
#[derive(Clone, Copy)]
pub struct Head {
    pub time: i64,
    pub cpu: i64,
    pub pid: Option<i64>,
    pub flags: Option<i64>,
    pub line: i64,
}

/// The conversion of a value for its column.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Conv {
    Int,
    Int32,
    Uint,
    Uint32,
    Text,
    Other(Kind),
    /// The state of a thread, in letters.
    State,
    /// The thread that runs next, and its name.
    NextPid,
    NextComm,
    /// The number of an interned name of a function.
    Symbol,
    /// Numbers that the kernel prints in hexadecimal, separated by commas.
    HexList,
    /// JSON in a column of its own.
    Json(Kind),
    /// The field has no descriptor.
    Unknown,
}

/// The destination of a field.
#[derive(Clone, Copy)]
pub struct Slot {
    pub column: u32,
    pub conv: Conv,
}

const NOWHERE: Slot = Slot { column: u32::MAX, conv: Conv::Unknown };

/// The table of an event.
#[derive(Clone)]
pub struct EventPlan {
    pub name: String,
    pub table: usize,
    /// By number of field.
    slots: Vec<Slot>,
    /// The column of the state of a thread after a switch.
    pub state: Option<usize>,
    flags: Option<usize>,
    args: Option<usize>,
}

/// Fields that are numbers of interned names of functions, by event.
const SYMBOLS: [(&str, &str); 10] = [
    ("sched_blocked_reason", "caller"),
    ("workqueue_execute_start", "function"),
    ("workqueue_execute_end", "function"),
    ("workqueue_queue_work", "function"),
    ("funcgraph_entry", "func"),
    ("funcgraph_exit", "func"),
    ("mm_shrink_slab_start", "shrink"),
    ("mm_shrink_slab_end", "shrink"),
    ("local_timer_entry", "function"),
    ("hrtimer_expire_entry", "function"),
];

/// Known units of the kernel's fields.
const UNITS: [(&str, &str, &str); 14] = [
    ("cpu_frequency", "state", "kHz"),
    ("cpu_frequency_limits", "min_freq", "kHz"),
    ("cpu_frequency_limits", "max_freq", "kHz"),
    ("clock_set_rate", "state", "Hz"),
    ("hrtimer_start", "expires", "ns"),
    ("hrtimer_start", "softexpires", "ns"),
    ("hrtimer_expire_entry", "now", "ns"),
    ("kmalloc", "bytes_req", "B"),
    ("kmalloc", "bytes_alloc", "B"),
    ("kmem_cache_alloc", "bytes_req", "B"),
    ("kmem_cache_alloc", "bytes_alloc", "B"),
    ("rss_stat", "size", "B"),
    ("f2fs_write_begin", "len", "B"),
    ("f2fs_write_end", "copied", "B"),
];

/// The first columns of all events of the kernel.
pub fn fixed() -> Vec<ColumnSpec> {
    vec![
        ColumnSpec::new("_ts", Type::Int).with_unit("ns"),
        ColumnSpec::new("cpu", Type::Int),
        ColumnSpec::new("common_comm", Type::Text),
        ColumnSpec::new("common_pid", Type::Int),
        ColumnSpec::new("line", Type::Int),
    ]
}

/// Put the common columns of the kernel's events into a row.
#[inline]
pub fn put_fixed(rows: &mut Rows, head: &Head, comm: Option<&Comm>) {
    rows.int(TS, head.time);
    rows.int(CPU, head.cpu);
    if let Some(comm) = comm {
        comm.put(rows, COMM);
    }
    put_int(rows, PID, head.pid);
    rows.int(LINE, head.line);
}

/// The table of an event of the kernel.
pub fn spec(name: &str, columns: Vec<ColumnSpec>) -> TableSpec {
    TableSpec {
        name: format!("raw_events.{name}"),
        event: Some(EventSpec {
            name: name.to_owned(),
            tid: Some("common_pid".to_owned()),
            args: columns.iter().skip(FIRST).map(|one| one.name.clone()).collect(),
            ..EventSpec::default()
        }),
        columns,
    }
}

/// A unique name for a field, regardless of case, without another meaning.
pub fn free(columns: &[ColumnSpec], name: &str) -> String {
    let mut name = name.to_owned();
    while matches!(name.as_str(), "dur" | "cat" | "common_flags" | "common_tgid")
        || columns.iter().any(|one| one.name.eq_ignore_ascii_case(&name))
    {
        name = format!("field_{name}");
    }
    name
}

impl EventPlan {
    pub fn new(schema: &Schema, sink: &mut Sink, name: &str, message: usize) -> EventPlan {
        let mut columns = fixed();
        let mut slots = Vec::new();
        let mut state = None;
        for field in schema.message(message).map(|message| message.fields()).unwrap_or_default() {
            let (conv, kind) = conversion(name, field);
            if field.number > 4096 {
                continue;
            }
            let place = field.number as usize;
            if slots.len() <= place {
                slots.resize(place + 1, NOWHERE);
            }
            slots[place] = Slot { column: columns.len() as u32, conv };
            if matches!(conv, Conv::State) {
                state = Some(columns.len());
            }
            let unit = match kind {
                Type::Text | Type::Json | Type::Bool => "",
                _ => UNITS
                    .iter()
                    .find(|(event, column, _)| *event == name && *column == field.name)
                    .map_or_else(|| unit_of(&field.name), |(_, _, unit)| unit),
            };
            columns.push(ColumnSpec::new(free(&columns, &field.name), kind).with_unit(unit));
        }
        let spec = spec(name, columns);
        EventPlan {
            name: name.to_owned(),
            table: sink.table(&spec.name.clone(), || spec),
            slots,
            state,
            flags: None,
            args: None,
        }
    }

    #[inline]
    pub fn slot(&self, number: u32) -> Slot {
        self.slots.get(number as usize).copied().unwrap_or(NOWHERE)
    }

    /// The column of a field.
    pub fn column(&self, number: u32) -> usize {
        self.slot(number).column as usize
    }

    /// Begin a row.
    #[inline]
    pub fn start(&mut self, sink: &mut Sink, head: &Head, comm: Option<&Comm>) {
        if head.flags.is_some() && self.flags.is_none() {
            self.flags = Some(sink.column(self.table, &ColumnSpec::new("common_flags", Type::Int)));
        }
        let rows = sink.rows(self.table);
        put_fixed(rows, head, comm);
        if let (Some(column), Some(flags)) = (self.flags, head.flags) {
            rows.int(column, flags);
        }
    }

    /// Put values that depend on several fields, or are unknown, into the row.
    pub fn rest(&mut self, world: &mut World, sink: &mut Sink, json: &mut Json, mut rest: Vec<(u32, Value<'_>)>) {
        rest.sort_by_key(|(number, _)| *number);
        let mut unknown = Vec::new();
        for run in rest.chunk_by(|one, other| one.0 == other.0) {
            let Some((number, first)) = run.first().copied() else {
                continue;
            };
            let Slot { column, conv } = self.slot(number);
            let rows = sink.rows(self.table);
            json.clear();
            match conv {
                Conv::HexList => {
                    rows.text(column as usize, hex_list(run).as_bytes());
                }
                Conv::Json(kind) => {
                    match kind {
                        Kind::Message(_) if run.len() == 1 => json.value(&world.schema, kind, first, 0),
                        _ => json.values(&world.schema, kind, run.iter().map(|(_, value)| *value), 0),
                    }
                    rows.text(column as usize, &json.text);
                }
                _ => unknown.extend_from_slice(run),
            }
        }
        if unknown.is_empty() {
            return;
        }
        let (name, fields) = (&self.name, &unknown);
        world.notes.add("field that no descriptor describes is kept in args", fields.len() as u64, false, || {
            format!("{name} field {}", fields.first().map_or(0, |(number, _)| *number))
        });
        let column = *self.args.get_or_insert_with(|| sink.column(self.table, &ColumnSpec::new("args", Type::Json)));
        json.clear();
        json.object(&world.schema, usize::MAX, unknown, 0);
        sink.rows(self.table).text(column, &json.text);
    }
}

fn conversion(event: &str, field: &Field) -> (Conv, Type) {
    if field.repeated {
        return match (event, field.name.as_str()) {
            ("sys_enter", "args") => (Conv::HexList, Type::Text),
            _ => (Conv::Json(field.kind), Type::Json),
        };
    }
    if SYMBOLS.contains(&(event, field.name.as_str())) && field.kind != Kind::Text {
        return (Conv::Symbol, Type::Text);
    }
    if event == "sched_switch" && field.name == "prev_state" {
        return (Conv::State, Type::Text);
    }
    match (column_type(field), field.kind) {
        (Some(kind), Kind::Int32) if event == "sched_switch" && field.name == "next_pid" => (Conv::NextPid, kind),
        (Some(kind), Kind::Text) if event == "sched_switch" && field.name == "next_comm" => (Conv::NextComm, kind),
        (Some(kind), Kind::Int) => (Conv::Int, kind),
        (Some(kind), Kind::Int32) => (Conv::Int32, kind),
        (Some(kind), Kind::Uint) => (Conv::Uint, kind),
        (Some(kind), Kind::Uint32) => (Conv::Uint32, kind),
        (Some(kind), Kind::Text) => (Conv::Text, kind),
        (Some(kind), other) => (Conv::Other(other), kind),
        (None, other) => (Conv::Json(other), Type::Json),
    }
}

fn hex_list(run: &[(u32, Value<'_>)]) -> String {
    let mut all = Vec::new();
    run.iter().for_each(|(_, value)| super::sequence::numbers(*value, &mut all));
    let texts: Vec<String> = all.iter().map(|bits| format!("{bits:x}")).collect();
    texts.join(", ")
}
