//! Parse functions, as the function graph tracer prints them, into name, depth and duration.

use super::fields::Fill;
use super::line::{count_digits, integer};

/// The text after the last bar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `name() {`
    Entry,
    /// `name();`
    Leaf,
    /// `}`
    Exit,
}

/// One function's entry, exit or both.
#[derive(Clone, Copy)]
pub struct Function<'a> {
    pub kind: Kind,
    /// Of an exit only if it is given.
    pub name: Option<&'a [u8]>,
    pub args: Option<&'a [u8]>,
    pub depth: i64,
    pub retval: Option<&'a [u8]>,
}

/// A duration: `0.123 us`, possibly with a mark before it; None if there is none.
pub fn duration(text: &[u8]) -> Option<i64> {
    let text = text.trim_ascii();
    let text = match text {
        [b'+' | b'!' | b'#' | b'*' | b'@' | b'$', rest @ ..] => rest.trim_ascii_start(),
        text => text,
    };
    let (number, unit) = text.split_at_checked(text.iter().position(|b| *b == b' ')?)?;
    let scale = match unit.trim_ascii() {
        b"us" => 1000,
        b"ns" => 1,
        b"ms" => 1_000_000,
        _ => return None,
    };
    let whole = count_digits(number);
    let ns = integer(number.get(..whole)?)?.checked_mul(scale)?;
    let Some(fraction) = number.get(whole..)?.strip_prefix(b".") else {
        return (whole == number.len()).then_some(ns);
    };
    let kept = fraction.get(..fraction.len().min(9))?;
    let below = integer(kept)?.checked_mul(scale)?;
    ns.checked_add(below / 10i64.checked_pow(u32::try_from(kept.len()).ok()?)?)
}

/// The text after the bar: indentation, then `name() {`, `name();` or `}`, with or without a comment.
pub fn function(text: &[u8]) -> Option<Function<'_>> {
    let blanks = text.iter().take_while(|b| **b == b' ').count();
    // Two blanks follow the column of durations, one follows others, and there are two per enclosing call.
    let depth = i64::try_from(blanks.saturating_sub(1) / 2).ok()?;
    let (text, value) = without_notes(text.trim_ascii());
    let (text, comment) = without_comment(text);
    let (text, _) = without_notes(text);
    let retval = value.or_else(|| comment.and_then(returned));
    let mut found = Function { kind: Kind::Exit, name: None, args: None, depth, retval };
    if let Some(rest) = text.strip_prefix(b"}") {
        if !rest.trim_ascii().is_empty() {
            return None;
        }
        found.name = comment.and_then(|comment| comment.split(|b| *b == b' ').next());
        found.name = found.name.filter(|name| !name.is_empty() && *name != b"=");
        return Some(found);
    }
    let call = match text.strip_suffix(b"{") {
        Some(rest) => {
            found.kind = Kind::Entry;
            without_comment(rest.trim_ascii_end()).0
        }
        None => {
            found.kind = Kind::Leaf;
            text.strip_suffix(b";")?
        }
    };
    if call == b")" {
        // What trace-cmd prints for functions whose names are not in the file.
        return Some(found);
    }
    let open = memchr::memchr(b'(', call)?;
    let args = call.get(open + 1..)?.strip_suffix(b")")?.trim_ascii();
    found.args = Some(args).filter(|args| !args.is_empty());
    found.name = Some(call.get(..open)?).filter(|name| !name.is_empty());
    found.name.is_some().then_some(found)
}

/// The text before a comment at its end, and the comment.
fn without_comment(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    let found = text.strip_suffix(b"*/").and_then(|inside| {
        let at = memchr::memmem::rfind(inside, b"/*").filter(|at| *at > 0)?;
        Some((text[..at].trim_ascii_end(), Some(inside[at + 2..].trim_ascii())))
    });
    found.unwrap_or((text, None))
}

/// The text without what trace-cmd adds to a function, and the value in it: ` (2)`, the depth, and ` (ret=0x3)`.
fn without_notes(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    let (mut text, mut value) = (text, None);
    while let Some(head) = text.strip_suffix(b")")
        && let Some(open) = memchr::memmem::rfind(head, b" (")
    {
        let inside = &head[open + 2..];
        match inside.strip_prefix(b"ret=") {
            Some(found) if !found.is_empty() && !found.contains(&b' ') => value = Some(found),
            None if integer(inside).is_some() => {}
            _ => break,
        }
        text = head[..open].trim_ascii_end();
    }
    (text, value)
}

/// The value in `name ret=0x3` or `= 0x3`.
fn returned(comment: &[u8]) -> Option<&[u8]> {
    let at = memchr::memrchr(b'=', comment)?;
    Some(comment.get(at + 1..)?.trim_ascii()).filter(|value| !value.is_empty())
}

/// The body of `funcgraph_entry` or `funcgraph_exit`, as trace-cmd prints it: `0.123 us   |  name();`.
pub fn read(body: &[u8], row: &mut impl Fill) -> Option<()> {
    let bar = memchr::memchr(b'|', body)?;
    let found = function(body.get(bar + 1..)?)?;
    found.name.inspect(|name| row.put_text(b"func", name));
    row.put(b"depth", found.depth.to_string().as_bytes());
    if let Some(duration) = duration(body.get(..bar)?) {
        row.put(b"duration", duration.to_string().as_bytes());
    }
    found.args.inspect(|args| row.put_text(b"params", args));
    found.retval.inspect(|value| row.put_text(b"retval", value));
    Some(())
}
