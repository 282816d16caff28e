//! Cut partitioned spans into the intervals between adjacent boundaries, with the partitions that cover each.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use arrow_array::ArrayRef;
use arrow_schema::ArrowError;

use super::failure::fail;
use super::partition::Partitions;
use super::required::Required;
use super::source::{ChunkedInput, Open};
use super::stream::Sweep;

/// The consumer of the stretches.
pub trait Sink: Send {
    /// A new chunk of the input is loaded.
    fn load(&mut self, input: &ChunkedInput) -> Result<(), ArrowError>;
    /// A span of a partition begins: the row of the chunk at `pos`.
    fn begin(&mut self, code: u32, bundle: u32, input: &ChunkedInput);
    /// The partition's span ends.
    fn end(&mut self, code: u32, bundle: u32);
    /// A bundle's stretch from `ts` on, with the partitions that cover it.
    fn stretch(&mut self, bundle: u32, active: &[u32], times: (i64, i64)) -> Result<(), ArrowError>;
    /// Whether a batch is full.
    fn is_full(&self) -> bool;
    /// Drops the chunks of the input that are not needed; `open` are the rows of open spans.
    fn release(&mut self, input: &mut ChunkedInput, open: &mut dyn Iterator<Item = u64>);
    /// The columns of a batch, if any rows wait.
    fn flush(&mut self, cuts: Inputs<'_>) -> Result<Option<Vec<ArrayRef>>, ArrowError>;
}

/// The input for a sink's columns.
pub struct Inputs<'a> {
    pub input: &'a ChunkedInput,
    pub partitions: &'a mut Partitions,
    pub kept: &'a mut Partitions,
}

/// The sweep over all boundaries.
pub struct Cuts<S> {
    pub input: ChunkedInput,
    pub partitions: Partitions,
    keep: Vec<usize>,
    pub kept: Partitions,
    required: Option<Required>,
    state: Vec<Member>,
    bundles: Vec<Bundle>,
    ends: BinaryHeap<Reverse<(i64, u64, u32)>>,
    entries: u64,
    sink: S,
}

/// One partition: its span, its bundle and its place among the bundle's open ones.
struct Member {
    open: Open,
    bundle: u32,
    place: usize,
}

/// The partitions that share the kept columns' values.
#[derive(Default)]
struct Bundle {
    active: Vec<u32>,
    /// The last boundary.
    from: i64,
    /// Required partitions without a span.
    missing: usize,
}

/// The partition columns named by `names`, those of them that are kept, and which partitions must be there.
pub struct Layout {
    pub names: Vec<String>,
    pub keep: Vec<usize>,
    pub required: Option<Required>,
}

impl<S: Sink> Cuts<S> {
    pub fn new(input: ChunkedInput, layout: Layout, sink: S) -> Result<Self, ArrowError> {
        let types = input.partition_types();
        let pick = |&column: &usize| {
            let found = types.get(column).cloned();
            found.ok_or_else(|| fail(format!("there is no partition column {column} to keep")))
        };
        let kept = layout.keep.iter().map(pick).collect::<Result<Vec<_>, _>>()?;
        let kept = Partitions::new(&vec![String::new(); kept.len()], kept)?;
        let partitions = Partitions::new(&layout.names, types)?;
        Ok(Self {
            input,
            partitions,
            keep: layout.keep,
            kept,
            required: layout.required,
            state: Vec::new(),
            bundles: Vec::new(),
            ends: BinaryHeap::new(),
            entries: 0,
            sink,
        })
    }

    /// Give new partitions their place in a bundle.
    fn sync(&mut self) -> Result<(), ArrowError> {
        let (known, total) = (self.state.len(), self.partitions.len());
        if known == total {
            return Ok(());
        }
        let distinct = |&column: &usize| Ok(self.partitions.distinct(column)?.slice(known, total - known));
        let columns = self.keep.iter().map(distinct).collect::<Result<Vec<_>, ArrowError>>()?;
        for bundle in self.kept.encode(&columns, total - known)? {
            let (open, place) = (Open::NEVER, usize::MAX);
            self.state.push(Member { open, bundle, place });
        }
        self.bundles.resize_with(self.kept.len(), Bundle::default);
        Ok(())
    }

    /// Read the required partitions at the first call.
    fn require(&mut self) -> Result<(), ArrowError> {
        let Some(mut required) = self.required.take() else {
            return self.sync();
        };
        let unread = required.load(&mut self.partitions)?;
        self.sync()?;
        if unread {
            for code in required.codes() {
                self.bundles[self.state[code as usize].bundle as usize].missing += 1;
            }
        }
        self.required = Some(required);
        Ok(())
    }

    fn run(&mut self) -> Result<(), ArrowError> {
        while !self.input.empty() && !self.sink.is_full() {
            let now = self.input.time();
            if !self.end_until(now)? {
                break;
            }
            self.begin(now)?;
        }
        Ok(())
    }

    /// End spans in order of time, up to `now`; false if the batch got full before.
    fn end_until(&mut self, now: i64) -> Result<bool, ArrowError> {
        while let Some(&Reverse((time, _, code))) = self.ends.peek()
            && time <= now
        {
            if self.sink.is_full() {
                return Ok(false);
            }
            self.ends.pop();
            let Member { bundle, place, .. } = self.state[code as usize];
            self.boundary(bundle, time)?;
            self.sink.end(code, bundle);
            let needed = self.needs(code);
            let bundle = &mut self.bundles[bundle as usize];
            bundle.missing += usize::from(needed);
            bundle.active.swap_remove(place);
            if let Some(&moved) = bundle.active.get(place) {
                self.state[moved as usize].place = place;
            }
        }
        Ok(true)
    }

    fn begin(&mut self, t: i64) -> Result<(), ArrowError> {
        let (row, code) = (self.input.pos, self.input.chunk.code[self.input.pos]);
        let Member { open, bundle, .. } = self.state[code as usize];
        if open.end > t {
            return Err(self.input.overlap(&open, row, &mut self.partitions));
        }
        self.boundary(bundle, t)?;
        self.sink.begin(code, bundle, &self.input);
        let needed = self.needs(code);
        let (end, row) = (self.input.chunk.end[row], self.input.chunk.base + row as u64);
        let found = &mut self.bundles[bundle as usize];
        let (open, place) = (Open { end, row }, found.active.len());
        self.state[code as usize] = Member { open, bundle, place };
        found.active.push(code);
        found.missing -= usize::from(needed);
        self.entries += 1;
        self.ends.push(Reverse((end, self.entries, code)));
        self.input.pos += 1;
        Ok(())
    }

    fn needs(&self, code: u32) -> bool {
        self.required.as_ref().is_some_and(|required| required.contains(code))
    }

    /// Emit the stretch from the bundle's last boundary to this one.
    fn boundary(&mut self, number: u32, t: i64) -> Result<(), ArrowError> {
        let bundle = &mut self.bundles[number as usize];
        let from = std::mem::replace(&mut bundle.from, t);
        if bundle.active.is_empty() || bundle.missing > 0 || from == t {
            return Ok(());
        }
        self.sink.stretch(number, &bundle.active, (from, t - from))
    }
}

impl<S: Sink> Sweep for Cuts<S> {
    fn next(&mut self) -> Result<Option<Vec<ArrayRef>>, ArrowError> {
        while !self.sink.is_full() {
            if self.input.starved() {
                self.input.fill(&mut self.partitions)?;
                self.require()?;
                self.sink.load(&self.input)?;
            }
            if self.input.done {
                self.end_until(i64::MAX)?;
                break;
            }
            if self.input.held.is_full() {
                let active = self.bundles.iter().flat_map(|bundle| &bundle.active);
                let mut open = active.map(|&code| self.state[code as usize].open.row);
                self.sink.release(&mut self.input, &mut open);
            }
            self.run()?;
        }
        let Self { input, partitions, kept, .. } = self;
        self.sink.flush(Inputs { input, partitions, kept })
    }
}
