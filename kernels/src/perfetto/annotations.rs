//! Write the data of a track event, except its name and time, as members of its `args`.

use super::json::Json;
use super::schema::{Kind, Schema};
use super::sequence::{
    ANNOTATION_NAMES, ANNOTATION_TYPES, ANNOTATION_VALUES, CORRELATIONS, Interned, LOG_BODIES, SOURCE_LOCATIONS,
};
use super::wire::{Fields, Value};
use crate::json::Scanner;

/// Annotations nested deeper than this are shown as null.
const DEEPEST: usize = 48;

/// Writes members of `args`.
pub struct Args<'a> {
    pub json: &'a mut Json,
    pub schema: &'a Schema,
    pub interned: &'a Interned,
}

impl Args<'_> {
    /// A message `DebugAnnotation` as a member.
    pub fn annotation(&mut self, message: &[u8]) {
        self.annotation_at(message, 0);
    }

    fn annotation_at(&mut self, message: &[u8], depth: usize) {
        let name = annotation_name(self.interned, message).unwrap_or(b"?");
        self.json.key(name);
        self.annotation_value(message, depth);
    }

    fn annotation_value(&mut self, message: &[u8], depth: usize) {
        if depth > DEEPEST {
            return self.json.raw(b"null");
        }
        let mut done = false;
        for (number, value) in Fields::of(message) {
            done = match number {
                11 => self.entries(message, depth),
                12 => self.items(message, depth),
                _ => self.plain(message, number, value, depth),
            };
            if done {
                break;
            }
        }
        if !done {
            self.json.raw(b"null");
        }
    }

    fn plain(&mut self, message: &[u8], number: u32, value: Value<'_>, depth: usize) -> bool {
        match (number, value) {
            (2, Value::Varint(bits)) => self.json.bool(bits != 0),
            (3, Value::Varint(bits)) => self.json.uint(bits),
            (4, Value::Varint(bits)) => self.json.int(bits.cast_signed()),
            (5, Value::Fixed64(bits)) => self.json.float(f64::from_bits(bits)),
            (6, Value::Bytes(text)) => self.json.string(text),
            (7, Value::Varint(bits)) => self.json.string(format!("0x{bits:x}").as_bytes()),
            (8, Value::Bytes(nested)) => self.nested(nested, depth + 1),
            (9, Value::Bytes(text)) => self.raw_json(text),
            (14, Value::Bytes(proto)) => self.proto(message, proto),
            (17, Value::Varint(id)) => match self.interned.text(ANNOTATION_VALUES, id) {
                Some(text) => self.json.string(text),
                None => self.json.raw(b"null"),
            },
            _ => return false,
        }
        true
    }

    fn entries(&mut self, message: &[u8], depth: usize) -> bool {
        self.json.raw(b"{");
        for (number, value) in Fields::of(message) {
            if let (11, Value::Bytes(entry)) = (number, value) {
                self.annotation_at(entry, depth + 1);
            }
        }
        self.json.raw(b"}");
        true
    }

    fn items(&mut self, message: &[u8], depth: usize) -> bool {
        self.json.raw(b"[");
        for (number, value) in Fields::of(message) {
            if let (12, Value::Bytes(item)) = (number, value) {
                self.json.next();
                self.annotation_value(item, depth + 1);
            }
        }
        self.json.raw(b"]");
        true
    }

    /// A message with its type given by name.
    fn proto(&mut self, annotation: &[u8], message: &[u8]) {
        let id = super::wire::number(annotation, 13);
        let name = super::wire::bytes(annotation, 16);
        let name = name.or_else(|| self.interned.text(ANNOTATION_TYPES, id?));
        match name.and_then(|name| self.schema.named(name)) {
            Some(number) => self.json.message(self.schema, number, message, 0),
            None => self.json.hex(message),
        }
    }

    /// Text that claims to be JSON is inserted verbatim only if it is valid.
    fn raw_json(&mut self, text: &[u8]) {
        let mut scanner = Scanner::new(text);
        let valid = scanner.value(&mut Vec::new()).is_ok() && scanner.at_end();
        // Python's reader accepts words that are not JSON.
        match valid && text.is_ascii() && !text.windows(3).any(|word| word == b"NaN" || word == b"Inf") {
            true => self.json.raw(text.trim_ascii()),
            false => self.json.string(text),
        }
    }

    /// A message `DebugAnnotation.NestedValue`.
    fn nested(&mut self, message: &[u8], depth: usize) {
        if depth > DEEPEST {
            return self.json.raw(b"null");
        }
        let all =
            |wanted: u32| Fields::of(message).filter_map(move |(number, value)| (number == wanted).then_some(value));
        match super::wire::number(message, 1).unwrap_or(0) {
            1 => {
                self.json.raw(b"{");
                for (key, value) in all(2).zip(all(3)) {
                    self.json.key(key.bytes().unwrap_or_default());
                    self.nested(value.bytes().unwrap_or_default(), depth + 1);
                }
                self.json.raw(b"}");
            }
            2 => {
                self.json.raw(b"[");
                for value in all(4) {
                    self.json.next();
                    self.nested(value.bytes().unwrap_or_default(), depth + 1);
                }
                self.json.raw(b"]");
            }
            _ => self.leaf(message),
        }
    }

    fn leaf(&mut self, message: &[u8]) {
        for (number, value) in Fields::of(message) {
            match (number, value) {
                (5, Value::Varint(bits)) => return self.json.int(bits.cast_signed()),
                (6, Value::Fixed64(bits)) => return self.json.float(f64::from_bits(bits)),
                (7, Value::Varint(bits)) => return self.json.bool(bits != 0),
                (8, Value::Bytes(text)) => return self.json.string(text),
                _ => (),
            }
        }
        self.json.raw(b"null");
    }

    /// A field of `TrackEvent` without a column: by the data it refers to, or by its descriptor.
    pub fn field(&mut self, event: Option<usize>, number: u32, value: Value<'_>) {
        match (number, value) {
            (5, Value::Bytes(task)) => {
                if let Some(id) = super::wire::number(task, 1) {
                    self.json.key(b"posted_from");
                    self.location(id);
                }
            }
            (34, Value::Varint(id)) => {
                self.json.key(b"source_location");
                self.location(id);
            }
            (21, Value::Bytes(log)) => self.log(log),
            (54, Value::Varint(id)) => {
                self.json.key(b"correlation_id_str");
                match self.interned.text(CORRELATIONS, id) {
                    Some(text) => self.json.string(text),
                    None => self.json.uint(id),
                }
            }
            _ => self.described(event, number, value),
        }
    }

    fn described(&mut self, event: Option<usize>, number: u32, value: Value<'_>) {
        let field = event.and_then(|event| self.schema.message(event)).and_then(|message| message.field(number));
        match field {
            Some(field) => {
                self.json.key(field.name.as_bytes());
                self.json.value(self.schema, field.kind, value, 0);
            }
            None => {
                self.json.key(format!("#{number}").as_bytes());
                self.json.value(self.schema, Kind::Unknown, value, 0);
            }
        }
    }

    fn location(&mut self, id: u64) {
        let Some(message) = self.interned.message(SOURCE_LOCATIONS, id) else {
            return self.json.raw(b"null");
        };
        self.json.raw(b"{");
        for (key, number) in [(&b"file"[..], 2), (&b"function"[..], 3)] {
            if let Some(text) = super::wire::bytes(message, number) {
                self.json.key(key);
                self.json.string(text);
            }
        }
        if let Some(line) = super::wire::number(message, 4) {
            self.json.key(b"line");
            self.json.uint(line);
        }
        self.json.raw(b"}");
    }

    fn log(&mut self, message: &[u8]) {
        if let Some(id) = super::wire::number(message, 1) {
            self.json.key(b"source_location");
            self.location(id);
        }
        if let Some(text) = super::wire::number(message, 2).and_then(|id| self.interned.text(LOG_BODIES, id)) {
            self.json.key(b"log_message");
            self.json.string(text);
        }
        if let Some(priority) = super::wire::number(message, 3) {
            self.json.key(b"priority");
            self.json.uint(priority);
        }
    }
}

/// The name of an annotation.
pub fn annotation_name<'a>(interned: &'a Interned, message: &'a [u8]) -> Option<&'a [u8]> {
    if let Some(name) = super::wire::bytes(message, 10) {
        return Some(name);
    }
    interned.text(ANNOTATION_NAMES, super::wire::number(message, 1)?)
}
