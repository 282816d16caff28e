//! `series_to_spans`: convert streams of start and stop events into the spans between them.

use arrow_array::ArrayRef;
use arrow_schema::{ArrowError, DataType, FieldRef};
use pyo3::prelude::*;

use super::cancel::{Cancel, Token};
use super::checks::lasting;
use super::failure::{fail, to_python};
use super::gather::gather_some;
use super::held::NULL_ROW;
use super::partition::Partitions;
use super::slots::{End, NO_SLOT, Slots};
use super::source::{ChunkedInput, Kind, ROWS, STEP};
use super::stream::{Sweep, int64, made, nullable, partitions, schema, stream};
use crate::exchange::{InputStream, OutputStream};

struct Series {
    sources: Vec<ChunkedInput>,
    starts: Vec<bool>,
    /// The sources in the order of their events at one time: stops before starts.
    order: Vec<usize>,
    partitions: Partitions,
    inputs: Vec<InputColumns>,
    width: usize,
    close_at: Option<i64>,
    open: Vec<u64>,
    slots: Slots<Slot>,
    out: Vec<Slot>,
}

/// The output columns from one source at one edge: place in the output, place in the source, type.
struct InputColumns {
    source: usize,
    rising: bool,
    columns: Vec<(usize, usize, DataType)>,
}

/// A span from its start event on.
struct Slot {
    ts: i64,
    code: u32,
    end: End,
    opened: Event,
    closed: Event,
}

#[derive(Clone, Copy)]
struct Event {
    source: usize,
    row: u64,
}

const NO_EVENT: Event = Event { source: usize::MAX, row: NULL_ROW };

impl Series {
    fn run(&mut self) {
        for _ in 0..STEP {
            if self.sources.iter().any(|source| source.starved()) {
                return;
            }
            let mut next: Option<(i64, usize)> = None;
            for &number in &self.order {
                let source = &self.sources[number];
                if !source.empty() && next.is_none_or(|(time, _)| source.time() < time) {
                    next = Some((source.time(), number));
                }
            }
            let Some((time, number)) = next else { return };
            self.event(time, number);
        }
    }

    #[inline]
    fn event(&mut self, t: i64, number: usize) {
        let source = &mut self.sources[number];
        let code = source.chunk.code[source.pos];
        let event = Event { source: number, row: source.chunk.base + source.pos as u64 };
        source.pos += 1;
        let open = &mut self.open[code as usize];
        if let Some(slot) = self.slots.get(*open) {
            slot.end = if slot.ts < t { End::At(t) } else { End::Dropped };
            slot.closed = event;
        }
        *open = if self.starts[number] {
            self.slots.begin(Slot { ts: t, code, end: End::Unknown, opened: event, closed: NO_EVENT })
        } else {
            NO_SLOT
        };
    }

    /// Closes or drops the open spans after the last event.
    fn close(&mut self) {
        for slot in self.slots.iter_mut().filter(|slot| slot.end == End::Unknown) {
            slot.end = match self.close_at {
                Some(end) if end > slot.ts => End::At(end),
                _ => End::Dropped,
            };
        }
    }

    fn settle(&mut self) {
        while self.out.len() < ROWS
            && let Some(slot) = self.slots.pop_if(|slot| slot.end != End::Unknown)
        {
            if slot.end != End::Dropped {
                self.out.push(slot);
            }
        }
    }

    fn release(&mut self) {
        for (number, source) in self.sources.iter_mut().enumerate().filter(|(_, source)| source.held.is_full()) {
            let events = self.slots.iter().chain(&self.out).flat_map(|slot| [slot.opened, slot.closed]);
            source.held.retain(events.filter(|event| event.source == number).map(|event| event.row));
        }
    }

    fn flush(&mut self) -> Result<Vec<ArrayRef>, ArrowError> {
        let out = std::mem::take(&mut self.out);
        let duration = |slot: &Slot| match slot.end {
            End::At(end) => lasting(slot.ts, end),
            End::Unknown | End::Dropped => Ok(0),
        };
        let durations = out.iter().map(duration).collect::<Result<Vec<_>, _>>()?;
        let mut columns = vec![int64(out.iter().map(|slot| slot.ts).collect()), int64(durations)];
        columns.extend(self.partitions.columns(out.iter().map(|slot| slot.code).collect())?);
        let mut values: Vec<Option<ArrayRef>> = vec![None; self.width];
        for input in &self.inputs {
            let row = |slot: &Slot| {
                let event = if input.rising { slot.opened } else { slot.closed };
                if event.source == input.source { event.row } else { NULL_ROW }
            };
            let rows: Vec<u64> = out.iter().map(row).collect();
            let wanted: Vec<_> = input.columns.iter().map(|(_, column, data_type)| (*column, data_type)).collect();
            let gathered = gather_some(&self.sources[input.source].held, &wanted, &rows)?;
            for ((place, ..), column) in input.columns.iter().zip(gathered) {
                values[*place] = Some(column);
            }
        }
        columns.extend(values.into_iter().flatten());
        Ok(columns)
    }
}

impl Sweep for Series {
    fn next(&mut self) -> Result<Option<Vec<ArrayRef>>, ArrowError> {
        loop {
            for source in &mut self.sources {
                source.fill(&mut self.partitions)?;
            }
            self.open.resize(self.partitions.len(), NO_SLOT);
            let done = self.sources.iter().all(|source| source.done);
            if done {
                self.close();
            }
            self.settle();
            if self.out.len() >= ROWS || done {
                break;
            }
            self.release();
            self.run();
        }
        if self.out.is_empty() { Ok(None) } else { self.flush().map(Some) }
    }
}

/// Groups the wanted columns by source and edge; also returns their fields.
fn inputs(
    sources: &[ChunkedInput],
    columns: &[(usize, usize, String)],
) -> Result<(Vec<InputColumns>, Vec<FieldRef>), ArrowError> {
    let mut inputs: Vec<InputColumns> = Vec::new();
    let mut fields = Vec::with_capacity(columns.len());
    for (place, (source, column, edge)) in columns.iter().enumerate() {
        let rising = match edge.as_str() {
            "rising" => true,
            "falling" => false,
            other => {
                return Err(fail(format!("edge is {other:?}, expected \"rising\" or \"falling\"")));
            }
        };
        let field = sources.get(*source).and_then(|found| found.payload_fields().get(*column).cloned());
        let field = field.ok_or_else(|| fail(format!("source {source} has no column {column}")))?;
        let entry = (place, *column, field.data_type().clone());
        fields.push(field);
        match inputs.iter_mut().find(|input| input.source == *source && input.rising == rising) {
            Some(input) => input.columns.push(entry),
            None => inputs.push(InputColumns { source: *source, rising, columns: vec![entry] }),
        }
    }
    Ok((inputs, fields))
}

#[pyfunction]
#[pyo3(signature = (sources, *, starts, partitions, columns, names, close_at=None, cancel=None))]
pub fn series_to_spans(
    sources: Vec<InputStream>,
    starts: Vec<bool>,
    partitions: usize,
    columns: Vec<(usize, usize, String)>,
    names: Vec<String>,
    close_at: Option<i64>,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<OutputStream> {
    let token = Token::new(cancel);
    let open = |source: InputStream| {
        ChunkedInput::new(source.into_reader(), Kind::Events, partitions, "event", token.clone()).map_err(to_python)
    };
    let sources = sources.into_iter().map(open).collect::<PyResult<Vec<_>>>()?;
    build(sources, starts, &columns, &names, close_at, token.clone()).map_err(to_python)
}

fn build(
    sources: Vec<ChunkedInput>,
    starts: Vec<bool>,
    columns: &[(usize, usize, String)],
    names: &[String],
    close_at: Option<i64>,
    token: Token,
) -> Result<OutputStream, ArrowError> {
    let Some(first) = sources.first().filter(|_| starts.len() == sources.len()) else {
        return Err(fail(format!(
            "{} sources and {} starts, expected as many, at least one",
            sources.len(),
            starts.len()
        )));
    };
    let partitions = partitions(names, 2, first.partition_types())?;
    for source in &sources {
        partitions.check_types(&source.partition_types(), source.role())?;
    }
    let (inputs, fields) = inputs(&sources, columns)?;
    let mut all = vec![made(DataType::Int64, false); 2];
    all.extend(nullable(first.partition_fields()));
    all.extend(nullable(fields));
    let schema = schema(all, names)?;
    let mut order: Vec<usize> = (0..sources.len()).collect();
    order.sort_by_key(|&number| starts[number]);
    let sweep = Series {
        sources,
        starts,
        order,
        partitions,
        inputs,
        width: columns.len(),
        close_at,
        open: Vec::new(),
        slots: Slots::default(),
        out: Vec::new(),
    };
    Ok(stream(schema, sweep, token))
}
