//! Parse one line of `perf script` into task, CPU, time, the event, and the rest.

use crate::ftrace::line::{integer, is_blank};

/// The head of a sample or of another record.
#[derive(Clone, Copy, Default)]
pub struct Head<'a> {
    pub comm: &'a [u8],
    pub pid: Option<i64>,
    pub tid: Option<i64>,
    pub cpu: Option<i64>,
    pub ts: Option<i64>,
    pub period: Option<u64>,
    pub event: &'a [u8],
    /// After the event's colon, or after the name of a record.
    pub rest: &'a [u8],
}

/// One line of a call chain.
pub struct Frame<'a> {
    pub ip: u64,
    /// The function without its offset; `[unknown]` if there is none.
    pub symbol: &'a [u8],
}

/// Words of a line with their places.
fn words(line: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = line.get(at..)?;
        let start = at + rest.iter().position(|b| !is_blank(*b))?;
        let word = line.get(start..)?;
        let end = word.iter().position(|b| is_blank(*b)).unwrap_or(word.len());
        at = start + end;
        Some((start, word.get(..end)?))
    })
}

/// Read a line as the head of a sample: `comm pid/tid [cpu] time: period event: rest`.
///
/// The comm may contain blanks, so the first word that is a time with a process before it counts.
pub fn head(line: &[u8]) -> Option<Head<'_>> {
    // The last three words, for the search backwards from a time.
    let mut before: [(usize, &[u8]); 3] = [(0, b""); 3];
    for (start, word) in words(line) {
        if let Some(ts) = time(word)
            && let Some(mut found) = who(line, &before)
        {
            found.ts = Some(ts);
            let rest = line.get(start + word.len()..)?;
            return event(rest, found);
        }
        before = [before[1], before[2], (start, word)];
    }
    None
}

/// Read a line as the head of a sample whose time was not printed: `comm pid/tid [cpu] period event: rest`.
///
/// A number alone before the event is the thread; of two, the second is the period.
pub fn untimed(line: &[u8]) -> Option<Head<'_>> {
    let mut before: [(usize, &[u8]); 4] = [(0, b""); 4];
    for (start, word) in words(line) {
        if let Some(name) = word.strip_suffix(b":").filter(|name| !name.is_empty())
            && let Some(mut found) = sampled_by(line, &before)
        {
            (found.event, found.rest) = (name, line.get(start + word.len()..)?);
            let is_sample = found.rest.trim_ascii().is_empty() || frame(found.rest).is_some();
            return (is_sample || tracepoint(name).is_some()).then_some(found);
        }
        before = [before[1], before[2], before[3], (start, word)];
    }
    None
}

/// The part before the event, where there is no time: `comm pid/tid`, maybe with a CPU and modes, maybe a period.
fn sampled_by<'a>(line: &'a [u8], before: &[(usize, &'a [u8]); 4]) -> Option<Head<'a>> {
    let [first, second, third, last] = *before;
    let period = str::from_utf8(last.1).ok().and_then(|digits| digits.parse().ok());
    let with_period = period.and_then(|_| who(line, &[first, second, third]));
    match with_period {
        Some(found) => Some(Head { period, ..found }),
        None => who(line, &[second, third, last]),
    }
}

/// `2242.042271:` in ns.
fn time(word: &[u8]) -> Option<i64> {
    let word = word.strip_suffix(b":")?;
    let dot = memchr::memchr(b'.', word)?;
    let (whole, fraction) = (word.get(..dot)?, word.get(dot + 1..)?);
    if !(3..=9).contains(&fraction.len()) {
        return None;
    }
    let scale = 10i64.checked_pow(9 - u32::try_from(fraction.len()).ok()?)?;
    let below = integer(fraction)?.checked_mul(scale)?;
    integer(whole)?.checked_mul(1_000_000_000)?.checked_add(below)
}

/// The part before the time: `comm pid/tid`, optionally `[cpu]`, optionally letters of modes.
fn who<'a>(line: &'a [u8], before: &[(usize, &'a [u8]); 3]) -> Option<Head<'a>> {
    let mut found = Head::default();
    let mut left = before.as_slice();
    if let [rest @ .., (_, word)] = left
        && !word.is_empty()
        && word.len() <= 4
        && word.iter().all(u8::is_ascii_uppercase)
    {
        left = rest;
    }
    if let [rest @ .., (_, word)] = left
        && let Some(cpu) = word.strip_prefix(b"[").and_then(|w| w.strip_suffix(b"]"))
        && let Some(cpu) = integer(cpu)
    {
        found.cpu = Some(cpu);
        left = rest;
    }
    let (start, word) = left.last()?;
    let (pid, tid) = match memchr::memchr(b'/', word) {
        Some(bar) => (Some(number(word.get(..bar)?)?), number(word.get(bar + 1..)?)?),
        None => (None, number(word)?),
    };
    found.pid = pid;
    found.tid = Some(tid);
    found.comm = line.get(..*start)?.trim_ascii();
    Some(found)
}

/// A process or thread id, -1 for none.
fn number(word: &[u8]) -> Option<i64> {
    match word.strip_prefix(b"-") {
        Some(digits) => Some(-integer(digits)?),
        None => integer(word),
    }
}

/// `    250000 cpu-clock:u: rest` or `PERF_RECORD_COMM exec: sleep:1/1`
fn event<'a>(rest: &'a [u8], mut found: Head<'a>) -> Option<Head<'a>> {
    let rest = rest.trim_ascii_start();
    if rest.is_empty() {
        // The requested fields end with the time.
        return Some(found);
    }
    if rest.starts_with(b"PERF_RECORD_") {
        let end = rest
            .iter()
            .position(|b| !b.is_ascii_uppercase() && !b.is_ascii_digit() && *b != b'_')
            .unwrap_or(rest.len());
        (found.event, found.rest) = rest.split_at_checked(end)?;
        return Some(found);
    }
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let (mut period, mut behind) = (None, rest);
    if digits > 0 && rest.get(digits).is_some_and(|b| is_blank(*b)) {
        period = str::from_utf8(rest.get(..digits)?).ok()?.parse().ok();
        behind = rest.get(digits..)?.trim_ascii_start();
    }
    let mut from = 0;
    while let Some(colon) = memchr::memchr(b':', behind.get(from..)?).map(|at| from + at) {
        if behind.get(colon + 1).is_none_or(|b| is_blank(*b)) {
            (found.event, found.rest) = (behind.get(..colon)?, behind.get(colon + 1..)?);
            found.period = period;
            return (!found.event.is_empty()).then_some(found);
        }
        from = colon + 1;
    }
    // Without the event, an address may follow. One of decimal digits looks like a period, which has a blank behind it.
    let alone = behind.is_empty() || frame(behind).is_some();
    (found.period, found.rest) = if alone { (period, behind) } else { (None, rest) };
    (found.rest.is_empty() || frame(found.rest).is_some()).then_some(found)
}

/// Read `ffffffff810d47be symbol+0x12 (/usr/bin/x)`; None if it does not begin with an address.
pub fn frame(text: &[u8]) -> Option<Frame<'_>> {
    let text = text.trim_ascii();
    let end = text.iter().position(|b| is_blank(*b)).unwrap_or(text.len());
    let digits = text.get(..end)?;
    if digits.is_empty() || digits.len() > 16 {
        return None;
    }
    let ip = u64::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()?;
    let rest = text.get(end..)?.trim_ascii_start();
    Some(Frame { ip, symbol: symbol(rest) })
}

/// The frame in the text of a sample, and the text before it.
pub fn sampled(text: &[u8]) -> (&[u8], Option<Frame<'_>>) {
    let text = text.trim_ascii();
    let start = match memchr::memmem::find(text, b"|SNP ") {
        Some(source) => code(text, source),
        None => Some(0),
    };
    let found = start.and_then(|start| Some((text.get(..start)?, frame(text.get(start..)?)?)));
    match found {
        Some((before, frame)) => (before.trim_ascii_end(), Some(frame)),
        None => (text, None),
    }
}

/// Where the frame of a sample of memory begins: `7ffdf1391b0c 5080021 |OP LOAD|SNP None|BLK N/A  5 33 55d0a1 main (dso)`.
///
/// Behind the words for the data's source are latencies, then the address of code. Functions may be called `add` or `f1`.
fn code(text: &[u8], source: usize) -> Option<usize> {
    let is_number = |word: &[u8]| word.iter().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let is_address = |word: &[u8]| word.len() >= 4 && word.iter().any(u8::is_ascii_digit);
    let numbers = words(text.get(source..)?).skip_while(|(_, word)| !is_number(word));
    let addresses = numbers.take_while(|(_, word)| is_number(word)).filter(|(_, word)| is_address(word));
    let (start, word) = addresses.last()?;
    let start = source + start;
    let behind = text.get(start + word.len()..)?.trim_ascii_start();
    // Without a function a short number is a latency, and so is one before others.
    let is_code = behind.first().map_or(word.len() >= 6, |b| !b.is_ascii_digit());
    is_code.then_some(start)
}

/// The name in `name+0x12 (dso)`; names may contain blanks.
fn symbol(text: &[u8]) -> &[u8] {
    let inlined = text.strip_suffix(b" (inlined)").unwrap_or(text);
    let mut name = inlined.get(..module(inlined)).unwrap_or_default().trim_ascii_end();
    if let Some(at) = memchr::memmem::rfind(name, b"+0x")
        && name.get(at + 3..).is_some_and(|offset| !offset.is_empty() && offset.iter().all(u8::is_ascii_hexdigit))
    {
        name = name.get(..at).unwrap_or_default();
    }
    if name.is_empty() { b"[unknown]" } else { name }
}

/// Where `(dso)` begins at the end of a frame. Files may have parentheses of their own, as in `(/usr/bin/x (deleted))`.
fn module(frame: &[u8]) -> usize {
    if !frame.ends_with(b")") {
        return frame.len();
    }
    let mut open = 0_usize;
    for (at, byte) in frame.iter().enumerate().rev() {
        match byte {
            b')' => open += 1,
            b'(' => open -= 1,
            _ => {}
        }
        if open == 0 {
            // Otherwise these are the parameters of a function without a module.
            let alone = at.checked_sub(1).is_none_or(|before| frame.get(before) == Some(&b' '));
            return if alone { at } else { frame.len() };
        }
    }
    memchr::memmem::rfind(frame, b" (").unwrap_or(frame.len())
}

/// System and name of a tracepoint; None for the names of other events, with modes after the colon.
pub fn tracepoint(event: &[u8]) -> Option<(&[u8], &[u8])> {
    const MODES: &[u8] = b"ukhpPGHSDIWeb";
    let colon = memchr::memchr(b':', event)?;
    let (system, name) = (event.get(..colon)?, event.get(colon + 1..)?);
    let is_word = |text: &[u8]| !text.is_empty() && text.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_');
    // Tracepoints may have modes too: `sched:sched_switch:k`.
    let name = name.split(|b| *b == b':').next().unwrap_or_default();
    let only_modes = name.iter().all(|b| MODES.contains(b));
    (is_word(system) && is_word(name) && !only_modes).then_some((system, name))
}
