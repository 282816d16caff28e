//! Parse the body of an event into fields: `key=value` with blanks in values, `key: value`, and the rest as free text.

use memchr::{memchr, memmem};

use super::line::is_blank;
use super::values::{Hint, hint};

/// The destination of the fields of an event.
pub trait Fill {
    /// A field; a second value of one field becomes free text.
    fn put(&mut self, key: &[u8], value: &[u8]);

    /// A field that is always a text.
    fn put_text(&mut self, key: &[u8], value: &[u8]);

    /// Text outside of fields.
    fn free(&mut self, piece: &[u8]);
}

/// The longest list in braces; a search through the whole line for each brace would be quadratic.
const LIST_LIMIT: usize = 4096;

/// A key with a value that has not ended yet.
struct Open {
    key: (usize, usize),
    value: usize,
    /// `[key=value]`
    bracketed: bool,
    /// `key = value`
    spaced: bool,
}

/// Put all fields of a body into a row; text without a key becomes the row's free text.
pub fn pairs(body: &[u8], row: &mut impl Fill) {
    let mut open: Option<Open> = None;
    let mut from = 0;
    while let Some(equals) = memchr(b'=', body.get(from..).unwrap_or_default()).map(|i| i + from) {
        if body[equals..].starts_with(b"==>") {
            from = equals + 3;
            continue;
        }
        from = equals + 1;
        let floor = open.as_ref().map_or(0, |o| o.value);
        let Some(next) = key_before(body, equals, floor) else {
            continue;
        };
        let start = next.key.0 - usize::from(next.bracketed);
        match open {
            Some(before) => close(body, &before, start, row),
            None => row.free(&body[..start]),
        }
        from = after_braces(body, next.value);
        open = Some(next);
    }
    match open {
        Some(last) => close(body, &last, body.len(), row),
        None if !colons(body, row) => row.free(body),
        None => {}
    }
}

/// The key that ends at an equals sign, if it stands alone: after a blank, a comma or an opening bracket.
fn key_before(body: &[u8], equals: usize, floor: usize) -> Option<Open> {
    let head = body.get(floor..equals)?;
    let trimmed = head.trim_ascii_end();
    let name = trimmed.iter().rev().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    let start = floor + trimmed.len() - name;
    if name == 0 || body[start].is_ascii_digit() {
        return None;
    }
    let bracketed = start > floor && body[start - 1] == b'[' && (start - 1 == 0 || is_blank(body[start - 2]));
    let alone = start == 0 || bracketed || (start > floor && matches!(body[start - 1], b' ' | b'\t' | b','));
    let spaced = trimmed.len() < head.len();
    alone.then_some(Open { key: (start, start + name), value: equals + 1, bracketed, spaced })
}

/// Where to continue after a value that is a list in braces: keys in it are part of it.
fn after_braces(body: &[u8], value: usize) -> usize {
    let rest = &body[value..body.len().min(value + LIST_LIMIT)];
    let blanks = rest.len() - rest.trim_ascii_start().len();
    let end = match rest.get(blanks) {
        Some(b'{') => memchr(b'}', rest),
        Some(b'(') => memchr(b')', rest),
        _ => None,
    };
    value + end.unwrap_or(0)
}

fn close(body: &[u8], open: &Open, end: usize, row: &mut impl Fill) {
    let key = &body[open.key.0..open.key.1];
    let mut value = body[open.value..end].trim_ascii();
    let mut rest: &[u8] = b"";
    if let [head @ .., b'>'] = value {
        value = head.strip_suffix(b"==").map_or(value, <[u8]>::trim_ascii_end);
    }
    if let [head @ .., b','] = value {
        value = head;
    }
    if open.bracketed {
        if let Some(bracket) = memchr(b']', value) {
            (value, rest) = (&value[..bracket], &value[bracket + 1..]);
        }
    } else if open.spaced && value.first() != Some(&b'(') {
        if let Some(comma) = memmem::find(value, b", ") {
            (value, rest) = (&value[..comma], &value[comma + 2..]);
        }
    } else if let [head @ .., b']'] = value {
        value = head.strip_suffix(b" [ns").unwrap_or(value);
    } else if let [.., b')'] = value {
        value = printed_twice(key, value).unwrap_or(value);
    }
    if let Some((symbol, behind)) = before_colons(value) {
        row.put(key, symbol);
        colons(behind, row);
    } else {
        row.put(key, value);
    }
    row.free(rest);
}

/// The address of a function, which has no blanks, and fields of the other form behind it: `skb_release+0x57/0xf0 reason:
/// QUEUE_PURGE`.
fn before_colons(value: &[u8]) -> Option<(&[u8], &[u8])> {
    let (symbol, behind) = value.split_at(memchr(b' ', value)?);
    memmem::find(symbol, b"+0x")?;
    let behind = behind.trim_ascii_start();
    next_colon(behind, 0).filter(|colon| colon.0 == 0).map(|_| (symbol, behind))
}

/// The value in `0x1da5 (7589)`, as the kernel's option `fields` prints it: the number, or the part before it if `hint`
/// says that it is not a number, except for states; likewise `hrtimer_wakeup+0x0/0x30 (-2126388048)`.
fn printed_twice<'a>(key: &[u8], value: &'a [u8]) -> Option<&'a [u8]> {
    let open = memmem::rfind(value, b" (")?;
    let (first, decimal) = (&value[..open], &value[open + 2..value.len() - 1]);
    let number: i128 = str::from_utf8(decimal).ok()?.parse().ok()?;
    let Some(digits) = first.strip_prefix(b"0x") else {
        return memmem::find(first, b"+0x").map(|_| first);
    };
    let bits = u64::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()?;
    let same = [8, 16, 32, 64].iter().any(|width| i128::from(bits) == number.rem_euclid(1 << width));
    let is_address = hint(key) == Hint::Text && key != b"prev_state";
    same.then_some(if is_address { first } else { decimal })
}

/// `key: value, key: value` or `key:value key:value`; only where the body begins with a key.
fn colons(body: &[u8], row: &mut impl Fill) -> bool {
    let Some(mut colon) = next_colon(body, 0) else {
        return false;
    };
    if colon.0 != 0 {
        return false;
    }
    loop {
        let (start, end) = colon;
        let next = next_colon(body, end + 1);
        let value = body[end + 1..next.map_or(body.len(), |n| n.0)].trim_ascii();
        row.put(&body[start..end], value.strip_suffix(b",").unwrap_or(value));
        match next {
            Some(found) => colon = found,
            None => return true,
        }
    }
}

/// The next name that stands alone and is followed by a colon.
fn next_colon(body: &[u8], from: usize) -> Option<(usize, usize)> {
    let mut at = from;
    while let Some(colon) = memchr(b':', body.get(at..)?).map(|i| i + at) {
        let name = body[from..colon].iter().rev().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        let start = colon - name;
        if name > 0 && !body[start].is_ascii_digit() && (start == 0 || is_blank(body[start - 1])) {
            return Some((start, colon));
        }
        at = colon + 1;
    }
    None
}

/// The arguments of `sys_name(fd: 3, buf: 7ffe, ...)`: hexadecimal without 0x, hence texts.
pub fn arguments(list: &[u8], row: &mut impl Fill) {
    if !list.is_empty() && !colons(list, row) {
        row.free(list);
    }
}
