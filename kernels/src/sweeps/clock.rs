//! Format counts of days, seconds and their fractions as dates, times and intervals, as the engine prints them.

const DAY: i64 = 86_400;

/// `YYYY-MM-DD`, with ` (BC)` before the year 1.
pub fn date(days: i64) -> String {
    let (year, month, day) = civil(days);
    if year > 0 {
        format!("{year:04}-{month:02}-{day:02}")
    } else {
        format!("{:04}-{month:02}-{day:02} (BC)", 1 - year)
    }
}

/// `YYYY-MM-DD HH:MM:SS[.f]` of a count of `1/per_second` seconds, moved by `offset` seconds.
pub fn timestamp(count: i64, per_second: i64, offset: i64) -> String {
    let seconds = count.div_euclid(per_second).saturating_add(offset);
    let time = time_of_day(seconds.rem_euclid(DAY), count.rem_euclid(per_second), per_second);
    let date = date(seconds.div_euclid(DAY));
    match date.strip_suffix(" (BC)") {
        Some(date) => format!("{date} (BC) {time}"),
        None => format!("{date} {time}"),
    }
}

/// `HH:MM:SS[.f]` of a count of `1/per_second` seconds since midnight.
pub fn time(count: i64, per_second: i64) -> String {
    time_of_day(count.div_euclid(per_second), count.rem_euclid(per_second), per_second)
}

/// `1 year 2 months 3 days 04:05:06.789`, without the parts that are zero.
pub fn interval(months: i64, days: i64, micros: i64) -> String {
    let mut parts = Vec::with_capacity(4);
    for (count, unit) in [(months / 12, "year"), (months % 12, "month"), (days, "day")] {
        match count {
            0 => {}
            1 | -1 => parts.push(format!("{count} {unit}")),
            _ => parts.push(format!("{count} {unit}s")),
        }
    }
    if micros != 0 || parts.is_empty() {
        let sign = if micros < 0 { "-" } else { "" };
        let size = micros.saturating_abs();
        parts.push(format!("{sign}{}", time_of_day(size / 1_000_000, size % 1_000_000, 1_000_000)));
    }
    parts.join(" ")
}

/// Seconds of an offset written `+05:30`, and the offset without minutes that are zero.
pub fn offset(text: &str) -> (i64, String) {
    let number = |from: usize| text.get(from..from + 2).and_then(|digits| digits.parse::<i64>().ok()).unwrap_or(0);
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let seconds = sign * (number(1) * 3600 + number(4) * 60);
    (seconds, text.strip_suffix(":00").unwrap_or(text).to_owned())
}

fn time_of_day(seconds: i64, fraction: i64, per_second: i64) -> String {
    let text = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if fraction == 0 {
        return text;
    }
    let width = per_second.ilog10() as usize;
    let digits = format!("{fraction:0width$}");
    format!("{text}.{}", digits.trim_end_matches('0'))
}

/// Year, month and day of the proleptic Gregorian calendar, from days since 1970-01-01.
fn civil(days: i64) -> (i64, i64, i64) {
    // Years are counted from March, so that a leap day is the last of its year; eras of 400 years are all alike.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}
