//! The events of all CPUs of all buffers, in order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::header::Header;
use super::input::Input;
use super::options::Options;
use super::pages::Stream;
use crate::rows::Failure;

/// All CPUs; of equal times the first CPU's comes first.
pub struct Merge {
    pub streams: Vec<Stream>,
    heap: BinaryHeap<Reverse<(i64, usize)>>,
    /// The current stream, and the time and number of the one after it.
    current: Option<usize>,
    until: (i64, usize),
}

impl Merge {
    pub fn open(input: &mut Input, header: &Header) -> Result<Merge, Failure> {
        let mut streams = Vec::new();
        for (number, buffer) in header.buffers.iter().enumerate() {
            for cpu in buffer.cpus.iter().filter(|cpu| cpu.size > 0) {
                streams.push(Stream::open(input, header, (number, buffer), cpu)?);
            }
        }
        let mut heap = BinaryHeap::new();
        for (place, stream) in streams.iter().enumerate() {
            if let Some(entry) = stream.next {
                heap.push(Reverse((header.options.time(entry.ts, stream.cpu), place)));
            }
        }
        Ok(Merge { streams, heap, current: None, until: (i64::MAX, usize::MAX) })
    }

    /// The stream of the next event, and its time in ns.
    #[inline]
    pub fn next(&mut self, options: &Options) -> Option<(usize, i64)> {
        if let Some(place) = self.current {
            let stream = &self.streams[place];
            if let Some(entry) = &stream.next {
                let ts = options.time(entry.ts, stream.cpu);
                if (ts, place) <= self.until {
                    return Some((place, ts));
                }
                let Some(mut first) = self.heap.peek_mut() else {
                    return Some((place, ts));
                };
                let Reverse(next) = std::mem::replace(&mut *first, Reverse((ts, place)));
                drop(first);
                return self.turn_to(next);
            }
        }
        let Reverse(next) = self.heap.pop()?;
        self.turn_to(next)
    }

    /// Continue with another stream.
    fn turn_to(&mut self, (ts, place): (i64, usize)) -> Option<(usize, i64)> {
        self.current = Some(place);
        self.until = self.heap.peek().map_or((i64::MAX, usize::MAX), |Reverse(next)| *next);
        Some((place, ts))
    }
}
