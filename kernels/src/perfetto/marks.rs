//! Put the marks that programs write to ftrace (`B|12|name`) into the same tables as for text, one for each kind.

use super::comms::Comm;
use super::ftrace_plan::{FIRST, Head, fixed, put_fixed, spec};
use super::wire::{Fields, Value};
use super::world::World;
use crate::ftrace::marks::{Kind, kind, split};
use crate::rows::{ColumnSpec, Sink, Type};

/// A table of marks, and its columns after those of all events.
struct Table {
    number: usize,
    columns: Vec<(String, Type, usize)>,
}

/// The tables of marks by letter; other text is at 26, marks of clocks are at 27.
#[derive(Default)]
pub struct Marks {
    tables: Vec<Option<Table>>,
}

const FREE: usize = 26;
const SYNC: usize = 27;

type Columns = &'static [(&'static str, Type)];

fn columns(letter: u8) -> Columns {
    match letter {
        b'B' | b'I' => &[("pid", Type::Int), ("name", Type::Text)],
        b'E' => &[("pid", Type::Int)],
        b'C' => &[("pid", Type::Int), ("name", Type::Text), ("value", Type::Int)],
        b'S' | b'F' => &[("pid", Type::Int), ("name", Type::Text), ("cookie", Type::Int)],
        b'N' => &[("pid", Type::Int), ("track", Type::Text), ("name", Type::Text)],
        b'G' | b'H' => &[("pid", Type::Int), ("track", Type::Text), ("name", Type::Text), ("cookie", Type::Int)],
        _ => &[("payload", Type::Text)],
    }
}

impl Table {
    fn new(sink: &mut Sink, name: &str, more: Columns) -> Table {
        let mut all = fixed();
        all.push(ColumnSpec::new("ip", Type::Uint));
        let mut columns = Vec::new();
        for (name, kind) in more {
            columns.push(((*name).to_owned(), *kind, all.len()));
            all.push(ColumnSpec::new(*name, *kind));
        }
        let spec = spec(name, all);
        Table { number: sink.table(&spec.name.clone(), || spec), columns }
    }

    fn column(&mut self, sink: &mut Sink, name: &str, kind: Type) -> usize {
        if let Some((_, _, column)) = self.columns.iter().find(|(known, of, _)| known == name && *of == kind) {
            return *column;
        }
        let column = sink.column(self.number, &ColumnSpec::new(name, kind));
        self.columns.push((name.to_owned(), kind, column));
        column
    }

    /// Add a field, as a number if it is one.
    fn put(&mut self, sink: &mut Sink, name: &str, value: &[u8]) {
        if matches!(name, "pid" | "cookie" | "value") {
            let text = str::from_utf8(value).unwrap_or_default().trim();
            if let Ok(number) = text.parse::<i64>() {
                let column = self.column(sink, name, Type::Int);
                return sink.rows(self.number).int(column, number);
            }
            if let Ok(number) = text.parse::<f64>() {
                let column = self.column(sink, name, Type::Float);
                return sink.rows(self.number).float(column, number);
            }
        }
        let column = self.column(sink, name, Type::Text);
        sink.rows(self.number).text(column, value);
    }
}

impl Marks {
    fn table(&mut self, sink: &mut Sink, place: usize) -> Option<&mut Table> {
        if self.tables.len() <= SYNC {
            self.tables.resize_with(SYNC + 1, || None);
        }
        let slot = self.tables.get_mut(place)?;
        Some(slot.get_or_insert_with(|| match place {
            FREE => Table::new(sink, "print", &[("text", Type::Text)]),
            SYNC => Table::new(sink, "print|trace_event_clock_sync", &[]),
            _ => {
                let letter = b'A' + place as u8;
                let name = format!("print|{}", char::from(letter));
                Table::new(sink, &name, columns(letter))
            }
        }))
    }

    /// A message `PrintFtraceEvent`.
    pub fn print(&mut self, world: &mut World, sink: &mut Sink, head: &Head, comm: Option<&Comm>, message: &[u8]) {
        let (mut ip, mut text) = (None, &b""[..]);
        for (number, value) in Fields::of(message) {
            match (number, value) {
                (1, Value::Varint(bits)) => ip = Some(bits),
                (2, Value::Bytes(bytes)) => text = bytes.trim_ascii_end(),
                _ => world.notes.add("unknown field of a mark", 1, false, || format!("field {number}")),
            }
        }
        let place = match kind(text) {
            Kind::Letter(letter @ b'A'..=b'Z') => usize::from(letter - b'A'),
            Kind::ClockSync => SYNC,
            _ => FREE,
        };
        let fields = match place < FREE {
            true => split(b'A' + place as u8, text),
            false => None,
        };
        let place = if place < FREE && fields.is_none() { FREE } else { place };
        let Some(table) = self.table(sink, place) else {
            return;
        };
        let rows = sink.rows(table.number);
        put_fixed(rows, head, comm);
        if let Some(ip) = ip.filter(|ip| *ip != 0) {
            rows.uint(FIRST, ip);
        }
        match &fields {
            Some(fields) => {
                for (name, value) in fields.all() {
                    table.put(sink, str::from_utf8(name).unwrap_or_default(), value);
                }
            }
            None if place == SYNC => sync(table, sink, text),
            None => table.put(sink, "text", text),
        }
        sink.end(table.number);
    }

    /// A message `TracingMarkWriteFtraceEvent`, which old kernels wrote instead.
    pub fn old(&mut self, sink: &mut Sink, head: &Head, message: &[u8]) {
        let begin = super::wire::number(message, 3).unwrap_or(0) != 0;
        let letter = if begin { b'B' } else { b'E' };
        let Some(table) = self.table(sink, usize::from(letter - b'A')) else {
            return;
        };
        put_fixed(sink.rows(table.number), head, None);
        table.put(sink, "pid", super::tracks::int(message, 1).to_string().as_bytes());
        if begin {
            table.put(sink, "name", super::wire::bytes(message, 2).unwrap_or_default());
        }
        sink.end(table.number);
    }
}

/// `trace_event_clock_sync: parent_ts=1.5`
fn sync(table: &mut Table, sink: &mut Sink, text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    let body = text.split_once(':').map_or("", |(_, body)| body);
    for (key, value) in body.split_whitespace().filter_map(|pair| pair.split_once('=')) {
        match value.parse::<f64>() {
            Ok(number) => {
                let column = table.column(sink, key, Type::Float);
                sink.rows(table.number).float(column, number);
            }
            Err(_) => table.put(sink, key, value.as_bytes()),
        }
    }
}
