//! Memory that is read before it is needed, so that the processor waits for several places at once.

use std::hint::black_box;

/// Numbers of 64 bits of a line of the processor's caches.
const LINE: usize = 8;

/// Read numbers for nothing. Nothing waits for them, so what is read next is on its way meanwhile.
///
/// That goes as far as the processor looks ahead, so places are worked out beforehand, and read in a short loop.
#[inline]
pub fn fetch<T: Copy>(numbers: &[T]) {
    for line in numbers.chunks(LINE) {
        black_box(line[line.len() - 1]);
    }
}
