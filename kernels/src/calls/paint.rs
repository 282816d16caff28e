//! Add terminal colour codes to text, by the colour rules for functions.

use std::io::Write;

use rustc_hash::FxHashMap;

use super::patterns::Book;

/// A colour of a terminal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Color {
    Red,
    Green,
    Yellow,
    Blue,
    Magenta,
    Cyan,
    Gray,
    Bold,
}

const RESET: &[u8] = b"\x1b[0m";

impl Color {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "red" => Self::Red,
            "green" => Self::Green,
            "yellow" => Self::Yellow,
            "blue" => Self::Blue,
            "magenta" => Self::Magenta,
            "cyan" => Self::Cyan,
            "gray" => Self::Gray,
            "bold" => Self::Bold,
            _ => return None,
        })
    }

    fn code(self) -> &'static [u8] {
        match self {
            Self::Red => b"\x1b[91m",
            Self::Green => b"\x1b[32m",
            Self::Yellow => b"\x1b[33m",
            Self::Blue => b"\x1b[94m",
            Self::Magenta => b"\x1b[35m",
            Self::Cyan => b"\x1b[36m",
            Self::Gray => b"\x1b[90m",
            Self::Bold => b"\x1b[1m",
        }
    }

    /// The colour of a unit of time.
    pub fn of_unit(unit: &str) -> Option<Self> {
        match unit {
            "ms" => Some(Self::Green),
            " s" => Some(Self::Yellow),
            " m" | " h" => Some(Self::Red),
            _ => None,
        }
    }
}

/// Write a text, in a colour if there is one.
pub fn painted(out: &mut Vec<u8>, color: Option<Color>, text: std::fmt::Arguments) {
    if let Some(color) = color {
        out.extend_from_slice(color.code());
    }
    // Writing to memory cannot fail.
    let _ = out.write_fmt(text);
    if color.is_some() {
        out.extend_from_slice(RESET);
    }
}

/// Characters that may follow the closing quote of a text; before others a quote is part of it, since inner quotes are
/// not escaped.
const BEHIND: &[u8] = b",)}]:;| ";

/// Write arguments, or a result: texts within quotes are magenta.
pub fn values(out: &mut Vec<u8>, text: &str, colored: bool) {
    if !colored {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    let (bytes, mut quote) = (text.as_bytes(), None);
    for (at, &byte) in bytes.iter().enumerate() {
        let ends = bytes.get(at + 1).is_none_or(|behind| BEHIND.contains(behind));
        match (quote, byte) {
            (None, b'"' | b'\'') => {
                quote = Some(byte);
                out.extend_from_slice(Color::Magenta.code());
                out.push(byte);
            }
            (Some(open), _) if open == byte && ends => {
                quote = None;
                out.push(byte);
                out.extend_from_slice(RESET);
            }
            _ => out.push(byte),
        }
    }
    if quote.is_some() {
        out.extend_from_slice(RESET);
    }
}

/// Determines the colours of functions.
pub struct Painter {
    book: Option<Book>,
    known: FxHashMap<Box<str>, Option<Color>>,
}

impl Painter {
    /// Without rules nothing is coloured.
    pub fn new(book: Option<Book>) -> Self {
        Self { book, known: FxHashMap::default() }
    }

    /// Whether colours are on.
    pub fn is_on(&self) -> bool {
        self.book.is_some()
    }

    /// A colour, if colours are on.
    pub fn plain(&self, color: Color) -> Option<Color> {
        self.is_on().then_some(color)
    }

    /// The colour of a function by the rules.
    pub fn of(&mut self, name: &str, module: Option<&str>) -> Option<Color> {
        let book = self.book.as_mut().filter(|book| !book.is_empty())?;
        let key = format!("{name}\0{}", module.unwrap_or_default());
        if let Some(&color) = self.known.get(key.as_str()) {
            return color;
        }
        let said = book.trigger(Some(name), module, None).color;
        let color = said.and_then(|name| Color::named(&name));
        self.known.insert(key.into(), color);
        color
    }
}
