//! Parse the text of a tracepoint after its name into a row of its table, with fields typed by their values.

use rustc_hash::FxHashMap;

use super::line::Head;
use crate::ftrace::fields::Fill;
use crate::ftrace::forms::{self, Form};
use crate::ftrace::marks::{self, Kind};
use crate::ftrace::values::{Quirk, Value};
use crate::rows::{ColumnSpec, EventSpec, Sink, TableSpec, Type};

/// Maximum number of tracepoints with tables, and of columns of each.
const TABLES: usize = 4096;
const COLUMNS: usize = 256;

/// Names of columns that fields cannot have.
const FIXED: [&str; 11] =
    ["_ts", "cpu", "common_comm", "common_pid", "common_tgid", "common_flags", "line", "stack", "dur", "cat", "text"];

/// The fields of one line.
#[derive(Default)]
struct Collected {
    fields: Vec<(Vec<u8>, Vec<u8>, bool)>,
    free: Vec<u8>,
}

impl Fill for Collected {
    fn put(&mut self, key: &[u8], value: &[u8]) {
        if self.fields.len() >= COLUMNS || self.fields.iter().any(|field| field.0 == key) {
            return self.free(&[key, b"=", value].concat());
        }
        self.fields.push((key.to_vec(), value.to_vec(), false));
    }

    fn put_text(&mut self, key: &[u8], value: &[u8]) {
        self.fields.push((key.to_vec(), value.to_vec(), true));
    }

    fn free(&mut self, piece: &[u8]) {
        let piece = piece.trim_ascii();
        if piece.is_empty() || piece == b"," {
            return;
        }
        if !self.free.is_empty() {
            self.free.push(b' ');
        }
        self.free.extend_from_slice(piece);
    }
}

struct Table {
    number: usize,
    form: Form,
    quirk: Quirk,
    columns: FxHashMap<(Vec<u8>, Type), usize>,
}

/// The tables of tracepoints.
#[derive(Default)]
pub struct Payloads {
    tables: FxHashMap<Vec<u8>, Table>,
    collected: Collected,
}

/// The content of a row besides the fields.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    pub head: Head<'a>,
    pub ts: i64,
    pub line: i64,
    pub stack: Option<&'a [u8]>,
    /// The event's context as printed by the kernel.
    pub flags: Option<&'a [u8]>,
}

impl Payloads {
    /// Add a row; false if there would be one table too many.
    pub fn row(&mut self, name: &[u8], row: Row<'_>, sink: &mut Sink) -> bool {
        self.collected.fields.clear();
        self.collected.free.clear();
        let body = row.head.rest.trim_ascii();
        if !marks::is_mark(name) {
            return self.put(name, row, Some(body), sink);
        }
        let mark = marks::strip(name, body);
        if let Kind::Letter(letter) = marks::kind(mark.text)
            && let Some(fields) = marks::split(letter, mark.text)
        {
            fields.put(&mut self.collected);
            return self.put(&[b'p', b'r', b'i', b'n', b't', b'|', letter], row, None, sink);
        }
        self.collected.free(mark.text);
        self.put(b"print", row, None, sink)
    }

    /// Add a row of the collected fields, after those of a body.
    fn put(&mut self, name: &[u8], row: Row<'_>, body: Option<&[u8]>, sink: &mut Sink) -> bool {
        if !self.tables.contains_key(name) {
            if self.tables.len() >= TABLES {
                return false;
            }
            let table = Table {
                number: table_of(name, sink),
                form: forms::of(name),
                quirk: Quirk::of(name),
                columns: FxHashMap::default(),
            };
            self.tables.insert(name.to_vec(), table);
        }
        let Some(table) = self.tables.get_mut(name) else {
            return false;
        };
        if let Some(body) = body {
            forms::read(table.form, body, &mut self.collected);
        }
        let rows = sink.rows(table.number);
        rows.int(0, row.ts);
        row.head.cpu.inspect(|cpu| rows.int(1, *cpu));
        if !row.head.comm.is_empty() {
            rows.text(2, row.head.comm);
        }
        row.head.tid.inspect(|tid| rows.int(3, *tid));
        row.head.pid.inspect(|pid| rows.int(4, *pid));
        rows.int(5, row.line);
        for (key, value, is_text) in &self.collected.fields {
            table.put(key, value, *is_text, sink);
        }
        if !self.collected.free.is_empty() {
            let column = sink.column(table.number, &ColumnSpec::new("text", Type::Text));
            sink.rows(table.number).text(column, &self.collected.free);
        }
        for (name, text) in [("stack", row.stack), ("common_flags", row.flags)] {
            if let Some(text) = text {
                let column = sink.column(table.number, &ColumnSpec::new(name, Type::Text));
                sink.rows(table.number).text(column, text);
            }
        }
        sink.end(table.number);
        true
    }
}

impl Table {
    fn put(&mut self, key: &[u8], value: &[u8], is_text: bool, sink: &mut Sink) {
        let key = self.quirk.name(key);
        let typed = if is_text { Value::Text } else { self.quirk.hint(key).read(value) };
        let kind = match typed {
            Value::Int(_) => Type::Int,
            Value::Uint(_) => Type::Uint,
            Value::Float(_) => Type::Float,
            Value::Text => Type::Text,
            Value::Missing => return,
        };
        let column = match self.columns.get(&(key.to_vec(), kind)) {
            Some(column) => *column,
            None => {
                let column = sink.column(self.number, &ColumnSpec::new(column_name(key), kind));
                self.columns.insert((key.to_vec(), kind), column);
                column
            }
        };
        let rows = sink.rows(self.number);
        match typed {
            Value::Int(value) => rows.int(column, value),
            Value::Uint(value) => rows.uint(column, value),
            Value::Float(value) => rows.float(column, value),
            Value::Text => rows.text(column, value),
            Value::Missing => {}
        }
    }
}

fn column_name(key: &[u8]) -> String {
    let mut name = String::from_utf8_lossy(key).into_owned();
    while FIXED.contains(&name.to_ascii_lowercase().as_str()) {
        name.insert_str(0, "field_");
    }
    name
}

fn table_of(name: &[u8], sink: &mut Sink) -> usize {
    let event = String::from_utf8_lossy(name).into_owned();
    let table = match event.as_str() {
        "sample" | "record" => format!("raw_events.tracepoint_{event}"),
        _ => format!("raw_events.{event}"),
    };
    sink.table(&table, || TableSpec {
        name: table.clone(),
        columns: vec![
            ColumnSpec::new("_ts", Type::Int).with_unit("ns"),
            ColumnSpec::new("cpu", Type::Int),
            ColumnSpec::new("common_comm", Type::Text),
            ColumnSpec::new("common_pid", Type::Int),
            ColumnSpec::new("common_tgid", Type::Int),
            ColumnSpec::new("line", Type::Int),
        ],
        event: Some(EventSpec {
            name: event,
            pid: Some("common_tgid".to_owned()),
            tid: Some("common_pid".to_owned()),
            ..EventSpec::default()
        }),
    })
}
