//! Numbers and fields of a line of text, in uftrace's format.

use std::io::Write;

use super::paint::{Color, painted};

/// A column before the `|` of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Field {
    Duration,
    Tid,
    Address,
    Time,
    Delta,
    Elapsed,
    Task,
    Module,
}

impl Field {
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "duration" => Self::Duration,
            "tid" => Self::Tid,
            "addr" => Self::Address,
            "time" => Self::Time,
            "delta" => Self::Delta,
            "elapsed" => Self::Elapsed,
            "task" => Self::Task,
            "module" => Self::Module,
            _ => return None,
        })
    }

    pub fn header(self) -> &'static str {
        match self {
            Self::Duration => " DURATION ",
            Self::Tid => "   TID   ",
            Self::Address => "   ADDRESS  ",
            Self::Time => "     TIMESTAMP    ",
            Self::Delta => " TIMEDELTA",
            Self::Elapsed => "  ELAPSED ",
            Self::Task => "      TASK NAME",
            Self::Module => "     MODULE NAME",
        }
    }
}

/// The values of the columns of a line.
#[derive(Clone, Copy)]
pub struct Cells<'a> {
    pub tid: i64,
    /// None leaves the column empty.
    pub duration: Option<i64>,
    pub address: Option<i64>,
    /// Since the epoch of the trace's clock, and since its start.
    pub time: i64,
    pub elapsed: i64,
    /// Since the last line of the same thread.
    pub delta: i64,
    pub task: &'a str,
    pub module: Option<&'a str>,
    /// Whether units are coloured.
    pub colored: bool,
}

/// Three digits before and three after the point, and a unit; blank for an unknown time.
pub fn time_unit(out: &mut Vec<u8>, nanoseconds: i64, colored: bool) {
    const UNITS: [(u64, &str); 5] = [(1000, "us"), (1000, "ms"), (1000, " s"), (60, " m"), (24, " h")];
    const LAST: u64 = 999;
    if nanoseconds == 0 {
        out.extend_from_slice(b"          ");
        return;
    }
    let (mut whole, mut part, mut unit) = (nanoseconds.unsigned_abs(), 0, "us");
    for (number, (limit, name)) in UNITS.iter().enumerate() {
        part = whole % limit;
        whole /= limit;
        unit = name;
        if UNITS.get(number + 1).is_none_or(|(next, _)| whole < *next) {
            break;
        }
    }
    if whole > LAST {
        (whole, part) = (LAST, LAST);
    }
    number(out, whole, 3);
    out.push(b'.');
    let digit = |of: u64| b'0' + (of % 10) as u8;
    out.extend_from_slice(&[digit(part / 100), digit(part / 10), digit(part), b' ']);
    let color = Color::of_unit(unit).filter(|_| colored);
    painted(out, color, format_args!("{unit}"));
}

/// A number, padded with blanks to a width.
fn number(out: &mut Vec<u8>, value: u64, width: usize) {
    let mut digits = [b' '; 20];
    let (mut at, mut rest) = (digits.len(), value);
    while at > 0 {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at.min(digits.len() - width.min(digits.len()))..]);
}

/// Append formatted text.
pub fn put(out: &mut Vec<u8>, text: std::fmt::Arguments) {
    // Writing to memory cannot fail.
    let _ = out.write_fmt(text);
}

/// Indentation for a level of nesting.
pub fn indent(out: &mut Vec<u8>, levels: i32) {
    let blanks = usize::try_from(levels).unwrap_or(0).saturating_mul(2);
    out.resize(out.len() + blanks.min(1 << 16), b' ');
}

/// The line above all others.
pub fn header(out: &mut Vec<u8>, fields: &[Field]) {
    if fields.is_empty() {
        return;
    }
    for (number, field) in fields.iter().enumerate() {
        out.push(if number == 0 { b'#' } else { b' ' });
        out.extend_from_slice(field.header().as_bytes());
    }
    out.extend_from_slice(b"   FUNCTION\n");
}

/// The columns of a line and the bar after them; `word` replaces the duration if given.
pub fn cells(out: &mut Vec<u8>, fields: &[Field], cells: &Cells, word: Option<&str>) {
    for field in fields {
        out.push(b' ');
        match (field, word) {
            (Field::Duration, Some(word)) => put(out, format_args!("{word:>10}")),
            (Field::Duration, None) => time_unit(out, cells.duration.unwrap_or(0), cells.colored),
            (Field::Tid, _) => match u64::try_from(cells.tid) {
                Ok(tid) => {
                    out.push(b'[');
                    number(out, tid, 7);
                    out.push(b']');
                }
                Err(_) => put(out, format_args!("[{:7}]", cells.tid)),
            },
            (Field::Address, _) => match cells.address {
                Some(address) => put(out, format_args!("{address:12x}")),
                None => put(out, format_args!("{:12}", "")),
            },
            (Field::Time, _) => {
                let time = cells.time.max(0);
                let (seconds, rest) = (time / 1_000_000_000, time % 1_000_000_000);
                put(out, format_args!("{seconds:8}.{rest:09}"));
            }
            (Field::Delta, _) => time_unit(out, cells.delta, cells.colored),
            (Field::Elapsed, _) => time_unit(out, cells.elapsed, cells.colored),
            (Field::Task, _) => put(out, format_args!("{:>15}", cells.task)),
            (Field::Module, _) => put(out, format_args!("{:>16.16}", cells.module.unwrap_or(""))),
        }
    }
    if !fields.is_empty() {
        out.extend_from_slice(b" | ");
    }
}

/// Blank columns, where the thread changes.
pub fn blank(out: &mut Vec<u8>, fields: &[Field]) {
    let width: usize = fields.iter().map(|field| field.header().len() + 1).sum();
    out.resize(out.len() + width, b' ');
    if !fields.is_empty() {
        out.extend_from_slice(b" | ");
    }
    out.push(b'\n');
}
