//! Convert the state of a thread that stops running into the letters that the kernel prints.

/// States of kernels since 4.14, from the lowest bit.
const LETTERS: &[u8; 8] = b"SDTtXZPI";
/// States of older kernels, and the bit for preempted threads.
const OLD_LETTERS: &[u8; 11] = b"SDTtZXxKWPN";

/// A number that represents the letters of a state.
#[inline]
pub fn number(bits: u64, kernel: Option<(u64, u64)>) -> usize {
    let number = usize::try_from(bits).unwrap_or(usize::MAX);
    number.saturating_mul(2) | usize::from(is_old(kernel))
}

fn is_old(kernel: Option<(u64, u64)>) -> bool {
    kernel.is_some_and(|version| version < (4, 14))
}

/// The letters of a state; an unknown kernel version counts as new.
pub fn text(bits: u64, kernel: Option<(u64, u64)>) -> String {
    match is_old(kernel) {
        false => letters(bits, LETTERS),
        true => letters(bits, OLD_LETTERS),
    }
}

fn letters(bits: u64, names: &[u8]) -> String {
    let mut text = String::new();
    for (place, letter) in names.iter().enumerate() {
        if bits >> place & 1 == 1 {
            if !text.is_empty() {
                text.push('|');
            }
            text.push(char::from(*letter));
        }
    }
    if text.is_empty() {
        text.push('R');
    }
    if bits >> names.len() != 0 {
        text.push('+');
    }
    text
}

/// The bits of a state given as letters, as a number, or by its name in enumerations of other tracers; letters unknown
/// to this kernel describe how a sleep began, not its kind, and are ignored. None if nothing is known.
pub fn bits(text: &str, kernel: Option<(u64, u64)>) -> Option<u64> {
    if let Ok(number) = text.parse::<i64>() {
        // An idle thread sleeps without counting as load.
        let number = number.cast_unsigned();
        return Some(if number & 0x402 == 0x402 { 0x80 } else { number });
    }
    if text.contains('_') {
        return named(text);
    }
    let names: &[u8] = if is_old(kernel) { OLD_LETTERS } else { LETTERS };
    let mut bits = 0;
    let mut known = false;
    for letter in text.bytes().filter(|b| *b != b'|') {
        let letter = match letter {
            b'x' if !is_old(kernel) => b'X',
            other => other,
        };
        let place = names.iter().position(|name| *name == letter);
        known |= place.is_some() || matches!(letter, b'R' | b'W');
        bits |= match (place, letter) {
            (Some(place), _) => 1 << place,
            (None, b'+') => 1 << names.len(),
            _ => 0,
        };
    }
    known.then_some(bits)
}

fn named(text: &str) -> Option<u64> {
    const NAMES: [(&str, u64); 9] = [
        ("RUNNING", 0),
        ("WAKING", 0),
        ("UNINTERRUPTIBLE", 2),
        ("INTERRUPTIBLE", 1),
        ("STOPPED", 4),
        ("TRACED", 8),
        ("DEAD", 0x10),
        ("ZOMBIE", 0x20),
        ("PARKED", 0x40),
    ];
    let found = NAMES.iter().find(|(name, _)| text.contains(name));
    found.map(|(_, bits)| *bits).or(text.contains("IDLE").then_some(0x80))
}
