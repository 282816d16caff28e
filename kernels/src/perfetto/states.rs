//! The state of a thread that stops running -> the letters that the kernel prints.

use std::borrow::Cow;

/// States of kernels since 4.14, from the lowest bit.
const LETTERS: &[u8; 8] = b"SDTtXZPI";
/// States of older kernels, and the bit that says that the thread was preempted.
const OLD_LETTERS: &[u8; 11] = b"SDTtZXxKWPN";

/// The letters of a state; without a version the kernel counts as new.
pub fn text(bits: u64, kernel: Option<(u64, u64)>) -> Cow<'static, str> {
    let old = kernel.is_some_and(|version| version < (4, 14));
    match (bits, old) {
        (0, _) => Cow::Borrowed("R"),
        (1, _) => Cow::Borrowed("S"),
        (2, _) => Cow::Borrowed("D"),
        (0x100, false) => Cow::Borrowed("R+"),
        (128, false) => Cow::Borrowed("I"),
        (_, false) => Cow::Owned(letters(bits, LETTERS)),
        (_, true) => Cow::Owned(letters(bits, OLD_LETTERS)),
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
