//! Destinations of decoded values: the columns of a row, the text of a JSON value, or nowhere.

use super::layout::NONE;
use super::walk::write_number;
use crate::json::push_quoted;
use crate::rows::Rows;

/// The longest JSON value, in bytes.
const LONGEST: usize = 8 << 20;

/// Takes values of fields; `out` is the number of the field's column in its scope.
pub trait Out {
    /// Whether values are nested, so that all of them are needed.
    const NESTED: bool = false;

    fn int(&mut self, out: usize, value: i64);
    fn uint(&mut self, out: usize, value: u64);
    fn float(&mut self, out: usize, value: f64);
    fn bool(&mut self, out: usize, value: bool);
    fn text(&mut self, out: usize, value: &[u8]);
    fn null(&mut self, _out: usize) {}
    fn open(&mut self, _bracket: u8) {}
    fn close(&mut self, _bracket: u8) {}
    fn key(&mut self, _name: &str) {}
    fn item(&mut self) {}
}

/// Discards all values.
pub struct Nothing;

impl Out for Nothing {
    fn int(&mut self, _: usize, _: i64) {}
    fn uint(&mut self, _: usize, _: u64) {}
    fn float(&mut self, _: usize, _: f64) {}
    fn bool(&mut self, _: usize, _: bool) {}
    fn text(&mut self, _: usize, _: &[u8]) {}
}

/// Puts values into the columns of a row: for each field its column, and optionally another one.
pub struct Row<'a> {
    pub rows: &'a mut Rows,
    pub fills: &'a [(usize, usize)],
}

impl Row<'_> {
    #[inline]
    fn columns(&self, out: usize) -> (usize, usize) {
        self.fills.get(out).copied().unwrap_or((NONE, NONE))
    }
}

impl Out for Row<'_> {
    #[inline]
    fn int(&mut self, out: usize, value: i64) {
        let (column, also) = self.columns(out);
        self.rows.int(column, value);
        if also != NONE {
            self.rows.int(also, value);
        }
    }

    #[inline]
    fn uint(&mut self, out: usize, value: u64) {
        let (column, also) = self.columns(out);
        self.rows.uint(column, value);
        if also != NONE {
            self.rows.uint(also, value);
        }
    }

    #[inline]
    fn float(&mut self, out: usize, value: f64) {
        self.rows.float(self.columns(out).0, value);
    }

    #[inline]
    fn bool(&mut self, out: usize, value: bool) {
        self.rows.bool(self.columns(out).0, value);
    }

    #[inline]
    fn text(&mut self, out: usize, value: &[u8]) {
        let (column, also) = self.columns(out);
        self.rows.text(column, value);
        if also != NONE {
            self.rows.text(also, value);
        }
    }
}

/// Writes values as JSON.
pub struct Json {
    buffer: Vec<u8>,
    full: bool,
}

impl Json {
    pub fn new(mut buffer: Vec<u8>) -> Json {
        buffer.clear();
        Json { buffer, full: false }
    }

    /// The value, if it is not too long.
    pub fn text(&self) -> Option<&[u8]> {
        (!self.full).then_some(&self.buffer)
    }

    pub fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }

    fn number(&mut self, value: std::fmt::Arguments<'_>) {
        if self.buffer.len() > LONGEST {
            self.full = true;
        }
        if !self.full {
            write_number(&mut self.buffer, value);
        }
    }

    fn push(&mut self, byte: u8) {
        if !self.full {
            self.buffer.push(byte);
        }
    }

    fn quoted(&mut self, value: &[u8]) {
        if self.buffer.len().saturating_add(value.len()) > LONGEST {
            self.full = true;
        }
        if self.full {
            return;
        }
        push_quoted(&mut self.buffer, String::from_utf8_lossy(value).as_bytes());
    }

    fn comma(&mut self, bracket: u8) {
        if self.buffer.last().is_some_and(|last| *last != bracket) {
            self.push(b',');
        }
    }
}

impl Out for Json {
    const NESTED: bool = true;

    fn int(&mut self, _: usize, value: i64) {
        self.number(format_args!("{value}"));
    }

    fn uint(&mut self, _: usize, value: u64) {
        self.number(format_args!("{value}"));
    }

    fn float(&mut self, _: usize, value: f64) {
        match value.is_finite() {
            true => self.number(format_args!("{value:?}")),
            // JSON has no NaN or infinities.
            false => self.number(format_args!("\"{value}\"")),
        }
    }

    fn bool(&mut self, _: usize, value: bool) {
        self.number(format_args!("{value}"));
    }

    fn text(&mut self, _: usize, value: &[u8]) {
        self.quoted(value);
    }

    fn null(&mut self, _: usize) {
        self.number(format_args!("null"));
    }

    fn open(&mut self, bracket: u8) {
        self.push(bracket);
    }

    fn close(&mut self, bracket: u8) {
        self.push(bracket);
    }

    fn key(&mut self, name: &str) {
        self.comma(b'{');
        self.quoted(name.as_bytes());
        self.push(b':');
    }

    fn item(&mut self) {
        self.comma(b'[');
    }
}
