//! Parse one line of the function graph tracer into the function and the columns before it.

use crate::ftrace::graph;
use crate::ftrace::line::{count_digits, integer};

/// The columns before the function.
#[derive(Clone, Copy, Default)]
pub struct Columns<'a> {
    /// Absolute, in ns, if its option was on.
    pub ts: Option<i64>,
    pub cpu: Option<i64>,
    /// `comm` and id of the thread, if its option was on.
    pub task: Option<(&'a [u8], i64)>,
    pub flags: Option<&'a [u8]>,
    pub duration: Option<i64>,
}

/// The kind of a line.
pub enum Line<'a> {
    /// The text after the last bar.
    Function(Columns<'a>, &'a [u8]),
    /// ` 0)  a-1  =>  b-2`
    Switch(i64, (&'a [u8], i64), (&'a [u8], i64)),
    /// `==========>` and `<==========`: whether an interrupt begins.
    Interrupt(Columns<'a>, bool),
    Blank,
    Header,
    /// `CPU:1 [LOST 7 EVENTS]`
    Lost(u64),
    Unknown,
}

/// Parse a line.
pub fn parse(text: &[u8]) -> Line<'_> {
    let trimmed = text.trim_ascii();
    if trimmed.is_empty() || trimmed.iter().all(|b| *b == b'-') {
        return Line::Blank;
    }
    if trimmed.first() == Some(&b'#') {
        return Line::Header;
    }
    if trimmed.starts_with(b"CPU:") {
        let count = trimmed.split(|b| *b == b' ').find_map(integer);
        return Line::Lost(count.map_or(1, i64::unsigned_abs));
    }
    columns(text).unwrap_or(Line::Unknown)
}

fn columns(text: &[u8]) -> Option<Line<'_>> {
    let mut found = Columns::default();
    let mut rest = text;
    if let Some((ts, behind)) = time(rest) {
        found.ts = Some(ts);
        rest = behind;
    }
    let trimmed = rest.trim_ascii_start();
    let digits = count_digits(trimmed);
    if digits > 0 && trimmed.get(digits) == Some(&b')') {
        found.cpu = Some(integer(trimmed.get(..digits)?)?);
        rest = trimmed.get(digits + 1..)?;
    }
    if let Some(cpu) = found.cpu
        && let Some((from, to)) = switch(rest)
    {
        return Some(Line::Switch(cpu, from, to));
    }
    if (found.cpu.is_some() || found.ts.is_some()) && is_function(rest) {
        return Some(Line::Function(found, rest));
    }
    // Comments may contain bars: the last column is that of the duration, which precedes the function.
    while let Some(bar) = memchr::memchr(b'|', rest) {
        let (column, behind) = (rest.get(..bar)?, rest.get(bar + 1..)?);
        let inside = column.trim_ascii();
        match inside {
            b"==========>" => return Some(Line::Interrupt(found, true)),
            b"<==========" => return Some(Line::Interrupt(found, false)),
            b"" => return Some(Line::Function(found, behind)),
            inside => {
                if let Some(duration) = graph::duration(inside) {
                    found.duration = Some(duration);
                    return Some(Line::Function(found, behind));
                } else if let Some(task) = task(inside) {
                    found.task = Some(task);
                } else if (4..=6).contains(&inside.len()) && !inside.contains(&b' ') {
                    found.flags = Some(inside);
                } else {
                    return None;
                }
            }
        }
        rest = behind;
        // The option `nofuncgraph-duration` removes that column.
        if (found.task.is_some() || found.flags.is_some()) && is_function(rest) {
            return Some(Line::Function(found, rest));
        }
    }
    None
}

/// Whether a function or a comment begins here, so that no column is before it.
fn is_function(text: &[u8]) -> bool {
    let trimmed = text.trim_ascii();
    trimmed.starts_with(b"/*") && trimmed.ends_with(b"*/") || (graph::function(text).is_some() && !text.contains(&b'|'))
}

/// ` 3268.123456 |`, and the rest.
fn time(text: &[u8]) -> Option<(i64, &[u8])> {
    let text = text.trim_ascii_start();
    let whole = count_digits(text);
    let fraction = text.get(whole..)?.strip_prefix(b".")?;
    let digits = count_digits(fraction);
    let behind = fraction.get(digits..)?.trim_ascii_start();
    let behind = behind.strip_prefix(b"|")?;
    if !(1..=9).contains(&digits) {
        return None;
    }
    let scale = 10i64.checked_pow(9 - u32::try_from(digits).ok()?)?;
    let below = integer(fraction.get(..digits)?)?.checked_mul(scale)?;
    let ts = integer(text.get(..whole)?)?.checked_mul(1_000_000_000)?;
    Some((ts.checked_add(below)?, behind))
}

/// `comm-12`; the comm may contain anything.
fn task(text: &[u8]) -> Option<(&[u8], i64)> {
    let text = text.trim_ascii();
    let dash = memchr::memrchr(b'-', text)?;
    Some((text.get(..dash)?, integer(text.get(dash + 1..)?)?))
}

type Task<'a> = (&'a [u8], i64);

fn switch(text: &[u8]) -> Option<(Task<'_>, Task<'_>)> {
    if text.contains(&b'|') {
        return None;
    }
    let arrow = memchr::memmem::find(text, b" => ")?;
    Some((task(text.get(..arrow)?)?, task(text.get(arrow + 4..)?)?))
}
