//! Merge the sorted runs of one table into its rows in time order, equal times in order of arrival.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};

use super::column::{Scratch, SorterColumn};
use super::file::{Place, TempFile};
use super::order::Order;
use super::output::{Block, Output, Pick};
use super::table::{Pending, Run, Table, block_rows, encode};
use crate::sweeps::Token;

/// Maximum rows of an output batch, and maximum bytes of its input blocks.
const ROWS: usize = 24_576;
const BYTES: usize = 8 << 20;

/// The origin of the blocks of a run.
enum Origin {
    Disk(std::vec::IntoIter<Place>),
    Memory { pending: Pending, order: Order, step: usize },
}

impl Origin {
    fn memory(mut pending: Pending, times: Option<usize>, step: usize) -> Origin {
        Origin::Memory { order: pending.settle(times), pending, step }
    }

    fn next(
        &mut self,
        spill: &TempFile,
        buffer: &mut Vec<u8>,
        is_used: impl Fn(usize) -> bool,
    ) -> Result<Option<Block>, ArrowError> {
        match self {
            Origin::Disk(places) => {
                let Some(place) = places.next() else {
                    return Ok(None);
                };
                spill.read(place, buffer, Block::decode).map(Some)
            }
            Origin::Memory { pending, order, step } => {
                let rows = order.next(*step);
                if rows.len() == 0 {
                    return Ok(None);
                }
                let columns = pending.columns.iter().enumerate();
                let columns = columns.map(|(place, column)| match is_used(place) {
                    true => column.gather(rows),
                    false => SorterColumn::nulls(rows.len()),
                });
                let columns: Vec<_> = columns.collect();
                Ok(Some(Block { bytes: columns.iter().map(|column| column.memory()).sum(), columns, rows: rows.len() }))
            }
        }
    }
}

/// A run that is being read.
struct Source {
    origin: Origin,
    /// The number of its current block, and the next row in it.
    block: usize,
    row: usize,
    times: Vec<i64>,
}

/// The merge of some runs, as references to rows in blocks.
struct Merge {
    spill: Arc<TempFile>,
    times: Option<usize>,
    sources: Vec<Source>,
    heap: BinaryHeap<Reverse<(i64, usize)>>,
    held: Vec<Block>,
    picks: Vec<Pick>,
    buffer: Vec<u8>,
}

impl Merge {
    fn new(spill: Arc<TempFile>, times: Option<usize>, origins: Vec<Origin>) -> Result<Merge, ArrowError> {
        let mut merge = Merge {
            spill,
            times,
            sources: Vec::new(),
            heap: BinaryHeap::new(),
            held: Vec::new(),
            picks: Vec::new(),
            buffer: Vec::new(),
        };
        for (number, origin) in origins.into_iter().enumerate() {
            merge.sources.push(Source { origin, block: 0, row: 0, times: Vec::new() });
            merge.load(number)?;
        }
        Ok(merge)
    }

    /// Read the next block of a run, if there is one, and add it to the merge.
    fn load(&mut self, number: usize) -> Result<(), ArrowError> {
        let source = &mut self.sources[number];
        source.row = 0;
        source.times.clear();
        let Some(block) = source.origin.next(&self.spill, &mut self.buffer, |_| true)? else {
            return Ok(());
        };
        match self.times.and_then(|place| block.columns.get(place)) {
            Some(times) => times.ints.all(&mut source.times),
            None => source.times.resize(block.rows, 0),
        }
        source.block = self.held.len();
        self.held.push(block);
        if let Some(first) = source.times.first() {
            self.heap.push(Reverse((*first, number)));
        }
        Ok(())
    }

    /// Drops blocks that have been read.
    fn forget(&mut self) {
        let mut old: Vec<Option<Block>> = std::mem::take(&mut self.held).into_iter().map(Some).collect();
        for source in &mut self.sources {
            let open = source.row < source.times.len();
            if let Some(block) = old.get_mut(source.block).filter(|_| open).and_then(Option::take) {
                source.block = self.held.len();
                self.held.push(block);
            }
        }
    }

    /// Selects the next rows; none at the end.
    fn advance(&mut self) -> Result<(), ArrowError> {
        self.forget();
        self.picks.clear();
        let mut bytes = 0_usize;
        while self.picks.len() < ROWS && bytes < BYTES {
            let Some(Reverse((_, number))) = self.heap.pop() else {
                return Ok(());
            };
            let source = &mut self.sources[number];
            let end = match self.heap.peek() {
                None => source.times.len(),
                Some(Reverse((time, other))) => {
                    let before = |own: &i64| own < time || (own == time && number < *other);
                    let rest = source.times[source.row..].iter();
                    source.row + rest.take_while(|own| before(own)).count()
                }
            };
            let end = end.min(source.row + (ROWS - self.picks.len()));
            let block = source.block as u32;
            self.picks.extend((source.row as u32..end as u32).map(|row| (block, row)));
            source.row = end;
            match source.times.get(end) {
                Some(time) => self.heap.push(Reverse((*time, number))),
                None => {
                    bytes = bytes.saturating_add(self.held[source.block].bytes);
                    self.load(number)?;
                }
            }
        }
        Ok(())
    }
}

/// Merge runs on disk into fewer, so that the rest can all be open at once.
fn cascade(
    table: &mut Table,
    output: &Output,
    spill: &Arc<TempFile>,
    most: usize,
    token: &Token,
) -> Result<(), ArrowError> {
    let mut scratch = Scratch::default();
    while table.runs.len() > most {
        let mut runs = std::mem::take(&mut table.runs).into_iter().peekable();
        while runs.peek().is_some() {
            let origins = runs.by_ref().take(most).map(|run| Origin::Disk(run.blocks.into_iter()));
            let mut merge = Merge::new(spill.clone(), table.times(), origins.collect())?;
            let mut blocks = Vec::new();
            loop {
                token.check()?;
                merge.advance()?;
                if merge.picks.is_empty() {
                    break;
                }
                let columns = output.gather(&merge.held, &merge.picks)?;
                let rows = merge.picks.len();
                let memory = columns.iter().map(|column| column.memory()).sum();
                let (order, step) = (Order::of_all(rows), block_rows(rows, memory));
                encode(&columns, order, step, &mut scratch, |block| {
                    blocks.push(spill.write(block)?);
                    Ok(())
                })?;
            }
            table.runs.push(Run { blocks });
        }
        spill.flush()?;
    }
    Ok(())
}

/// Rows in memory in one run need no merge.
enum Rows {
    Alone(Origin),
    Merged(Merge),
}

/// The rows of a table, as an Arrow stream.
pub struct Merged {
    rows: Rows,
    spill: Arc<TempFile>,
    output: Output,
    token: Token,
}

impl Merged {
    pub fn new(
        mut table: Table,
        output: Output,
        spill: Arc<TempFile>,
        most: usize,
        token: Token,
    ) -> Result<Merged, ArrowError> {
        cascade(&mut table, &output, &spill, most.max(2), &token)?;
        let times = table.times();
        let mut origins: Vec<Origin> = Vec::with_capacity(table.runs.len() + 1);
        origins.extend(table.runs.into_iter().map(|run| Origin::Disk(run.blocks.into_iter())));
        let pending = table.pending;
        let rows = if origins.is_empty() {
            Rows::Alone(Origin::memory(pending, times, ROWS))
        } else {
            let step = block_rows(pending.rows, table.memory);
            origins.push(Origin::memory(pending, times, step));
            Rows::Merged(Merge::new(spill.clone(), times, origins)?)
        };
        Ok(Merged { rows, spill, output, token })
    }
}

impl Merged {
    fn step(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        self.token.check()?;
        let (columns, rows) = match &mut self.rows {
            Rows::Alone(origin) => {
                let Some(block) = origin.next(&self.spill, &mut Vec::new(), |place| self.output.uses(place))? else {
                    return Ok(None);
                };
                let rows = block.rows;
                (self.output.whole(block)?, rows)
            }
            Rows::Merged(merge) => {
                merge.advance()?;
                let columns = self.output.gather(&merge.held, &merge.picks)?;
                (columns, merge.picks.len())
            }
        };
        self.output.batch(columns, rows).map(Some)
    }
}

impl Iterator for Merged {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.step() {
            Ok(Some(batch)) if batch.num_rows() > 0 => Some(Ok(batch)),
            Ok(_) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

impl RecordBatchReader for Merged {
    fn schema(&self) -> SchemaRef {
        self.output.schema()
    }
}
