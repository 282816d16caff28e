//! Parse lines of `extern.dat` into messages with their times: `16414531.193431732 text`, `#` begins a comment.

/// Maximum length of a line, as in uftrace.
pub const MOST_BYTES: usize = 1024 + 64;
const MESSAGE_BYTES: usize = 1023;

/// A line.
pub enum Line {
    Message(i64, Vec<u8>),
    Comment,
    Bad,
}

/// A line without its end.
pub fn parse(line: &[u8]) -> Line {
    let line = line.trim_ascii();
    if line.is_empty() || line.starts_with(b"#") {
        return Line::Comment;
    }
    let Some(end) = line.iter().position(|one| one.is_ascii_whitespace()) else {
        return Line::Bad;
    };
    let (stamp, message) = line.split_at(end);
    let message = message.trim_ascii();
    match time(stamp) {
        Some(time) => Line::Message(time, message[..message.len().min(MESSAGE_BYTES)].to_vec()),
        None => Line::Bad,
    }
}

/// Convert seconds and a fraction into nanoseconds.
fn time(stamp: &[u8]) -> Option<i64> {
    let stamp = str::from_utf8(stamp).ok()?;
    let (seconds, fraction) = stamp.split_once('.').unwrap_or((stamp, ""));
    if !fraction.bytes().all(|one| one.is_ascii_digit()) {
        return None;
    }
    let digits: String = fraction.chars().chain("000000000".chars()).take(9).collect();
    let nanos: i64 = digits.parse().ok()?;
    let seconds: i64 = seconds.parse().ok()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(nanos)
}
