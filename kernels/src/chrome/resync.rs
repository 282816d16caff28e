//! The place where events continue after invalid text.

use memchr::memchr_iter;

use super::event::{Event, Field};

/// Maximum number of places to try.
const TRIES: usize = 32;
/// Maximum distance of a place.
const FAR: usize = 8 << 20;

/// The start of the next event after the first byte, at the start of a line, or after the end of an event and a comma.
pub fn resync(text: &[u8], event: &mut Event) -> Option<usize> {
    let near = text.get(..FAR).unwrap_or(text);
    let mut tries = 0;
    for at in memchr_iter(b'{', near) {
        if at == 0 || !begins(near.get(..at)?) {
            continue;
        }
        if event.read(text.get(at..)?).is_ok() && event.has(Field::Ph) {
            return Some(at);
        }
        tries += 1;
        if tries >= TRIES {
            return None;
        }
    }
    None
}

/// Whether an event may begin after some text.
fn begins(before: &[u8]) -> bool {
    let mut bytes = before.iter().rev();
    let last = bytes.find(|byte| !matches!(byte, b' ' | b'\t' | b'\r'));
    match last {
        Some(b'\n') => true,
        Some(b',') => bytes.find(|byte| !byte.is_ascii_whitespace()) == Some(&b'}'),
        _ => false,
    }
}
