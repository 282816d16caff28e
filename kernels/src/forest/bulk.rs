//! All nodes of a forest at once, in parts that are written to their places, on all cores.

use std::io;

use rayon::prelude::*;

use super::monoid::Monoid;
use super::tree::push_within;

/// Leaves of a part: enough that little is left to do between parts, few enough to fit in a core's cache.
const LEAVES: usize = 1 << 13;
/// Parts that are computed before they are passed on.
const AT_ONCE: usize = 16;

/// The destination of words.
pub trait Sink {
    /// Write words at an offset; almost all come in order.
    fn put(&mut self, at: usize, words: &[u64]) -> io::Result<()>;
}

impl Sink for Vec<u64> {
    fn put(&mut self, at: usize, words: &[u64]) -> io::Result<()> {
        let end = at + words.len();
        if self.len() < end {
            self.resize(end, 0);
        }
        self[at..end].copy_from_slice(words);
        Ok(())
    }
}

/// Compute the nodes of a number of leaves, and write them at an offset; `make` appends each leaf to the identity.
pub fn build<M: Monoid>(
    monoid: &M,
    leaves: usize,
    at: usize,
    sink: &mut impl Sink,
    make: impl Fn(usize, &mut [u64]) + Sync,
) -> io::Result<()> {
    let width = monoid.width();
    let words = 2 * LEAVES * width;
    let parts = leaves.div_ceil(LEAVES);
    let mut made = vec![0; words * AT_ONCE.min(parts)];
    // The node after the nodes of each part: it also aggregates later parts.
    let mut open: Vec<u64> = Vec::with_capacity(parts * width);
    for first in (0..parts).step_by(AT_ONCE) {
        let begin = first * LEAVES;
        let count = (leaves - begin).min(AT_ONCE * LEAVES);
        let nodes = &mut made[..2 * count * width];
        nodes.par_chunks_mut(words).enumerate().for_each_init(
            || vec![0; width],
            |leaf, (part, nodes)| {
                let begin = begin + part * LEAVES;
                for number in 0..nodes.len() / (2 * width) {
                    monoid.identity(leaf);
                    make(begin + number, leaf);
                    push_within(monoid, nodes, number, leaf);
                }
            },
        );
        sink.put(at + 2 * begin * width, nodes)?;
        for nodes in nodes.chunks_exact(words) {
            close(monoid, &mut open, &nodes[words - width..]);
        }
    }
    for (part, node) in open.chunks_exact(width).enumerate() {
        sink.put(at + (2 * (part + 1) * LEAVES - 1) * width, node)?;
    }
    Ok(())
}

/// Append a whole part's value, and close the nodes before it that end with it.
fn close<M: Monoid>(monoid: &M, open: &mut Vec<u64>, value: &[u64]) {
    let width = monoid.width();
    let number = open.len() / width + 1;
    let mut closed = value.to_vec();
    for level in 0..number.trailing_zeros() {
        let left = number - (1 << level) - 1;
        let node = &mut open[left * width..(left + 1) * width];
        monoid.append(node, &closed);
        closed.copy_from_slice(node);
    }
    open.extend(closed);
}
