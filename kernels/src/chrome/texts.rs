//! Convert JSON values into the text stored in columns.

use std::borrow::Cow;

use memchr::memchr;

use crate::json::{Text, Token, push_quoted, unescape};

/// A value as text: the inside of a string, or the number, list or object as written; None for null.
pub fn plain<'a>(token: Token, raw: &'a [u8], text: &'a [u8]) -> Option<Cow<'a, [u8]>> {
    match token {
        Token::Absent | Token::Null => None,
        Token::Text(inside) => Some(unquoted(inside, text)),
        _ => Some(Cow::Borrowed(raw)),
    }
}

/// The value of a string literal.
pub fn unquoted(inside: Text, text: &[u8]) -> Cow<'_, [u8]> {
    let raw = inside.span.of(text);
    if !inside.escaped {
        return Cow::Borrowed(raw);
    }
    let mut out = Vec::with_capacity(raw.len());
    unescape(raw, &mut out);
    Cow::Owned(out)
}

/// Convert a value that is JSON for Python into strict JSON, with as few changes as possible.
///
/// An unpaired surrogate becomes U+FFFD, as in texts; a value that is nested too deep becomes a string.
pub fn json(raw: &[u8], deep: bool) -> Cow<'_, [u8]> {
    if deep {
        return Cow::Owned(quoted(raw));
    }
    if memchr(b'\\', raw).is_none() {
        return Cow::Borrowed(raw);
    }
    whole_pairs(raw)
}

/// A text as a JSON string.
pub fn quoted(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 2);
    push_quoted(&mut out, text);
    out
}

fn whole_pairs(raw: &[u8]) -> Cow<'_, [u8]> {
    let mut out: Option<Vec<u8>> = None;
    let mut at = 0;
    while let Some(byte) = raw.get(at) {
        let used = match byte {
            b'\\' => escape_length(raw, at),
            _ => 1,
        };
        let piece = raw.get(at..at + used).unwrap_or_default();
        if used == 6 && lone(piece) {
            out.get_or_insert_with(|| raw.get(..at).unwrap_or_default().to_vec()).extend_from_slice(b"\\ufffd");
        } else if let Some(out) = &mut out {
            out.extend_from_slice(piece);
        }
        at += used;
    }
    out.map_or(Cow::Borrowed(raw), Cow::Owned)
}

/// The length of the escape sequence here, with both halves of a surrogate pair.
fn escape_length(raw: &[u8], at: usize) -> usize {
    let rest = raw.get(at..).unwrap_or_default();
    if rest.get(1) != Some(&b'u') {
        return rest.len().min(2);
    }
    let pair = half(rest, b"89abAB") && rest.get(6..).is_some_and(|low| half(low, b"cdefCDEF"));
    rest.len().min(if pair { 12 } else { 6 })
}

fn half(escape: &[u8], third: &[u8]) -> bool {
    escape.first() == Some(&b'\\')
        && escape.get(1) == Some(&b'u')
        && matches!(escape.get(2), Some(b'd' | b'D'))
        && escape.get(3).is_some_and(|byte| third.contains(byte))
}

fn lone(escape: &[u8]) -> bool {
    half(escape, b"89abcdefABCDEF")
}
