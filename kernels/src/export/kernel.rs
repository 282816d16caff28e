//! Convert kernel events, with the columns of the standard library, into fields of messages, or into text as the kernel
//! prints it.

use std::io::Write;

use arrow_array::{Array, Int64Array, StringArray};
use arrow_schema::ArrowError;
use pyo3::PyResult;
use pyo3::exceptions::PyValueError;
use rustc_hash::FxHashMap;

use super::message::Message;
use super::rows::{Rows, int};
use crate::perfetto::states;

/// The format of a column's value.
#[derive(Clone, Copy)]
enum Form {
    Int,
    Text,
    /// The state of a thread that stops running.
    State,
    /// The return value of an interrupt handler.
    Handled,
    /// Hexadecimal numbers, separated by commas.
    Hex,
    /// A text with a number.
    Number,
}

struct Field {
    column: String,
    /// The text that the kernel prints before the value.
    printed: String,
    /// The field of the message, 0 if it has none.
    number: u32,
    form: Form,
}

struct KernelEvent {
    number: u32,
    fields: Vec<Field>,
}

/// An event's name, the number of its message, and its fields: column, text before it, number, form.
pub type Described = (String, u32, Vec<(String, String, u32, String)>);

/// The formats of events, for a kernel version.
pub struct KernelEvents {
    events: FxHashMap<String, KernelEvent>,
    version: Option<(u64, u64)>,
}

enum Values {
    Ints(Int64Array),
    Texts(StringArray),
}

/// The number of an event in Perfetto's schema, and its fields with their columns.
type Kind<'a> = (u32, Vec<(&'a Field, &'a Values)>);

/// The columns of one batch.
pub struct KernelRows<'a> {
    kinds: FxHashMap<&'a str, Kind<'a>>,
    version: Option<(u64, u64)>,
}

/// The columns of all events, and those of fields.
pub struct Columns {
    pub ts: Int64Array,
    pub event: StringArray,
    pub cpu: Int64Array,
    pub tid: Int64Array,
    pub tgid: Int64Array,
    pub comm: StringArray,
    pub flags: StringArray,
    values: FxHashMap<String, Values>,
}

impl KernelEvents {
    /// `version` is the kernel's, which determines the meaning of states.
    pub fn new(events: Vec<Described>, version: Option<(u64, u64)>) -> PyResult<KernelEvents> {
        let mut found = FxHashMap::default();
        for (name, number, fields) in events {
            let fields: PyResult<Vec<Field>> = fields.into_iter().map(field).collect();
            let fields = fields?;
            found.insert(name, KernelEvent { number, fields });
        }
        Ok(KernelEvents { events: found, version })
    }

    pub fn columns(&self, rows: &Rows) -> Result<Columns, ArrowError> {
        let mut values = FxHashMap::default();
        for field in self.events.values().flat_map(|event| &event.fields) {
            if !values.contains_key(&field.column) {
                let column = match field.form {
                    Form::Int => Values::Ints(rows.ints(&field.column)?),
                    _ => Values::Texts(rows.texts(&field.column)?),
                };
                values.insert(field.column.clone(), column);
            }
        }
        Ok(Columns {
            ts: rows.ints("_ts")?,
            event: rows.texts("event")?,
            cpu: rows.ints("cpu")?,
            tid: rows.ints("tid")?,
            tgid: rows.ints("tgid")?,
            comm: rows.texts("comm_of_event")?,
            flags: rows.texts("flags")?,
            values,
        })
    }

    pub fn rows<'a>(&'a self, columns: &'a Columns) -> KernelRows<'a> {
        let kinds = self.events.iter().map(|(name, event)| {
            let fields = event.fields.iter();
            let fields = fields.filter_map(|field| Some((field, columns.values.get(&field.column)?)));
            (name.as_str(), (event.number, fields.collect()))
        });
        KernelRows { kinds: kinds.collect(), version: self.version }
    }
}

fn field((column, printed, number, form): (String, String, u32, String)) -> PyResult<Field> {
    let form = match form.as_str() {
        "int" => Form::Int,
        "text" => Form::Text,
        "state" => Form::State,
        "handled" => Form::Handled,
        "hex" => Form::Hex,
        "number" => Form::Number,
        other => return Err(PyValueError::new_err(format!("no form `{other}`"))),
    };
    Ok(Field { column, printed, number, form })
}

impl KernelRows<'_> {
    /// The number and message of a row's event; None if it is unknown.
    pub fn message(&self, event: &str, row: usize) -> Option<(u32, Message)> {
        let (number, fields) = self.kinds.get(event)?;
        let mut message = Message::default();
        for (field, values) in fields {
            if field.number == 0 {
                continue;
            }
            match values {
                Values::Ints(values) => {
                    if let Some(value) = int(values, row) {
                        message.int(field.number, value);
                    }
                }
                Values::Texts(values) if values.is_valid(row) => {
                    self.text_field(&mut message, field, values.value(row));
                }
                Values::Texts(_) => (),
            }
        }
        Some((*number, message))
    }

    fn text_field(&self, message: &mut Message, field: &Field, text: &str) {
        match field.form {
            Form::State => {
                if let Some(bits) = states::bits(text, self.version) {
                    message.varint(field.number, bits);
                }
            }
            Form::Handled => message.int(field.number, handled(text)),
            Form::Hex => {
                for number in text.split(',') {
                    let digits = number.trim();
                    let digits = digits.strip_prefix("0x").unwrap_or(digits);
                    message.varint(field.number, u64::from_str_radix(digits, 16).unwrap_or_default());
                }
            }
            Form::Number => {
                if let Some(number) = number(text) {
                    message.int(field.number, number);
                }
            }
            Form::Int | Form::Text => message.bytes(field.number, text.as_bytes()),
        }
    }

    /// The text that the kernel prints after the event's name; false if the event is unknown.
    pub fn print(&self, out: &mut Vec<u8>, event: &str, row: usize) -> bool {
        let Some((_, fields)) = self.kinds.get(event) else {
            return false;
        };
        for (field, values) in fields {
            match values {
                Values::Ints(values) if values.is_valid(row) => {
                    drop(write!(out, "{}{}", field.printed, values.value(row)));
                }
                Values::Texts(values) if values.is_valid(row) => {
                    out.extend_from_slice(field.printed.as_bytes());
                    self.print_text(out, field.form, values.value(row));
                }
                _ => (),
            }
        }
        true
    }

    fn print_text(&self, out: &mut Vec<u8>, form: Form, text: &str) {
        match form {
            Form::State => match states::bits(text, self.version) {
                Some(bits) => out.extend_from_slice(states::text(bits, self.version).as_bytes()),
                None => one_line(out, text),
            },
            Form::Handled if handled(text) == 1 => out.extend_from_slice(b"handled"),
            Form::Handled => out.extend_from_slice(b"unhandled"),
            Form::Hex => drop(write!(out, "{text})")),
            _ => one_line(out, text),
        }
    }
}

fn handled(text: &str) -> i64 {
    i64::from(matches!(text, "handled" | "1"))
}

/// A decimal number, or a hexadecimal one after `0x`.
fn number(text: &str) -> Option<i64> {
    match text.strip_prefix("0x") {
        Some(digits) => Some(u64::from_str_radix(digits, 16).ok()?.cast_signed()),
        None => text.parse().ok(),
    }
}

/// A text without its line breaks, which would end the event's line.
pub fn one_line(out: &mut Vec<u8>, text: &str) {
    out.extend(text.bytes().map(|b| match b {
        b'\n' | b'\r' => b' ',
        other => other,
    }));
}

/// The flags of an event as stored by the kernel, from the letters that it prints or from a number.
pub fn flags(text: &str) -> Option<u64> {
    if text.bytes().all(|b| b.is_ascii_digit()) {
        return text.parse().ok();
    }
    let letters = text.as_bytes();
    let off = match letters.first() {
        Some(b'd' | b'D') => 0x01,
        Some(b'X') => 0x02,
        _ => 0,
    };
    let resched = match letters.get(1) {
        Some(b'N') => 0x24,
        Some(b'n') => 0x04,
        Some(b'p') => 0x20,
        _ => 0,
    };
    let context = match letters.get(2) {
        Some(b'h') => 0x08,
        Some(b's') => 0x10,
        Some(b'H') => 0x18,
        Some(b'z') => 0x40,
        Some(b'Z') => 0x48,
        _ => 0,
    };
    Some(off | resched | context)
}

/// The letters of flags; other characters are dropped.
pub fn letters(out: &mut Vec<u8>, text: &str) {
    if !text.bytes().all(|b| b.is_ascii_digit()) {
        // Viewers read at most five.
        out.extend(text.bytes().filter(u8::is_ascii_graphic).take(5));
        return;
    }
    let bits: u64 = text.parse().unwrap_or_default();
    out.push(if bits & 1 == 1 { b'd' } else { b'.' });
    out.push(match bits & 0x24 {
        0x24 => b'N',
        0x04 => b'n',
        0x20 => b'p',
        _ => b'.',
    });
    out.push(match bits & 0x58 {
        0x08 => b'h',
        0x10 => b's',
        0x18 => b'H',
        0x48 | 0x58 => b'Z',
        0x40 | 0x50 => b'z',
        _ => b'.',
    });
    out.push(b'.');
}
