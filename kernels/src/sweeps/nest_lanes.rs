//! `nest_lanes`: assign slices that may overlap their parents, depths and the lanes on which they nest.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, Int32Array, Int64Array};
use arrow_schema::{ArrowError, DataType, FieldRef};
use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::cancel::{Cancel, Token};
use super::failure::{fail, to_python};
use super::gather::gather_some;
use super::partition::Partitions;
use super::source::{ChunkedInput, Kind, ROWS};
use super::stream::{Sweep, int64, made, nullable, partitions, schema, stream};
use crate::exchange::{InputStream, OutputStream};

struct NestLanes {
    input: ChunkedInput,
    fields: Vec<FieldRef>,
    partitions: Partitions,
    parts: Vec<Part>,
    /// Slices that begin at `now`, to be taken longest first.
    waiting: Vec<Slice>,
    /// Whether the second payload column holds the depth among slices with separate begin and end events.
    paired: bool,
    now: i64,
    out: Vec<(Slice, Place)>,
    met: i64,
}

/// A slice that never ends has the end `i64::MAX`.
#[derive(Clone, Copy)]
struct Slice {
    ts: i64,
    end: i64,
    code: u32,
    row: u64,
    /// Its depth among slices with separate begin and end events, if it is one.
    pair: Option<i32>,
}

impl Slice {
    fn is_empty(&self) -> bool {
        self.end == self.ts
    }

    fn duration(&self) -> Option<i64> {
        (self.end != i64::MAX).then(|| self.end - self.ts)
    }
}

#[derive(Clone, Copy)]
struct Place {
    id: i64,
    parent: Option<i64>,
    depth: i32,
    lane: u32,
}

/// An open slice.
#[derive(Clone, Copy)]
struct Open {
    end: i64,
    pair: Option<i32>,
    place: Place,
}

impl Open {
    /// Whether it stays open when a slice begins.
    ///
    /// A pair that ends at that time may still be around a pair without length, as their events say.
    fn is_around(&self, slice: &Slice) -> bool {
        self.end > slice.ts
            || (slice.is_empty() && self.end == slice.ts && self.pair.is_some() && self.pair < slice.pair)
    }
}

/// The open slices of one partition, in order of beginning.
#[derive(Clone, Default)]
struct Part {
    open: Vec<Open>,
    /// The time of the last slice, if it is a complete one without length.
    empty: Option<i64>,
    /// Whether a slice in `open` ends later than one before it.
    crossed: bool,
    /// The number of open slices on each lane.
    lanes: Vec<u32>,
}

impl Part {
    fn leave(lanes: &mut [u32], lane: u32) {
        if let Some(count) = lanes.get_mut(lane as usize) {
            *count = count.saturating_sub(1);
        }
    }

    /// Close the slices that are over when a slice begins.
    ///
    /// Complete slices without length at one time are nested in each other.
    fn make_room(&mut self, slice: &Slice) {
        let empty = (slice.is_empty() && slice.pair.is_none()).then_some(slice.ts);
        let follows = empty.is_some() && empty == self.empty;
        self.empty = empty;
        if follows {
            return;
        }
        let Self { open, crossed, lanes, .. } = self;
        let may_stay = slice.is_empty() && slice.pair > Some(0) && open.last().is_some_and(|one| one.end <= slice.ts);
        if *crossed || may_stay {
            open.retain(|one| {
                let stays = one.is_around(slice);
                if !stays {
                    Self::leave(lanes, one.place.lane);
                }
                stays
            });
            *crossed = !open.is_sorted_by(|a, b| a.end >= b.end);
            return;
        }
        while let Some(one) = open.pop_if(|one| one.end <= slice.ts) {
            Self::leave(lanes, one.place.lane);
        }
    }

    fn add(&mut self, slice: &Slice, id: i64) -> Place {
        let end = slice.end;
        self.make_room(slice);
        let holder = self.open.iter().rposition(|other| other.end >= end);
        let (mut parent, mut depth, mut lane) = (None, 0, None);
        if let Some((place, above)) = holder.and_then(|at| Some((self.open.get(at)?.place, self.open.get(at + 1..)?))) {
            parent = Some(place.id);
            depth = place.depth.saturating_add(1);
            lane = above.iter().all(|other| other.place.lane != place.lane).then_some(place.lane);
        }
        let lane = lane.unwrap_or_else(|| self.free());
        if let Some(count) = self.lanes.get_mut(lane as usize) {
            *count += 1;
        }
        let place = Place { id, parent, depth, lane };
        self.crossed |= self.open.last().is_some_and(|last| last.end < end);
        self.open.push(Open { end, pair: slice.pair, place });
        place
    }

    /// The lowest lane without open slices.
    fn free(&mut self) -> u32 {
        let found = self.lanes.iter().position(|&count| count == 0);
        let lane = found.unwrap_or(self.lanes.len());
        if found.is_none() {
            self.lanes.push(0);
        }
        lane as u32
    }
}

impl NestLanes {
    fn run(&mut self) -> Result<(), ArrowError> {
        let durations = self.input.payload_column(0)?.clone();
        let durations = durations.as_primitive::<Int64Type>();
        let paired = match self.paired {
            true => Some(self.input.payload_column(1)?.clone()),
            false => None,
        };
        let pairs = paired.as_ref().and_then(|column| column.as_primitive_opt::<Int32Type>());
        while !self.input.empty() {
            let (pos, ts) = (self.input.pos, self.input.time());
            let code = self.input.chunk.code[pos];
            let end = if durations.is_null(pos) {
                Some(i64::MAX)
            } else {
                Some(durations.value(pos))
                    .filter(|&length| length >= 0)
                    .and_then(|length| ts.checked_add(length))
                    .filter(|&end| end < i64::MAX)
            };
            let Some(end) = end else {
                let place = self.input.place(code, &mut self.partitions)?;
                return Err(fail(format!("slice without a possible duration at {ts}{place}")));
            };
            if ts != self.now {
                self.place();
                self.now = ts;
            }
            self.waiting.push(Slice {
                ts,
                end,
                code,
                row: self.input.chunk.base + pos as u64,
                pair: pairs.and_then(|pairs| pairs.is_valid(pos).then(|| pairs.value(pos))),
            });
            self.input.pos += 1;
        }
        Ok(())
    }

    fn place(&mut self) {
        if self.waiting.len() > 1 {
            self.waiting.sort_by_key(|slice| std::cmp::Reverse(slice.end));
            if self.paired {
                self.put_empty_in_order();
            }
        }
        for slice in self.waiting.drain(..) {
            self.met += 1;
            if let Some(part) = self.parts.get_mut(slice.code as usize) {
                self.out.push((slice, part.add(&slice, self.met)));
            }
        }
    }

    /// Put slices without length before the longer ones, the last of all, that are pairs and begin at later events.
    ///
    /// Complete slices begin before all others, since their events do not tell when they began among those of one time.
    fn put_empty_in_order(&mut self) {
        let longer = self.waiting.partition_point(|slice| !slice.is_empty());
        if longer == 0 || longer == self.waiting.len() {
            return;
        }
        // By partition, innermost first: the first event of a longer slice and those in it.
        let mut firsts: FxHashMap<u32, Vec<(u64, usize)>> = FxHashMap::default();
        for (at, slice) in self.waiting.iter().enumerate().take(longer).rev() {
            let inner = firsts.entry(slice.code).or_default();
            let row = if slice.pair.is_some() { slice.row } else { 0 };
            inner.push((inner.last().map_or(row, |&(first, _)| row.min(first)), at));
        }
        let before = |slice: &Slice| {
            let inner = firsts.get(&slice.code)?;
            inner.get(..inner.partition_point(|&(first, _)| slice.row < first))?.last().map(|&(_, at)| at)
        };
        let keys = self.waiting.iter().enumerate().map(|(at, slice)| match slice.is_empty() {
            true => (before(slice).unwrap_or(longer), false),
            false => (at, true),
        });
        let mut placed: Vec<_> = keys.zip(self.waiting.iter().copied()).collect();
        placed.sort_by_key(|&(key, _)| key);
        self.waiting = placed.into_iter().map(|(_, slice)| slice).collect();
    }

    fn release(&mut self) {
        if self.input.held.is_full() {
            let waiting = self.waiting.iter().map(|slice| slice.row);
            let out = self.out.iter().map(|(slice, _)| slice.row);
            self.input.held.retain(waiting.chain(out));
        }
    }

    fn flush(&mut self) -> Result<Vec<ArrayRef>, ArrowError> {
        let out = std::mem::take(&mut self.out);
        let slices = || out.iter().map(|(slice, _)| slice);
        let places = || out.iter().map(|(_, place)| place);
        let mut columns = vec![int64(slices().map(|slice| slice.ts).collect())];
        columns.push(Arc::new(slices().map(Slice::duration).collect::<Int64Array>()));
        columns.extend(self.partitions.columns(slices().map(|slice| slice.code).collect())?);
        columns.push(int64(places().map(|place| place.id).collect()));
        columns.push(Arc::new(places().map(|place| place.parent).collect::<Int64Array>()));
        columns.push(Arc::new(Int32Array::from_iter_values(places().map(|place| place.depth))));
        columns.push(int64(places().map(|place| i64::from(place.lane)).collect()));
        let rows: Vec<u64> = slices().map(|slice| slice.row).collect();
        let payload = self.fields.iter().enumerate().skip(own(self.paired));
        let wanted: Vec<_> = payload.map(|(column, field)| (column, field.data_type())).collect();
        columns.extend(gather_some(&self.input.held, &wanted, &rows)?);
        Ok(columns)
    }
}

impl Sweep for NestLanes {
    fn next(&mut self) -> Result<Option<Vec<ArrayRef>>, ArrowError> {
        while self.out.len() < ROWS && !self.input.done {
            self.release();
            self.input.fill(&mut self.partitions)?;
            self.parts.resize(self.partitions.len(), Part::default());
            if self.input.done {
                self.place();
            } else {
                self.run()?;
            }
        }
        if self.out.is_empty() { Ok(None) } else { self.flush().map(Some) }
    }
}

/// The number of payload columns that are not part of the output.
fn own(paired: bool) -> usize {
    1 + usize::from(paired)
}

#[pyfunction]
#[pyo3(signature = (slices, *, partitions, names, paired=false, cancel=None))]
pub fn nest_lanes(
    slices: InputStream,
    partitions: usize,
    names: Vec<String>,
    paired: bool,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<OutputStream> {
    let token = Token::new(cancel);
    let reader = slices.into_reader();
    let build = || {
        let input = ChunkedInput::new(reader, Kind::Events, partitions, "slice", token.clone())?;
        sweep(input, &names, paired, token)
    };
    build().map_err(to_python)
}

fn sweep(input: ChunkedInput, names: &[String], paired: bool, token: Token) -> Result<OutputStream, ArrowError> {
    let fields = input.payload_fields();
    let found: Vec<_> = fields.iter().map(|field| field.data_type()).collect();
    let expected = [&DataType::Int64, &DataType::Int32];
    let expected = expected.get(..own(paired)).unwrap_or_default();
    if found.get(..expected.len()) != Some(expected) {
        return Err(fail(format!("the slice input begins with {found:?}, expected {expected:?}")));
    }
    let partitions = partitions(names, 2, input.partition_types())?;
    let mut all = vec![made(DataType::Int64, false), made(DataType::Int64, true)];
    all.extend(nullable(input.partition_fields()));
    all.extend([
        made(DataType::Int64, false),
        made(DataType::Int64, true),
        made(DataType::Int32, false),
        made(DataType::Int64, false),
    ]);
    all.extend(nullable(fields.iter().skip(own(paired)).cloned().collect()));
    let schema = schema(all, names)?;
    let sweep = NestLanes {
        input,
        fields,
        partitions,
        parts: Vec::new(),
        waiting: Vec::new(),
        paired,
        now: i64::MIN,
        out: Vec::new(),
        met: 0,
    };
    Ok(stream(schema, sweep, token))
}
