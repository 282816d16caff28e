//! Prefetching of memory, so that the processor waits for several places at once.

use std::hint::black_box;

/// 64-bit numbers per cache line of the processor.
const LINE: usize = 8;

/// Read numbers and discard them. Nothing depends on them, so the following reads run in parallel.
///
/// This works as far as the processor looks ahead, so addresses are computed beforehand, and read in a short loop.
#[inline]
pub fn fetch<T: Copy>(numbers: &[T]) {
    for line in numbers.chunks(LINE) {
        black_box(line[line.len() - 1]);
    }
}
