//! Convert events with free text (`trace_marker`, `trace_printk`) into marks of programs, and plain text.

use super::event::{Event, Places};
use super::expression::{Context, field_text};
use super::format::{Field, Format, Order};
use super::layout::{ColumnSource, Filled, Optional};
use super::symbols::Names;
use super::{Printks, Record, binary};
use crate::ftrace::marks::{self, Kind};
use crate::rows::{ColumnSpec, Sink, Type};

/// The source of a special event's text.
enum Text {
    /// The text itself.
    Buffer(Field),
    /// Address of a format, and packed values.
    Packed(Field, Field),
    /// Address of a text.
    Address(Field),
}

/// An event with a text.
pub struct Special {
    text: Text,
    /// The table for texts that are not marks, created for the first one, and its text column.
    plain: Option<(Event, usize)>,
    name: String,
    ip: Option<Field>,
    places: Places,
    optional: Optional,
    marks: Option<Marks>,
    scratch: Vec<u8>,
}

/// The tables of marks.
struct Marks {
    places: Places,
    letters: [Option<Table>; 26],
    clock: Option<Table>,
    optional: Optional,
    /// Number of marks with missing fields.
    bad: u64,
}

struct Table {
    event: Event,
    columns: Vec<(&'static [u8], Type, usize)>,
}

impl Special {
    /// Prepare an event, if it is one with a text.
    pub fn of(format: &Format, order: Order, optional: Optional) -> Option<Special> {
        let find = |name: &[u8]| format.find(name).cloned();
        let text = match format.name.as_str() {
            "print" => Text::Buffer(find(b"buf")?),
            "bprint" => Text::Packed(find(b"fmt")?, find(b"buf")?),
            "bputs" => Text::Address(find(b"str")?),
            _ => return None,
        };
        let places = Places::of(format, order);
        let marks = matches!(text, Text::Buffer(_)).then(|| Marks {
            places,
            letters: Default::default(),
            clock: None,
            optional,
            bad: 0,
        });
        Some(Special {
            text,
            plain: None,
            name: format.name.clone(),
            ip: find(b"ip"),
            places,
            optional,
            marks,
            scratch: Vec::new(),
        })
    }

    /// Number of marks with missing fields, kept as text.
    pub fn bad_marks(&self) -> u64 {
        self.marks.as_ref().map_or(0, |marks| marks.bad)
    }

    /// Add a row; None if the record is too short, false if part of it is missing.
    pub fn row(
        &mut self,
        record: &Record<'_>,
        context: Context<'_>,
        (names, printks): (&mut Names, &Printks),
        sink: &mut Sink,
    ) -> Option<bool> {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        let mut whole = self.text.put(context, printks, &mut scratch).is_some();
        let text = scratch.strip_suffix(b"\n").unwrap_or(&scratch);
        let mut done = None;
        if let Some(marks) = &mut self.marks {
            done = marks.row(text, record, sink);
        }
        if done.is_none() {
            let (plain, column) = self.plain(sink);
            whole &= plain.open(record, context, names, sink)?;
            sink.rows(plain.table).text(*column, text);
            sink.end(plain.table);
        }
        self.scratch = scratch;
        Some(whole)
    }

    /// The table of texts that are not marks.
    fn plain(&mut self, sink: &mut Sink) -> &mut (Event, usize) {
        self.plain.get_or_insert_with(|| {
            let ip = self.ip.clone().map(|field| Filled {
                spec: ColumnSpec::new("ip", Type::Text),
                source: ColumnSource::Symbol(field, false),
            });
            let columns = ip.into_iter().collect();
            let event = Event::with(&self.name, columns, self.places, self.optional, sink);
            let text = sink.column(event.table, &ColumnSpec::new("text", Type::Text));
            (event, text)
        })
    }
}

impl Text {
    fn put(&self, context: Context<'_>, printks: &Printks, out: &mut Vec<u8>) -> Option<()> {
        let (record, order) = (context.record, context.order);
        match self {
            Text::Buffer(field) => {
                out.extend_from_slice(field_text(field, record, order)?);
                Some(())
            }
            Text::Address(field) => {
                let address = field.number(record, order)?.cast_unsigned();
                let text = printks.get(&address);
                match text {
                    Some(text) => out.extend_from_slice(text),
                    None => out.extend_from_slice(format!("0x{address:x}").as_bytes()),
                }
                text.map(|_| ())
            }
            Text::Packed(format, values) => {
                let address = format.number(record, order)?.cast_unsigned();
                let Some(text) = printks.get(&address) else {
                    out.extend_from_slice(format!("0x{address:x}").as_bytes());
                    return None;
                };
                let values = values.bytes(record, order)?;
                binary::put(text, values, context, out).then_some(())
            }
        }
    }
}

impl Marks {
    /// Add a mark; None if the text is not a mark.
    fn row(&mut self, text: &[u8], record: &Record<'_>, sink: &mut Sink) -> Option<()> {
        match marks::kind(text) {
            Kind::Letter(letter) => {
                let Some(fields) = marks::split(letter, text) else {
                    self.bad += 1;
                    return None;
                };
                let slot = self.letters.get_mut(usize::from(letter - b'A'))?;
                let table = slot.get_or_insert_with(|| {
                    let name = format!("print|{}", char::from(letter));
                    let event = Event::with(&name, Vec::new(), self.places, self.optional, sink);
                    let mut table = Table { event, columns: Vec::new() };
                    for (name, kind) in usual(letter) {
                        table.column(name, *kind, sink);
                    }
                    table
                });
                table.event.begin(record, sink)?;
                for (name, value) in fields.all() {
                    table.put(name, value, sink);
                }
                sink.end(table.event.table);
                Some(())
            }
            Kind::ClockSync => self.clock(text, record, sink),
            Kind::Free => None,
        }
    }

    /// `trace_event_clock_sync: parent_ts=1.5`
    fn clock(&mut self, text: &[u8], record: &Record<'_>, sink: &mut Sink) -> Option<()> {
        let (_, body) = text.split_at(memchr::memchr(b':', text)? + 1);
        let body = body.trim_ascii();
        let (key, value) = body.split_at(memchr::memchr(b'=', body)?);
        let key: &'static [u8] = match key {
            b"parent_ts" => b"parent_ts",
            b"realtime_ts" => b"realtime_ts",
            _ => return None,
        };
        let table = self.clock.get_or_insert_with(|| {
            let name = "print|trace_event_clock_sync";
            let event = Event::with(name, Vec::new(), self.places, self.optional, sink);
            Table { event, columns: Vec::new() }
        });
        table.event.begin(record, sink)?;
        let value = str::from_utf8(&value[1..]).ok();
        if key == b"parent_ts" {
            let column = table.column(key, Type::Float, sink);
            if let Some(value) = value.and_then(|value| value.parse().ok()) {
                sink.rows(table.event.table).float(column, value);
            }
        } else if let Some(value) = value.and_then(|value| value.parse().ok()) {
            let column = table.column(key, Type::Int, sink);
            sink.rows(table.event.table).int(column, value);
        }
        sink.end(table.event.table);
        Some(())
    }
}

/// The usual fields of marks with a letter.
fn usual(letter: u8) -> &'static [(&'static [u8], Type)] {
    const PID: (&[u8], Type) = (b"pid", Type::Int);
    const NAME: (&[u8], Type) = (b"name", Type::Text);
    const TRACK: (&[u8], Type) = (b"track", Type::Text);
    const COOKIE: (&[u8], Type) = (b"cookie", Type::Int);
    match letter {
        b'B' | b'I' => &[PID, NAME],
        b'E' => &[PID],
        b'C' => &[PID, NAME, (b"value", Type::Int)],
        b'S' | b'F' => &[PID, NAME, COOKIE],
        b'N' => &[PID, TRACK, NAME],
        b'G' | b'H' => &[PID, TRACK, NAME, COOKIE],
        _ => &[(b"payload", Type::Text)],
    }
}

impl Table {
    fn column(&mut self, name: &'static [u8], kind: Type, sink: &mut Sink) -> usize {
        let known = |one: &&(&'static [u8], Type, usize)| one.0 == name && one.1 == kind;
        if let Some((_, _, column)) = self.columns.iter().find(known) {
            return *column;
        }
        let spec = ColumnSpec::new(String::from_utf8_lossy(name), kind);
        let column = sink.column(self.event.table, &spec);
        self.columns.push((name, kind, column));
        column
    }

    fn put(&mut self, name: &'static [u8], value: &[u8], sink: &mut Sink) {
        let is_number = matches!(name, b"pid" | b"value" | b"cookie");
        let text = str::from_utf8(value).ok().filter(|_| is_number);
        if let Some(number) = text.and_then(|text| text.parse().ok()) {
            let column = self.column(name, Type::Int, sink);
            return sink.rows(self.event.table).int(column, number);
        }
        if name == b"value"
            && let Some(number) = text.and_then(|text| text.parse().ok())
        {
            let column = self.column(name, Type::Float, sink);
            return sink.rows(self.event.table).float(column, number);
        }
        let column = self.column(name, Type::Text, sink);
        sink.rows(self.event.table).text(column, value);
    }
}
