//! Split the print format of an event (`"vec=%u [action=%s]", REC->vec, ...`) into pieces of text and values.

use super::expression::Expression;
use super::format::{Field, Format, Order};
use super::parse::{self, Tokens};
use super::text::{self, Conversion};

/// A piece of the printed text.
#[derive(Clone, Debug)]
pub enum Piece {
    Literal(Vec<u8>),
    Value(Conversion, Expression),
}

/// A value that is printed after its name.
pub struct Named {
    pub name: String,
    pub pieces: Vec<Piece>,
}

/// Literals and conversions with their values; None for an unsupported expression.
fn pieces(format: &Format, order: Order) -> Vec<Option<Piece>> {
    let mut tokens = Tokens::new(&format.print);
    let Some(text) = tokens.texts() else {
        return Vec::new();
    };
    let fields = |name: &[u8]| -> Option<Field> { format.find(name).cloned() };
    let mut found = Vec::new();
    for part in text::parse(&text) {
        match part {
            text::Part::Literal(text) => found.push(Some(Piece::Literal(text))),
            text::Part::Conversion(conversion) => {
                // A width or a precision given by a value is dropped.
                for _ in 0..conversion.stars {
                    parse::argument(&mut tokens, &fields, order);
                }
                let value = parse::argument(&mut tokens, &fields, order);
                found.push(value.map(|value| Piece::Value(conversion, value)));
            }
        }
    }
    found
}

/// The values printed as `name=value`, with all that is printed up to the next name, and those of fields printed as
/// `name: value`, if they are supported.
pub fn named(format: &Format, order: Order) -> Vec<Named> {
    let mut found: Vec<Growing> = Vec::new();
    for piece in pieces(format, order) {
        let Some(Piece::Literal(text)) = piece else {
            if let Some(last) = found.last_mut() {
                last.push(piece);
            }
            continue;
        };
        let mut rest: &[u8] = &text;
        let next = |rest| key(rest).map(|found| (false, found)).or_else(|| Some((true, colon(rest, format)?)));
        while let Some((single, (before, name, after))) = next(rest) {
            literal(&mut found, before);
            found.push(Growing { name: String::from_utf8_lossy(name).into_owned(), pieces: Vec::new(), single });
            rest = after;
        }
        literal(&mut found, rest);
    }
    found
        .into_iter()
        .filter_map(|Growing { name, pieces, .. }| {
            let pieces = trimmed(pieces.into_iter().collect::<Option<Vec<_>>>()?);
            (!pieces.is_empty()).then_some(Named { name, pieces })
        })
        .collect()
}

/// A named value while its pieces are collected.
struct Growing {
    name: String,
    pieces: Vec<Option<Piece>>,
    /// Whether it has one piece only: after a colon.
    single: bool,
}

impl Growing {
    fn push(&mut self, piece: Option<Piece>) {
        if !self.single || self.pieces.is_empty() {
            self.pieces.push(piece);
        }
    }
}

/// The fields printed as names of functions, and whether with the offset: they need no name before them, as in
/// `function %ps`.
pub fn functions(format: &Format, order: Order) -> Vec<(Field, bool)> {
    pieces(format, order)
        .into_iter()
        .filter_map(|piece| match piece {
            Some(Piece::Value(conversion, Expression::Field(field))) if conversion.is_symbol() => {
                Some((field, conversion.shows_offset()))
            }
            _ => None,
        })
        .collect()
}

fn literal(found: &mut [Growing], text: &[u8]) {
    if let Some(last) = found.last_mut()
        && !text.is_empty()
        && !last.single
    {
        last.push(Some(Piece::Literal(text.to_vec())));
    }
}

/// The same as `key` for a field's name with a colon, right before a value: `reason: %s`.
fn colon<'a>(text: &'a [u8], format: &Format) -> Option<(&'a [u8], &'a [u8], &'a [u8])> {
    let head = text.trim_ascii_end().strip_suffix(b":")?;
    let letters = head.iter().rev().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    let (before, name) = head.split_at(head.len() - letters);
    let alone = before.last().is_none_or(u8::is_ascii_whitespace);
    let is_field = format.fields.iter().any(|field| field.name.as_bytes() == name);
    (alone && is_field).then_some((before, name, b""))
}

/// The text before a name with an equals sign, the name, and the text after the sign.
fn key(text: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let mut from = 0;
    while let Some(at) = memchr::memchr(b'=', text.get(from..)?).map(|at| at + from) {
        from = at + 1;
        if text[at..].starts_with(b"==>") {
            from = at + 3;
            continue;
        }
        let head = text[..at].trim_ascii_end();
        let letters = head.iter().rev().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        let start = head.len() - letters;
        let alone = start == 0 || matches!(head[start - 1], b' ' | b'\t' | b',' | b'[');
        if letters > 0 && alone && !head[start].is_ascii_digit() {
            return Some((&text[..start], &head[start..], &text[from..]));
        }
    }
    None
}

/// The pieces without the syntax around them: `==>`, commas, brackets, blanks.
fn trimmed(mut pieces: Vec<Piece>) -> Vec<Piece> {
    if let Some(Piece::Literal(text)) = pieces.first_mut() {
        *text = text.trim_ascii_start().to_vec();
    }
    if let Some(end) = pieces.iter().position(|one| matches!(one, Piece::Literal(text) if text.first() == Some(&b']')))
    {
        pieces.truncate(end);
    }
    if let Some(Piece::Literal(text)) = pieces.last_mut() {
        let mut kept = text.trim_ascii_end();
        kept = kept.strip_suffix(b"[").unwrap_or(kept).trim_ascii_end();
        kept = kept.strip_suffix(b"==>").unwrap_or(kept).trim_ascii_end();
        kept = kept.strip_suffix(b",").unwrap_or(kept);
        kept = kept.strip_suffix(b"[ns]").unwrap_or(kept).trim_ascii_end();
        *text = kept.to_vec();
    }
    pieces.retain(|one| !matches!(one, Piece::Literal(text) if text.is_empty()));
    pieces
}
