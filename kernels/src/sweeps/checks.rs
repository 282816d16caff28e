//! Times and durations of a batch -> the ends of its spans, or what is wrong with them.

use arrow_array::{Array, Int64Array};
use arrow_schema::ArrowError;

/// Checks a batch's `_ts`, and its `_duration` if it has one, after a row at `last`; `place` names a row's partition.
pub fn ends(
    own: &[&Int64Array],
    last: i64,
    mut place: impl FnMut(usize) -> Result<String, ArrowError>,
) -> Result<Result<Vec<i64>, String>, ArrowError> {
    let ts = own[0];
    let durations = own.get(1).copied();
    if let Some(row) = first_null(ts) {
        let other = durations.filter(|durations| !durations.is_null(row));
        let other = other.map_or(String::new(), |other| {
            format!(" with `_duration` {}", other.value(row))
        });
        return Ok(Err(format!("`_ts` is NULL in a row{other}{}", place(row)?)));
    }
    if let Some(row) = durations.and_then(first_null) {
        return Ok(Err(format!(
            "`_duration` is NULL in a row with `_ts` {}{}",
            ts.value(row),
            place(row)?
        )));
    }
    let ts = ts.values();
    if ts.first().is_some_and(|&first| first < last) || !ts.is_sorted() {
        let before = std::iter::once(&last).chain(ts.iter());
        let rows = before
            .zip(ts.iter())
            .enumerate()
            .find(|(_, (before, after))| before > after);
        let (row, (before, after)) = rows.unwrap_or((0, (&last, &last)));
        return Ok(Err(format!(
            "rows are not sorted by time: {after}{} comes after {before}",
            place(row)?
        )));
    }
    let Some(durations) = durations.map(|durations| durations.values()) else {
        return Ok(Ok(Vec::new()));
    };
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
    let wrong =
        |(ts, duration): (&i64, &i64)| *duration <= 0 || ts.checked_add(*duration).is_none();
    let row = ts.iter().zip(durations.iter()).position(wrong).unwrap_or(0);
    let (start, duration) = (ts[row], durations[row]);
    let fault = if duration <= 0 {
        ", expected > 0"
    } else {
        ": its end overflows"
    };
    Ok(Err(format!(
        "span at {start}{} has duration {duration}{fault}",
        place(row)?
    )))
}

fn first_null(column: &Int64Array) -> Option<usize> {
    let nulls = column.nulls().filter(|nulls| nulls.null_count() > 0)?;
    (0..column.len()).find(|&row| nulls.is_null(row))
}
