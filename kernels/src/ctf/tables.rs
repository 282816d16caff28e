//! Map event classes to tables of the sink, each created at the first event of its class.

use super::layout::NONE;
use super::stream::{PacketRow, Shared};
use super::trace::EventClass;
use crate::rows::{ColumnSpec, EventSpec, Sink, TableSpec, Type};

/// Columns that `events` shows elsewhere, or that do not describe the event.
const NOT_ARGS: [&str; 7] = ["_ts", "cpu", "common_comm", "common_pid", "common_tgid", "line", "trace"];

pub enum Constant {
    Number(i64),
    Text(String),
}

/// The destination of the rows of a class of events.
pub struct Table {
    pub number: usize,
    pub ts: usize,
    pub cpu: usize,
    pub line: usize,
    pub common_pid: usize,
    pub common_comm: usize,
    /// The column of each field of the header, the common context, the context, the payload, and optionally another
    /// one.
    pub fills: [Vec<(usize, usize)>; 4],
    pub constants: Vec<(usize, Constant)>,
}

fn kind(name: &str) -> Type {
    match name {
        "int" => Type::Int,
        "uint" => Type::Uint,
        "float" => Type::Float,
        "bool" => Type::Bool,
        "json" => Type::Json,
        _ => Type::Text,
    }
}

/// Units live as long as the program, so only known ones are passed on.
fn unit(name: &str) -> &'static str {
    let known = ["ns", "us", "ms", "s", "B", "Hz", "kHz"];
    known.into_iter().find(|one| *one == name).unwrap_or("")
}

fn spec((name, kind_name, unit_name): &(String, String, String)) -> ColumnSpec {
    ColumnSpec::new(name.clone(), kind(kind_name)).with_unit(unit(unit_name))
}

/// Create the table of a class, or add its columns to the table of the same name.
pub fn table(event: &EventClass, sink: &mut Sink) -> Table {
    let metadata = &event.metadata;
    let specs: Vec<_> = metadata.columns.iter().map(spec).collect();
    let name = format!("raw_events.{}", metadata.table);
    let number = sink.table(&name, || {
        let has = |name: &str| specs.iter().any(|one| one.name == name).then(|| name.to_owned());
        let args = specs.iter().map(|one| &one.name);
        let args = args.filter(|name| !NOT_ARGS.contains(&name.as_str()));
        TableSpec {
            name: name.clone(),
            columns: specs.clone(),
            event: Some(EventSpec {
                name: metadata.table.clone(),
                pid: has("common_tgid"),
                tid: has("common_pid"),
                args: args.cloned().collect(),
                ..EventSpec::default()
            }),
        }
    });
    let places: Vec<_> = specs.iter().map(|one| sink.column(number, one)).collect();
    let place = |column: usize| places.get(column).copied().unwrap_or(NONE);
    let named = |name: &str| specs.iter().position(|one| one.name == name).map_or(NONE, place);
    let scope = |scope: usize| {
        let fills = metadata.fills.get(scope).into_iter().flatten();
        let also = metadata.also.get(scope).into_iter().flatten();
        fills.zip(also).map(|(fill, also)| (place(*fill), place(*also))).collect()
    };
    let constants = metadata.constants.iter().map(|(column, value, number)| {
        let constant = match value.parse() {
            Ok(value) if *number => Constant::Number(value),
            _ => Constant::Text(value.clone()),
        };
        (place(*column), constant)
    });
    Table {
        number,
        ts: named("_ts"),
        cpu: if metadata.cpu { named("cpu") } else { NONE },
        line: named("line"),
        common_pid: named("common_pid"),
        common_comm: named("common_comm"),
        fills: [scope(0), scope(1), scope(2), scope(3)],
        constants: constants.collect(),
    }
}

/// Put the started packets into their table.
pub fn write_packets(shared: &mut Shared, sink: &mut Sink) {
    if shared.packets.is_empty() {
        return;
    }
    let number = sink.table("packets", || TableSpec {
        name: "packets".to_owned(),
        columns: vec![
            ColumnSpec::new("trace", Type::Text),
            ColumnSpec::new("stream", Type::Int),
            ColumnSpec::new("file", Type::Text),
            ColumnSpec::new("position", Type::Int).with_unit("B"),
            ColumnSpec::new("size", Type::Int).with_unit("B"),
            ColumnSpec::new("clock_begin", Type::Int).with_unit("ns"),
            ColumnSpec::new("clock_end", Type::Int).with_unit("ns"),
            ColumnSpec::new("cpu", Type::Int),
            ColumnSpec::new("seq_num", Type::Int),
            ColumnSpec::new("events_discarded", Type::Int),
            ColumnSpec::new("context", Type::Json),
        ],
        event: None,
    });
    for packet in std::mem::take(&mut shared.packets) {
        packet_row(shared, sink, number, &packet);
    }
}

fn packet_row(shared: &Shared, sink: &mut Sink, table: usize, packet: &PacketRow) {
    let rows = sink.rows(table);
    if let Some(trace) = shared.traces.get(packet.trace) {
        rows.text(0, trace.name.as_bytes());
        if let Some(class) = trace.streams.get(packet.class) {
            rows.int(1, class.id.cast_signed());
        }
    }
    let name = packet.file.rsplit('/').next().unwrap_or(&packet.file);
    rows.text(2, name.as_bytes());
    let numbers = [
        Some(packet.from.cast_signed()),
        Some(packet.size.cast_signed()),
        packet.begin,
        packet.end,
        packet.cpu,
        packet.sequence.map(u64::cast_signed),
        packet.discarded.map(u64::cast_signed),
    ];
    for (column, value) in (3..).zip(numbers) {
        if let Some(value) = value {
            rows.int(column, value);
        }
    }
    if let Some(context) = &packet.context {
        rows.text(10, context);
    }
    sink.end(table);
}

/// The tables of all classes of events, by their numbers.
#[derive(Default)]
pub struct Tables(Vec<Option<Table>>);

impl Tables {
    #[inline]
    pub fn of(&mut self, event: &EventClass, sink: &mut Sink) -> &Table {
        if self.0.len() <= event.number {
            self.0.resize_with(event.number + 1, || None);
        }
        self.0[event.number].get_or_insert_with(|| table(event, sink))
    }
}
