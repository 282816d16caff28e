//! Parse one line of ftrace text into task, CPU and time, and the unparsed rest.

use memchr::{memchr, memchr_iter, memmem, memrchr};

use super::latency;

/// The part of a line before the event.
#[derive(Clone, Copy)]
pub struct Prefix<'a> {
    /// The buffer or file that `trace-cmd report` names before the task.
    pub buffer: Option<&'a [u8]>,
    pub comm: &'a [u8],
    pub pid: i64,
    /// Thread group, if the column exists and is not `(-----)`.
    pub tgid: Option<i64>,
    pub cpu: i64,
    pub flags: Option<&'a [u8]>,
    /// As printed, in ns.
    pub ts: i64,
    /// Whether the time had no decimal point, so that its unit is a guess.
    pub whole: bool,
}

/// The kind of a line.
pub enum Line<'a> {
    /// A prefix and the text from the event's name on.
    Event(Prefix<'a>, &'a [u8]),
    /// An event with a time that is negative or beyond 64 bits of nanoseconds.
    BadTime,
    Other(Other),
}

/// Lines that are not events.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Other {
    Blank,
    Header,
    /// Lost events according to the kernel, 1 where it does not give a number.
    Lost(u64),
    /// Numbers in the header: the events that follow, and those the buffer no longer held.
    Promised {
        held: u64,
        lost: u64,
    },
    Stack,
    Unknown,
}

/// The syntax of an event.
pub enum Event<'a> {
    /// `name: body`
    Plain(&'a [u8], &'a [u8]),
    /// `sys_name(args)`
    Enter(&'a [u8], &'a [u8]),
    /// `sys_name -> value`
    Exit(&'a [u8], &'a [u8]),
    /// `function <-caller`
    Function(&'a [u8], &'a [u8]),
    Unnamed,
}

/// A time as printed.
pub enum Time {
    Ns(i64, bool),
    OutOfRange,
    No,
}

/// Maximum width of the column with the thread group: a search through a whole line for each bracket would be
/// quadratic.
const TGID_WIDTH: usize = 24;
/// Minimum number of flags printed by the kernel.
const FLAGS_WIDTH: usize = 4;
/// Minimum number of flags printed by versions of trace-cmd that put no blank between flags and times in ns.
const REPORT_FLAGS_WIDTH: usize = 5;
/// The width of the column with the thread's name, which is shorter and stands at the right.
const COMM_WIDTH: usize = 16;
/// The longest event name; the kernel's own limit is 64.
const NAME_LIMIT: usize = 128;

/// Parse a line without its newline.
pub fn parse(line: &[u8]) -> Line<'_> {
    if line.first() != Some(&b'#') {
        for open in memchr_iter(b'[', line) {
            if open == 0 || !is_blank(line[open - 1]) {
                continue;
            }
            match after_task(line, open) {
                Some(Line::Other(_)) | None => {}
                Some(found) => return found,
            }
        }
        if let Some(found) = latency::parse(line).or_else(|| latency::verbose(line)) {
            return found;
        }
    }
    Line::Other(other(line))
}

/// The line if the `[` at `open` begins its CPU column.
fn after_task(line: &[u8], open: usize) -> Option<Line<'_>> {
    let inside = line.get(open + 1..)?;
    let digits = count_digits(inside);
    if digits > 6 || inside.get(digits) != Some(&b']') {
        return None;
    }
    let cpu = integer(&inside[..digits])?;
    let (buffer, (comm, pid, tgid)) = task(&line[..open], COMM_WIDTH)?;
    let mut rest = inside[digits + 1..].trim_ascii_start();
    let mut flags = None;
    let mut end = token_end(rest);
    let is_flags = !matches!(time(&rest[..end]), Time::Ns(_, false));
    if rest.get(end) != Some(&b':') && is_flags {
        flags = Some(&rest[..end]).filter(|f| !f.is_empty());
        rest = rest[end..].trim_ascii_start();
        end = token_end(rest);
    } else if let Some(width) = joined_flags(&rest[..end]).or_else(|| flags_before_ns(&rest[..end])) {
        (flags, rest) = (Some(&rest[..width]), &rest[width..]);
        end -= width;
    }
    let behind = after_time(rest, end)?;
    let event = without_place(behind.trim_ascii_start());
    match time(&rest[..end]) {
        Time::No => None,
        Time::OutOfRange => Some(Line::BadTime),
        Time::Ns(ts, whole) => {
            let prefix = Prefix { buffer, comm, pid, tgid, cpu, flags, ts, whole };
            Some(Line::Event(prefix, event))
        }
    }
}

/// The width of flags before a time without a blank: `d...316.196740`.
fn joined_flags(text: &[u8]) -> Option<usize> {
    let fraction = memrchr(b'.', text)?;
    let seconds = text[..fraction].iter().rev().take_while(|b| b.is_ascii_digit()).count();
    // The last of the flags, the depth of disabled preemption, may be a digit too.
    let width = (fraction - seconds).max(FLAGS_WIDTH);
    let known = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'#' | b'-');
    let flags = text.get(..width)?;
    (width < fraction && fraction > seconds && width <= 8 && flags.iter().all(known)).then_some(width)
}

/// The width of flags before a time in ns without a blank: `d..2.45507053683041`.
pub fn flags_before_ns(text: &[u8]) -> Option<usize> {
    let dots = text.get(REPORT_FLAGS_WIDTH..)?.iter().take_while(|b| **b == b'.').count();
    let (flags, time) = text.split_at_checked(REPORT_FLAGS_WIDTH + dots)?;
    let known = |b: &u8| b.is_ascii_alphanumeric() || *b == b'.';
    let begins = flags[0].is_ascii_alphabetic() || flags[0] == b'.';
    (begins && flags.iter().all(known) && !time.is_empty() && count_digits(time) == time.len()).then_some(flags.len())
}

/// The text without the place of the event in its buffer that `trace-cmd report --debug` adds: ` [1502:0xd14:24]`.
fn without_place(text: &[u8]) -> &[u8] {
    let shortened = || {
        let inside = text.strip_suffix(b"]")?;
        let open = memrchr(b'[', inside)?;
        let mut parts = inside[open + 1..].split(|b| *b == b':');
        let (delta, offset, size) = (parts.next()?, parts.next()?.strip_prefix(b"0x")?, parts.next()?);
        let hexadecimal = !offset.is_empty() && offset.iter().all(u8::is_ascii_hexdigit);
        let whole = hexadecimal && parts.next().is_none() && integer(delta).is_some() && integer(size).is_some();
        whole.then(|| text[..open].trim_ascii_end())
    };
    shortened().unwrap_or(text)
}

/// The text after the colon of a time, without the difference that `--ts-diff` prints before or after the colon: `12.5
/// (+0.001):`, `12.5: (+40)`.
fn after_time(rest: &[u8], end: usize) -> Option<&[u8]> {
    if let Some(event) = rest.get(end..)?.strip_prefix(b":") {
        let behind = difference(event).and_then(|behind| behind.strip_prefix(b")"));
        return Some(behind.unwrap_or(event));
    }
    difference(rest.get(end..)?)?.strip_prefix(b"):")
}

/// The text after the number in `(+40)`.
fn difference(text: &[u8]) -> Option<&[u8]> {
    let inside = text.trim_ascii_start().strip_prefix(b"(+")?;
    let digits = inside.iter().take_while(|b| b.is_ascii_digit() || **b == b'.').count();
    inside.get(digits..)
}

/// The name, id and thread group of a thread.
pub type Task<'a> = (&'a [u8], i64, Option<i64>);

/// `comm-pid` or `comm-pid (tgid)`; the comm may contain anything, and has a column of `width`. `trace-cmd report` of
/// several buffers or files names them before it: `name:             bash-17`.
pub fn task(text: &[u8], width: usize) -> Option<(Option<&[u8]>, Task<'_>)> {
    let mut text = text.trim_ascii_end();
    let mut tgid = None;
    if let Some(inner) = text.strip_suffix(b")") {
        let (rest, column) = inner.split_at(inner.len().saturating_sub(TGID_WIDTH));
        let open = rest.len() + memrchr(b'(', column)?;
        let inside = inner[open + 1..].trim_ascii();
        tgid = integer(inside);
        if tgid.is_none() && inside.iter().any(|&b| b != b'-') {
            return None;
        }
        text = inner[..open].trim_ascii_end();
    }
    let digits = text.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let (comm, pid) = text.split_at(text.len() - digits);
    let comm = comm.strip_suffix(b"-")?;
    let (before, column) = comm.split_at(comm.len().saturating_sub(width));
    let buffer = before.strip_suffix(b": ").map(<[u8]>::trim_ascii).filter(|name| !name.is_empty());
    let comm = if buffer.is_some() { column } else { comm };
    Some((buffer, (comm.trim_ascii_start(), integer(pid)?, tgid)))
}

/// Maximum time of a kernel's clock, in ns: 146 years, also since 1970.
const LATEST: i64 = 1 << 62;

pub fn time(text: &[u8]) -> Time {
    let negative = text.first() == Some(&b'-');
    let text = if negative { &text[1..] } else { text };
    let (whole, rest) = text.split_at(count_digits(text));
    let fraction = rest.strip_prefix(b".");
    let shaped = match fraction {
        None => rest.is_empty(),
        Some(fraction) => !fraction.is_empty() && count_digits(fraction) == fraction.len(),
    };
    if whole.is_empty() || !shaped {
        return Time::No;
    }
    if negative {
        return Time::OutOfRange;
    }
    let ns = match fraction {
        None => integer(whole),
        Some(fraction) => nanoseconds(whole, fraction),
    };
    ns.filter(|ns| *ns <= LATEST).map_or(Time::OutOfRange, |ns| Time::Ns(ns, fraction.is_none()))
}

/// Seconds and their decimal fraction; digits beyond the ninth are cut off.
fn nanoseconds(whole: &[u8], fraction: &[u8]) -> Option<i64> {
    let kept = &fraction[..fraction.len().min(9)];
    let scale = 10i64.pow(9 - kept.len() as u32);
    let below = integer(kept)?.checked_mul(scale)?;
    integer(whole)?.checked_mul(1_000_000_000)?.checked_add(below)
}

/// Parse an event, from its name on.
pub fn event(text: &[u8]) -> Event<'_> {
    if text.starts_with(b"<stack trace") {
        return Event::Plain(b"kernel_stack", text);
    }
    if text.starts_with(b"<user stack trace") {
        return Event::Plain(b"user_stack", text);
    }
    if text.starts_with(b"# ") && memmem::find(text, b" buf:").is_some() {
        return Event::Plain(b"raw_data", text);
    }
    for (at, &b) in text.iter().enumerate().take(NAME_LIMIT) {
        let rest = &text[at..];
        match b {
            b':' if at > 0 && rest.get(1).is_none_or(|&next| is_blank(next)) => {
                return Event::Plain(&text[..at], rest[1..].trim_ascii_start());
            }
            b'(' if text.starts_with(b"sys_") && text.ends_with(b")") => {
                return Event::Enter(&text[..at], &rest[1..rest.len() - 1]);
            }
            b' ' if text.starts_with(b"sys_") && rest.starts_with(b" -> ") => {
                return Event::Exit(&text[..at], rest[4..].trim_ascii());
            }
            b' ' if at > 0 && rest.starts_with(b" <-") => {
                return Event::Function(&text[..at], rest[3..].trim_ascii());
            }
            b' ' if at > 0 && rest.starts_with(b" <") => {
                return addressed(text, at).unwrap_or(Event::Unnamed);
            }
            b' ' | b'\t' => return Event::Unnamed,
            _ => {}
        }
    }
    Event::Unnamed
}

/// `name <ffffffff8149895a>: body` and `function <ffff...> <-caller <ffff...>`, printed with the option `sym-addr`.
fn addressed(text: &[u8], end: usize) -> Option<Event<'_>> {
    let inside = text.get(end + 2..)?;
    let digits = inside.iter().take_while(|b| b.is_ascii_hexdigit()).count();
    let behind = inside.get(digits..)?.strip_prefix(b">")?;
    if digits == 0 {
        return None;
    }
    if let Some(caller) = behind.strip_prefix(b" <-") {
        let caller_end = memchr(b' ', caller).unwrap_or(caller.len());
        return Some(Event::Function(&text[..end], &caller[..caller_end]));
    }
    let body = behind.strip_prefix(b":")?;
    Some(Event::Plain(&text[..end], body.trim_ascii_start()))
}

/// The name of a function without the address that may stand behind it: `schedule (ffffffff81000205)` in reports of
/// trace-cmd, `schedule <ffffffff81000205>` with the option `sym-addr`.
pub fn without_address(text: &[u8]) -> &[u8] {
    let shortened = || {
        let inside = text.strip_suffix(b")").or_else(|| text.strip_suffix(b">"))?;
        let open = inside.iter().rposition(|b| matches!(b, b'(' | b'<'))?;
        let digits = inside[open + 1..].strip_prefix(b"0x").unwrap_or(&inside[open + 1..]);
        let hexadecimal = (8..=16).contains(&digits.len()) && digits.iter().all(u8::is_ascii_hexdigit);
        let name = text[..open].trim_ascii_end();
        (hexadecimal && !name.is_empty()).then_some(name)
    };
    shortened().unwrap_or(text)
}

fn other(line: &[u8]) -> Other {
    let text = line.trim_ascii();
    if text.is_empty() {
        return Other::Blank;
    }
    if text[0] == b'#' {
        return promised(text).unwrap_or(Other::Header);
    }
    if let Some(lost) = lost(text) {
        return Other::Lost(lost);
    }
    if text.starts_with(b"=> ") {
        return Other::Stack;
    }
    let headers: [&[u8]; 6] = [b"version =", b"cpus=", b"trace-cmd version", b"TRACE:", b"capturing trace", b"CPU "];
    match headers.iter().position(|h| text.starts_with(h)) {
        Some(5) if !text.ends_with(b" is empty") => Other::Unknown,
        Some(_) => Other::Header,
        None => Other::Unknown,
    }
}

/// `CPU:1 [LOST 7994 EVENTS]`, `CPU:1 [5881 EVENTS DROPPED]`, `buffer: CPU:0 [EVENTS DROPPED]`
fn lost(text: &[u8]) -> Option<u64> {
    let before = if text.starts_with(b"CPU:") { 0 } else { memmem::find(text, b": CPU:")? + 2 };
    let text = &text[before..];
    let inside = text[memchr(b'[', text)? + 1..].strip_suffix(b"]")?;
    memmem::find(inside, b"LOST").or(memmem::find(inside, b"DROPPED"))?;
    let count = inside.split(|&b| b == b' ').find_map(integer);
    Some(count.map_or(1, i64::unsigned_abs))
}

/// `# entries-in-buffer/entries-written: 10881/27181   #P:2`, `# latency: 0 us, #10881/27181, CPU#0 | (...)`
fn promised(text: &[u8]) -> Option<Other> {
    const TITLE: &[u8] = b"entries-in-buffer/entries-written:";
    let figures = match memmem::find(text, TITLE) {
        Some(at) => &text[at + TITLE.len()..],
        None if text.starts_with(b"# latency: ") => &text[memmem::find(text, b", #")? + 3..],
        None => return None,
    };
    let figures = figures.trim_ascii_start();
    let (held, rest) = figures.split_at(count_digits(figures));
    let written = rest.strip_prefix(b"/")?;
    let written = integer(&written[..count_digits(written)])?.unsigned_abs();
    let held = integer(held)?.unsigned_abs();
    let lost = written.saturating_sub(held);
    Some(Other::Promised { held, lost })
}

/// A number of decimal digits only, if it fits.
pub fn integer(text: &[u8]) -> Option<i64> {
    if text.is_empty() {
        return None;
    }
    if text.len() <= 18 {
        let mut sum = 0;
        for &d in text {
            if !d.is_ascii_digit() {
                return None;
            }
            sum = sum * 10 + i64::from(d - b'0');
        }
        return Some(sum);
    }
    str::from_utf8(text).ok()?.parse().ok().filter(|_| text[0].is_ascii_digit())
}

/// Space or tab.
pub fn is_blank(b: u8) -> bool {
    b == b' ' || b == b'\t'
}

pub fn count_digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|b| b.is_ascii_digit()).count()
}

fn token_end(text: &[u8]) -> usize {
    text.iter().position(|&b| is_blank(b) || b == b':').unwrap_or(text.len())
}
