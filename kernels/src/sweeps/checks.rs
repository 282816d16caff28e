//! Compute the ends of spans from the times and durations of rows, or report faults, worded alike for all operators.

use std::fmt::{Display, Formatter, Result as Written};

use arrow_array::{Array, Int64Array};
use arrow_schema::ArrowError;

use super::failure::fail;

/// The duration of a span, if it fits into int64.
#[inline]
pub fn lasting(ts: i64, end: i64) -> Result<i64, ArrowError> {
    end.checked_sub(ts).ok_or_else(|| fail(format!("span from {ts} to {end} is longer than a duration can say")))
}

/// A fault of a row: its description, shared by all faults of its kind, and the row.
pub struct Fault {
    pub about: &'static str,
    pub row: String,
}

impl Display for Fault {
    fn fmt(&self, to: &mut Formatter<'_>) -> Written {
        write!(to, "{} {}", self.about, self.row)
    }
}

impl Fault {
    /// A row without a time; `place` names its partition, as in the other functions.
    pub fn no_time(durations: Option<&Int64Array>, row: usize, place: &str) -> Self {
        let Some(durations) = durations else {
            return Self {
                about: "the time of an event is NULL",
                row: if place.is_empty() { "in a row" } else { place.trim_start() }.to_owned(),
            };
        };
        let duration = shown(value(durations, row));
        Self { about: "the start of a span is NULL:", row: format!("duration {duration}{place}") }
    }

    pub fn unsorted(ts: i64, last: i64, place: &str) -> Self {
        Self { about: "the rows are not in order of time:", row: format!("{ts}{place} comes after {last}") }
    }

    /// A duration that is invalid for spans.
    pub fn no_length(ts: i64, durations: &Int64Array, row: usize, place: &str) -> Self {
        let duration = value(durations, row);
        let about = if duration.is_some_and(|duration| duration > 0) {
            "the end of a span is beyond the end of time: duration"
        } else {
            "the duration of a span is positive, found"
        };
        Self { about, row: format!("{} at _ts {ts}{place}", shown(duration)) }
    }

    pub fn overlap((start, stop): (i64, i64), (ts, end): (i64, i64), place: &str) -> Self {
        Self { about: "spans overlap:", row: format!("[{start}, {stop}) and [{ts}, {end}){place}") }
    }
}

fn value(column: &Int64Array, row: usize) -> Option<i64> {
    (!column.is_null(row)).then(|| column.value(row))
}

fn shown(value: Option<i64>) -> String {
    value.map_or_else(|| "NULL".to_owned(), |value| value.to_string())
}

/// Check a batch's `_ts`, and its `_duration` if it has one, after a row at `last`; `place` names a row's partition.
pub fn ends(
    own: &[&Int64Array],
    last: i64,
    mut place: impl FnMut(usize) -> Result<String, ArrowError>,
) -> Result<Result<Vec<i64>, Fault>, ArrowError> {
    let ts = own[0];
    let durations = own.get(1).copied();
    if let Some(row) = first_null(ts) {
        return Ok(Err(Fault::no_time(durations, row, &place(row)?)));
    }
    if let Some(durations) = durations
        && let Some(row) = first_null(durations)
    {
        let place = place(row)?;
        return Ok(Err(Fault::no_length(ts.value(row), durations, row, &place)));
    }
    let ts = ts.values();
    if ts.first().is_some_and(|&first| first < last) || !ts.is_sorted() {
        let before = std::iter::once(&last).chain(ts.iter());
        let rows = before.zip(ts.iter()).enumerate().find(|(_, (before, after))| before > after);
        let (row, (before, after)) = rows.unwrap_or((0, (&last, &last)));
        return Ok(Err(Fault::unsorted(*after, *before, &place(row)?)));
    }
    let Some(column) = durations else {
        return Ok(Ok(Vec::new()));
    };
    let durations = column.values();
    let mut bad = false;
    let add = |(&ts, &duration): (&i64, &i64)| {
        let (end, overflow) = ts.overflowing_add(duration);
        bad |= overflow | (duration <= 0);
        end
    };
    let ends = ts.iter().zip(durations.iter()).map(add).collect();
    if !bad {
        return Ok(Ok(ends));
    }
    let wrong = |(ts, duration): (&i64, &i64)| *duration <= 0 || ts.checked_add(*duration).is_none();
    let row = ts.iter().zip(durations.iter()).position(wrong).unwrap_or(0);
    Ok(Err(Fault::no_length(ts[row], column, row, &place(row)?)))
}

fn first_null(column: &Int64Array) -> Option<usize> {
    let nulls = column.nulls().filter(|nulls| nulls.null_count() > 0)?;
    (0..column.len()).find(|&row| nulls.is_null(row))
}
