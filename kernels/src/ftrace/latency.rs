//! Parse lines in the latency formats (`cmd-pid 0d.s2 17us+: event`) into task, CPU and time.

use super::line::{Line, Prefix, Task, Time, count_digits, flags_before_ns, integer, is_blank, task, time};

/// The number of characters for interrupts and preemption.
const FLAGS: std::ops::RangeInclusive<usize> = 3..=6;
/// The width of the column with the thread's name, which is cut to it.
const COMM_WIDTH: usize = 8;

/// Read a line that has no CPU in brackets; None if it is not in a latency format either.
pub fn parse(line: &[u8]) -> Option<Line<'_>> {
    let mut from = 0;
    // The comm may contain blanks: the first word that ends as `-pid`, followed by a CPU with flags, counts.
    loop {
        let rest = line.get(from..)?;
        let start = from + rest.iter().position(|b| !is_blank(*b))?;
        let word = line.get(start..)?;
        let end = start + word.iter().position(|b| is_blank(*b))?;
        if let Some((buffer, task)) = task(line.get(..end)?, COMM_WIDTH)
            && let Some(found) = behind(line.get(end..)?, buffer, task)
        {
            return Some(found);
        }
        from = end;
    }
}

/// The line if `0d.s2 17us+: event` follows its task.
fn behind<'a>(rest: &'a [u8], buffer: Option<&'a [u8]>, (comm, pid, tgid): Task<'a>) -> Option<Line<'a>> {
    let rest = rest.trim_ascii_start();
    let (digits, end) = place(rest)?;
    let (cpu, flags) = rest.get(..end)?.split_at_checked(digits)?;
    let cpu = integer(cpu)?;
    let rest = rest.get(end..)?.trim_ascii_start();
    let colon = memchr::memchr(b':', rest.get(..rest.len().min(48))?)?;
    let event = rest.get(colon + 1..)?.trim_ascii_start();
    let (ts, whole) = match stamp(rest.get(..colon)?) {
        Time::Ns(ts, whole) => (ts, whole),
        Time::OutOfRange => return Some(Line::BadTime),
        Time::No => return None,
    };
    let prefix = Prefix { buffer, comm, pid, tgid, cpu, flags: Some(flags), ts, whole };
    Some(Line::Event(prefix, event))
}

/// The number of digits of the CPU, and the end of the flags behind it: `0d.s2 ` or, before a time in ns, `0d.s2.4561953`.
fn place(rest: &[u8]) -> Option<(usize, usize)> {
    let word = &rest[..rest.iter().position(|b| is_blank(*b))?];
    if let Some(digits) = cpu_digits(word) {
        return Some((digits, word.len()));
    }
    let digits = count_digits(word);
    let width = flags_before_ns(word.get(digits..)?.strip_suffix(b":")?)?;
    (digits > 0 && digits <= 5).then_some((digits, digits + width))
}

/// Read a line printed with the option `verbose`: `comm pid cpu flags depth number [time] 3.2ms (+0.1ms): event`, where
/// the flags are a number and the time is hexadecimal, in microseconds, or in the units of another clock if it has 16
/// digits.
pub fn verbose(line: &[u8]) -> Option<Line<'_>> {
    let open = memchr::memchr_iter(b'[', line).find(|open| is_stamp(line.get(*open..)))?;
    let close = open + memchr::memchr(b']', line.get(open..)?)?;
    let digits = str::from_utf8(line.get(open + 1..close)?).ok()?;
    let (rest, _number) = last_word(line.get(..open)?)?;
    let (rest, _depth) = last_word(rest)?;
    let (rest, flags) = last_word(rest)?;
    let (rest, cpu) = last_word(rest)?;
    let (comm, pid) = last_word(rest)?;
    let (cpu, pid) = (integer(cpu)?, integer(pid)?);
    integer(flags)?;
    let behind = line.get(close + 1..)?;
    let end = memchr::memmem::find(behind, b"): ")?;
    let event = behind.get(end + 3..)?.trim_ascii_start();
    let whole = digits.len() >= 16;
    let stamp = i64::from_str_radix(digits, 16).ok();
    let scale = if whole { 1 } else { 1000 };
    let Some(ts) = stamp.and_then(|stamp| stamp.checked_mul(scale)) else {
        return Some(Line::BadTime);
    };
    let comm = comm.trim_ascii();
    let prefix = Prefix { buffer: None, comm, pid, tgid: None, cpu, flags: Some(flags), ts, whole };
    Some(Line::Event(prefix, event))
}

/// Whether a text begins like `[96e62404] `.
fn is_stamp(text: Option<&[u8]>) -> bool {
    let inside = text.and_then(|text| text.get(1..)).unwrap_or_default();
    let digits = inside.iter().take_while(|b| b.is_ascii_hexdigit()).count();
    (8..=16).contains(&digits) && inside.get(digits..).is_some_and(|rest| rest.starts_with(b"] "))
}

/// The text before the last word, and that word.
fn last_word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.trim_ascii_end();
    let start = text.iter().rposition(|b| is_blank(*b))? + 1;
    text.split_at_checked(start)
}

/// The number of digits before the flags that belong to the CPU: flags may begin without any, and end with one.
fn cpu_digits(place: &[u8]) -> Option<usize> {
    let digits = count_digits(place);
    let flags = place.get(digits..)?;
    let known = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'#' | b'-');
    (digits > 0 && digits <= 5 && FLAGS.contains(&flags.len()) && flags.iter().all(known)).then_some(digits)
}

/// `17us`, with a mark after it for a long delay, `1234.567890` or a number of another clock.
fn stamp(text: &[u8]) -> Time {
    let text = text.trim_ascii_end();
    let text = match text {
        [rest @ .., b'+' | b'!' | b'#' | b'*' | b'@' | b'$'] => rest.trim_ascii_end(),
        text => text,
    };
    let Some(text) = text.strip_suffix(b"us") else {
        return time(text);
    };
    let Some(microseconds) = text.first().filter(|b| b.is_ascii_digit()).map(|_| text) else {
        return match text.first() {
            Some(b'-') => Time::OutOfRange,
            _ => Time::No,
        };
    };
    match time(microseconds) {
        Time::Ns(us, true) => us.checked_mul(1000).map_or(Time::OutOfRange, |ns| Time::Ns(ns, false)),
        // A decimal point means microseconds here, while `time` parses it as seconds.
        Time::Ns(seconds, false) => Time::Ns(seconds / 1_000_000, false),
        other => other,
    }
}
