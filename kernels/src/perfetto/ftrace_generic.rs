//! Decode ftrace events without a descriptor of their own into tables by the names in them, or rows of raw bytes.

use rustc_hash::FxHashMap;

use super::ftrace_plan::{FIRST, Head, fixed, free, put_fixed, spec};
use super::json::push_hex;
use super::wire::{Fields, Value};
use super::world::World;
use crate::rows::{ColumnSpec, EventSpec, Sink, TableSpec, Type};

/// Maximum number of such tables; further events share one.
const MOST_TABLES: usize = 1024;
/// Maximum number of columns of a table; later ones are dropped.
const MOST_COLUMNS: usize = 256;
/// Maximum bytes kept of an unknown message.
const MOST_BYTES: usize = 512;

struct Table {
    number: usize,
    columns: Vec<(Vec<u8>, Type, usize)>,
}

/// Tables of events with names for themselves and their fields.
#[derive(Default)]
pub struct GenericEvents {
    tables: FxHashMap<Vec<u8>, Table>,
}

impl GenericEvents {
    /// A message `GenericFtraceEvent`.
    pub fn row(&mut self, world: &mut World, sink: &mut Sink, head: &Head, message: &[u8]) {
        let whole = super::wire::bytes(message, 1).unwrap_or_default();
        let name = whole.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let name = match self.tables.len() < MOST_TABLES || self.tables.contains_key(name) {
            true if !name.is_empty() => name,
            _ => b"generic",
        };
        if !self.tables.contains_key(name) {
            let spec = spec(&String::from_utf8_lossy(name), fixed());
            let number = sink.table(&spec.name.clone(), || spec);
            let columns = Vec::new();
            self.tables.insert(name.to_owned(), Table { number, columns });
        }
        let Some(table) = self.tables.get_mut(name) else {
            return;
        };
        put_fixed(sink.rows(table.number), head, None);
        for (number, value) in Fields::of(message) {
            match (number, value) {
                (2, Value::Bytes(field)) => table.field(world, sink, field),
                (1, _) => (),
                _ => world.notes.add("unknown field of a generic event", 1, false, || format!("field {number}")),
            }
        }
        sink.end(table.number);
    }
}

impl Table {
    fn field(&mut self, world: &mut World, sink: &mut Sink, message: &[u8]) {
        let name = super::wire::bytes(message, 1).unwrap_or_default();
        for (number, value) in Fields::of(message) {
            let kind = match number {
                3 => Type::Text,
                4 => Type::Int,
                5 => Type::Uint,
                _ => continue,
            };
            let Some(column) = self.column(sink, name, kind) else {
                world.notes.add("field of a generic event is left out", 1, false, || {
                    String::from_utf8_lossy(name).into_owned()
                });
                continue;
            };
            let rows = sink.rows(self.number);
            match value {
                Value::Bytes(text) => rows.text(column, text),
                Value::Varint(bits) if kind == Type::Int => rows.int(column, bits.cast_signed()),
                Value::Varint(bits) => rows.uint(column, bits),
                _ => (),
            }
        }
    }

    fn column(&mut self, sink: &mut Sink, name: &[u8], kind: Type) -> Option<usize> {
        let known = self.columns.iter().find(|(known, of, _)| known == name && *of == kind);
        if let Some((_, _, column)) = known {
            return Some(*column);
        }
        if self.columns.len() >= MOST_COLUMNS {
            return None;
        }
        let columns = &sink.spec(self.number).columns;
        let taken = self.columns.iter().any(|(known, _, _)| known == name);
        let label = String::from_utf8_lossy(name).into_owned();
        let wanted = match taken {
            true => label,
            false => free(columns, &label),
        };
        let column = sink.column(self.number, &ColumnSpec::new(wanted, kind));
        self.columns.push((name.to_owned(), kind, column));
        Some(column)
    }
}

/// An event without a description, as raw bytes.
pub fn unknown(sink: &mut Sink, head: &Head, number: u32, message: &[u8]) {
    let table = sink.table("raw_events.unknown_ftrace_event", || {
        let mut columns = fixed();
        columns.push(ColumnSpec::new("field", Type::Int));
        columns.push(ColumnSpec::new("size", Type::Int).with_unit("B"));
        columns.push(ColumnSpec::new("bytes", Type::Text));
        spec("unknown_ftrace_event", columns)
    });
    let rows = sink.rows(table);
    put_fixed(rows, head, None);
    rows.int(FIRST, i64::from(number));
    rows.int(FIRST + 1, message.len() as i64);
    rows.text(FIRST + 2, &hex(message));
    sink.end(table);
}

fn hex(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    push_hex(&mut text, bytes, MOST_BYTES);
    text
}

/// A field of a packet without a description, as raw bytes.
pub fn unknown_packet(sink: &mut Sink, time: i64, line: i64, sequence: u32, field: (u32, &[u8])) {
    let table = sink.table("raw_events.unknown_packet", || TableSpec {
        name: "raw_events.unknown_packet".to_owned(),
        columns: vec![
            ColumnSpec::new("_ts", Type::Int).with_unit("ns"),
            ColumnSpec::new("line", Type::Int),
            ColumnSpec::new("sequence", Type::Int),
            ColumnSpec::new("field", Type::Int),
            ColumnSpec::new("size", Type::Int).with_unit("B"),
            ColumnSpec::new("bytes", Type::Text),
        ],
        event: Some(EventSpec {
            name: "unknown_packet".to_owned(),
            args: ["sequence", "field", "size", "bytes"].map(str::to_owned).to_vec(),
            ..EventSpec::default()
        }),
    });
    let (number, bytes) = field;
    let rows = sink.rows(table);
    rows.int(0, time);
    rows.int(1, line);
    rows.int(2, i64::from(sequence));
    rows.int(3, i64::from(number));
    rows.int(4, bytes.len() as i64);
    rows.text(5, &hex(bytes));
    sink.end(table);
}
