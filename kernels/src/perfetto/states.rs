//! The state of a thread that stops running -> the letters that the kernel prints.

/// States of kernels since 4.14, from the lowest bit.
const LETTERS: &[u8; 8] = b"SDTtXZPI";
/// States of older kernels, and the bit that says that the thread was preempted.
const OLD_LETTERS: &[u8; 11] = b"SDTtZXxKWPN";

/// A number that stands for the letters of a state.
#[inline]
pub fn number(bits: u64, kernel: Option<(u64, u64)>) -> usize {
    let number = usize::try_from(bits).unwrap_or(usize::MAX);
    number.saturating_mul(2) | usize::from(is_old(kernel))
}

fn is_old(kernel: Option<(u64, u64)>) -> bool {
    kernel.is_some_and(|version| version < (4, 14))
}

/// The letters of a state; without a version the kernel counts as new.
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
