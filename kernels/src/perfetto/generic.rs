//! Decode messages without specific code into rows with a typed column for each number and string, and JSON for the
//! rest.

use rustc_hash::FxHashMap;

use super::schema::{Field, Kind, Scalar, Schema};
use super::wire::{Fields, Value};
use super::world::{Packet, World};
use crate::rows::{ColumnSpec, EventSpec, Rows, Sink, TableSpec, Type};

/// The first columns of all event tables here.
const TS: usize = 0;
const LINE: usize = 1;
const NONE: u32 = u32::MAX;

/// The destinations of the fields of a message.
pub struct Plan {
    pub table: usize,
    /// Columns by the places of fields in their message.
    columns: Vec<u32>,
    args: usize,
    event: bool,
}

/// The form of the table for a message.
#[derive(Clone, Copy, Default)]
pub struct Shape {
    /// Whether rows have times.
    pub event: bool,
    /// The field with the duration of each event.
    pub duration: &'static str,
    /// Columns filled by the caller: name and type.
    pub more: &'static [(&'static str, Type)],
}

/// The plans of all messages so far.
#[derive(Default)]
pub struct Generic {
    plans: FxHashMap<String, Plan>,
}

/// The type of a column for values of a field; None if it has none.
pub fn column_type(field: &Field) -> Option<Type> {
    if field.repeated {
        return None;
    }
    Some(match field.kind {
        Kind::Double | Kind::Float => Type::Float,
        Kind::Int | Kind::Int32 | Kind::Uint32 | Kind::Sint | Kind::Sfixed32 | Kind::Sfixed64 => Type::Int,
        Kind::Uint | Kind::Fixed32 | Kind::Fixed64 => Type::Uint,
        Kind::Bool => Type::Bool,
        Kind::Text | Kind::Enum(_) => Type::Text,
        Kind::Bytes | Kind::Message(_) | Kind::Unknown => return None,
    })
}

/// The unit implied by a field's name.
pub fn unit_of(name: &str) -> &'static str {
    match name.rsplit('_').next() {
        Some(last) if last.len() == name.len() => "",
        Some("ns") => "ns",
        Some("us") => "us",
        Some("ms") => "ms",
        Some("bytes") => "B",
        Some("kb") => "KiB",
        Some("khz") => "kHz",
        Some("mhz") => "MHz",
        Some("hz") => "Hz",
        _ => "",
    }
}

/// Put a value into a column by the field's type; false if it does not fit.
#[inline]
pub fn put(rows: &mut Rows, column: usize, schema: &Schema, kind: Kind, value: Value<'_>) -> bool {
    if let (Kind::Text, Value::Bytes(text)) = (kind, value) {
        rows.text(column, text);
        return true;
    }
    match (kind, kind.scalar(value)) {
        (Kind::Enum(names), Some(Scalar::Int(number))) => match schema.value_name(names, number) {
            Some(name) => rows.text(column, name.as_bytes()),
            None => rows.text(column, number.to_string().as_bytes()),
        },
        (_, Some(Scalar::Int(number))) => rows.int(column, number),
        (_, Some(Scalar::Uint(number))) => rows.uint(column, number),
        (_, Some(Scalar::Float(number))) => rows.float(column, number),
        (_, Some(Scalar::Bool(value))) => rows.bool(column, value),
        (_, None) => return false,
    }
    true
}

impl Plan {
    fn new(schema: &Schema, sink: &mut Sink, name: &str, message: usize, shape: Shape) -> Plan {
        let mut columns = Vec::new();
        if shape.event {
            columns.push(ColumnSpec::new("_ts", Type::Int).with_unit("ns"));
            columns.push(ColumnSpec::new("line", Type::Int));
        }
        columns.extend(shape.more.iter().map(|(name, kind)| ColumnSpec::new(*name, *kind)));
        let mut places = Vec::new();
        for field in schema.message(message).map(|message| message.fields()).unwrap_or_default() {
            let Some(kind) = column_type(field) else {
                places.push(NONE);
                continue;
            };
            places.push(columns.len() as u32);
            let duration = field.name == shape.duration;
            let name = if duration { "dur".to_owned() } else { free(&columns, &field.name) };
            let (kind, unit) = match duration {
                true => (Type::Int, "ns"),
                false if kind == Type::Text => (kind, ""),
                false => (kind, unit_of(&field.name)),
            };
            columns.push(ColumnSpec::new(name, kind).with_unit(unit));
        }
        let args = columns.len();
        columns.push(ColumnSpec::new("args", Type::Json));
        let has = |wanted: &str| columns.iter().any(|one| one.name == wanted).then(|| wanted.to_owned());
        let event = shape.event.then(|| EventSpec {
            name: name.to_owned(),
            pid: has("pid"),
            tid: has("tid"),
            duration: has("dur"),
            args: columns.iter().skip(2).map(|one| one.name.clone()).collect(),
            ..EventSpec::default()
        });
        let whole = match shape.event {
            true => format!("raw_events.{name}"),
            false => name.to_owned(),
        };
        let table = sink.table(&whole.clone(), || TableSpec { name: whole, columns, event });
        if name == "service_event" {
            sink.beside(table);
        }
        Plan { table, columns: places, args, event: shape.event }
    }

    fn row(&self, world: &mut World, sink: &mut Sink, message: usize, time: i64, bytes: &[u8]) {
        let World { schema, json, notes, .. } = world;
        let described = schema.message(message);
        let rows = sink.rows(self.table);
        if self.event {
            rows.int(TS, time);
            rows.int(LINE, world.line);
        }
        let mut rest: Vec<(u32, Value<'_>)> = Vec::new();
        let mut fields = Fields::of(bytes);
        for (number, value) in fields.by_ref() {
            let place = described.and_then(|message| message.place(number));
            let done = place.is_some_and(|(place, field)| {
                let column = self.columns.get(place).copied().unwrap_or(NONE);
                column != NONE && put(rows, column as usize, schema, field.kind, value)
            });
            if !done {
                if place.is_none() {
                    notes.add("field that no descriptor describes is kept in args", 1, false, || {
                        let name = described.map(|message| message.name.as_str()).unwrap_or_default();
                        format!("{name} field {number}")
                    });
                }
                rest.push((number, value));
            }
        }
        if fields.damaged() {
            notes.add("damaged message", 1, true, String::new);
        }
        if !rest.is_empty() {
            json.clear();
            json.object(schema, message, rest, 0);
            rows.text(self.args, &json.text);
        }
    }
}

/// A unique name, regardless of case, without another meaning.
fn free(columns: &[ColumnSpec], name: &str) -> String {
    let mut name = name.to_owned();
    while matches!(name.as_str(), "dur" | "cat" | "args" | "_ts")
        || columns.iter().any(|one| one.name.eq_ignore_ascii_case(&name))
    {
        name = format!("field_{name}");
    }
    name
}

impl Generic {
    /// Put a message into a row of a table, to which the caller adds more values.
    pub fn row(
        &mut self,
        world: &mut World,
        sink: &mut Sink,
        of: (&str, usize, Shape),
        time: i64,
        bytes: &[u8],
        more: impl FnOnce(&mut Rows, usize),
    ) {
        let (name, message, shape) = of;
        if !self.plans.contains_key(name) {
            let plan = Plan::new(&world.schema, sink, name, message, shape);
            self.plans.insert(name.to_owned(), plan);
        }
        let Some(plan) = self.plans.get(name) else {
            return;
        };
        if shape.event {
            world.next_line();
        }
        more(sink.rows(plan.table), if shape.event { 2 } else { 0 });
        plan.row(world, sink, message, time, bytes);
        sink.end(plan.table);
    }

    /// Put a packet into a table of its kind, or into `packets` if it has no time.
    pub fn packet(&mut self, world: &mut World, sink: &mut Sink, packet: &Packet, field: &Field, bytes: &[u8]) {
        let Kind::Message(message) = field.kind else {
            return;
        };
        let Some(time) = packet.time else {
            return timeless(world, sink, packet, &field.name, Some((message, bytes)));
        };
        let shape = Shape { event: true, duration: "", more: &[] };
        self.row(world, sink, (&field.name, message, shape), time, bytes, |_, _| ());
    }
}

/// A packet without a time: its kind and its contents as JSON.
pub fn timeless(world: &mut World, sink: &mut Sink, packet: &Packet, kind: &str, payload: Option<(usize, &[u8])>) {
    let table = sink.table("packets", || TableSpec {
        name: "packets".to_owned(),
        columns: vec![
            ColumnSpec::new("packet", Type::Int),
            ColumnSpec::new("sequence", Type::Int),
            ColumnSpec::new("kind", Type::Text),
            ColumnSpec::new("args", Type::Json),
        ],
        event: None,
    });
    let World { schema, json, .. } = world;
    let rows = sink.rows(table);
    rows.int(0, packet.number.cast_signed());
    rows.int(1, i64::from(packet.sequence));
    rows.text(2, kind.as_bytes());
    if let Some((message, bytes)) = payload {
        json.clear();
        json.message(schema, message, bytes, 0);
        rows.text(3, &json.text);
    }
    sink.end(table);
}
