//! `range_aggregate`: add to each window an aggregate of the rows in it.

use arrow_array::{Array, ArrayRef};
use arrow_schema::{ArrowError, DataType, FieldRef};
use pyo3::prelude::*;

use super::cancel::{Cancel, Token};
use super::failure::{fail, to_python};
use super::gather::gather_some;
use super::meter::hold;
use super::numbers::Numbers;
use super::partition::Partitions;
use super::range_lanes::{Lane, WindowState};
use super::range_values::{Function, Measure};
use super::source::{ChunkedInput, Kind};
use super::stream::{Sweep, int64, made, nullable, schema, stream};
use crate::exchange::{InputStream, OutputStream};

/// Number of windows between checks for cancellation: each window visits every lane of its group.
const PATIENCE: usize = 256;

struct RangeAggregate {
    rows: ChunkedInput,
    windows: ChunkedInput,
    spans: bool,
    measure: Measure,
    /// The type of the values.
    value: DataType,
    /// The partitions of the rows; the first columns are those that windows have too.
    partitions: Partitions,
    /// The groups: values of those columns, in rows and windows.
    groups: Partitions,
    /// The positions of these columns in the windows, after their times.
    matched: Vec<usize>,
    /// The group of each partition, and the lanes of each group.
    group: Vec<u32>,
    members: Vec<Vec<usize>>,
    lanes: Vec<Lane>,
    /// Start and end of each partition's latest span.
    latest: Vec<(i64, i64)>,
    /// The source of windows sees no partitions.
    nothing: Partitions,
    token: Token,
}

impl RangeAggregate {
    fn read(&mut self) -> Result<(), ArrowError> {
        loop {
            self.rows.fill(&mut self.partitions)?;
            if self.rows.done {
                break;
            }
            self.group()?;
            self.store()?;
            if !self.measure.picks() && self.rows.held.is_full() {
                self.rows.held.retain(std::iter::empty());
            }
        }
        for lane in &mut self.lanes {
            self.token.check()?;
            lane.finish(&self.measure);
        }
        hold(self.lanes.iter().map(Lane::bytes).sum());
        Ok(())
    }

    /// Give new partitions their group. Events of a group are one lane; spans overlap those of other partitions.
    fn group(&mut self) -> Result<(), ArrowError> {
        let (known, count) = (self.group.len(), self.partitions.len());
        if known == count {
            return Ok(());
        }
        let own = (0..self.matched.len()).map(|column| {
            let values = self.partitions.distinct(column)?;
            Ok::<_, ArrowError>(values.slice(known, count - known))
        });
        let own = own.collect::<Result<Vec<_>, _>>()?;
        let groups = self.groups.encode(&own, count - known)?;
        self.members.resize(self.groups.len(), Vec::new());
        for (code, &group) in (known..).zip(&groups) {
            let members = &mut self.members[group as usize];
            if self.spans {
                members.push(code);
            } else if members.is_empty() {
                members.push(group as usize);
            }
        }
        self.group.extend(groups);
        let lanes = if self.spans { count } else { self.groups.len() };
        self.lanes.resize_with(lanes, || Lane::new(&self.measure));
        self.latest.resize(count, (i64::MIN, i64::MIN));
        Ok(())
    }

    /// Put the rows of a chunk that have a value into their lanes.
    fn store(&mut self) -> Result<(), ArrowError> {
        let column = self.rows.payload_column(0)?;
        let nulls = column.logical_nulls();
        let numbers = self.measure.computes().then(|| Numbers::new(column));
        let numbers = numbers.transpose()?;
        let chunk = &self.rows.chunk;
        for pos in 0..chunk.ts.len() {
            let (ts, code) = (chunk.ts[pos], chunk.code[pos] as usize);
            let end = chunk.end.get(pos).copied();
            if let Some(end) = end {
                let (start, stop) = self.latest[code];
                if stop > ts {
                    let open = (start, stop);
                    return Err(self.rows.overlaps(open, pos, &mut self.partitions));
                }
                self.latest[code] = (ts, end);
            }
            if nulls.as_ref().is_some_and(|nulls| nulls.is_null(pos)) {
                continue;
            }
            let lane = if self.spans { code } else { self.group[code] as usize };
            let value = numbers.as_ref().and_then(|numbers| numbers.get(pos));
            let row = chunk.base + pos as u64;
            self.lanes[lane].push((ts, end), row, value, &self.measure);
        }
        self.rows.pos = chunk.ts.len();
        Ok(())
    }

    /// Aggregate the rows in each window of the current chunk.
    fn aggregated(&mut self, columns: &[ArrayRef]) -> Result<ArrayRef, ArrowError> {
        let chunk = &self.windows.chunk;
        let count = chunk.ts.len();
        let own: Vec<ArrayRef> = self.matched.iter().map(|&at| columns[at].clone()).collect();
        let groups = self.groups.encode(&own, count)?;
        let width = self.measure.monoid().width();
        let (mut words, mut unit) = (vec![0; count * width], vec![0; width]);
        let (mut counts, mut rows) = (Vec::with_capacity(count), Vec::new());
        for (place, words) in words.chunks_exact_mut(width).enumerate() {
            if place % PATIENCE == 0 {
                self.token.check()?;
            }
            let mut state = WindowState { count: 0, words, unit: &mut unit, chosen: None };
            let members = self.members.get(groups[place] as usize);
            for &lane in members.into_iter().flatten() {
                let window = (chunk.ts[place], chunk.end[place]);
                self.lanes[lane].add(window, &self.measure, &mut state);
            }
            counts.push(state.count);
            if self.measure.picks() {
                rows.push(state.row());
            }
        }
        if self.measure.picks() {
            let column = gather_some(&self.rows.held, &[(0, &self.value)], &rows)?;
            return column.into_iter().next().ok_or_else(|| fail("no column"));
        }
        self.measure.column(&counts, &words)
    }
}

impl Sweep for RangeAggregate {
    fn next(&mut self) -> Result<Option<Vec<ArrayRef>>, ArrowError> {
        if !self.rows.done {
            self.read()?;
        }
        self.windows.fill(&mut self.nothing)?;
        if self.windows.done {
            return Ok(None);
        }
        let own = self.windows.payload_fields().len();
        let payload = (0..own).map(|at| self.windows.payload_column(at).cloned());
        let payload = payload.collect::<Result<Vec<_>, _>>()?;
        let made = self.aggregated(&payload)?;
        let chunk = &self.windows.chunk;
        let lengths = chunk.ts.iter().zip(&chunk.end).map(|(ts, end)| end - ts);
        let mut columns = vec![int64(chunk.ts.to_vec()), int64(lengths.collect())];
        columns.extend(payload);
        columns.push(made);
        self.windows.pos = chunk.ts.len();
        if self.windows.held.is_full() {
            self.windows.held.retain(std::iter::empty());
        }
        Ok(Some(columns))
    }
}

#[pyfunction]
#[pyo3(signature = (table, windows, *, events, matched, aggregate, names, cancel=None))]
pub fn range_aggregate(
    table: InputStream,
    windows: InputStream,
    events: bool,
    matched: Vec<usize>,
    aggregate: &str,
    names: Vec<String>,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<OutputStream> {
    let token = Token::new(cancel);
    let (table, windows) = (table.into_reader(), windows.into_reader());
    let build = || {
        let (kind, times) = if events { (Kind::Events, 1) } else { (Kind::Spans, 2) };
        // The partitions are between times and values.
        let width = table.schema().fields().len();
        let partitions = width
            .checked_sub(times + 1)
            .ok_or_else(|| fail(format!("table input has {width} columns, expected at least {}", times + 1)))?;
        let rows = ChunkedInput::new(table, kind, partitions, "table", token.clone())?;
        let windows = ChunkedInput::new(windows, Kind::Spans, 0, "window", token.clone())?;
        self::build(rows, windows, (events, matched), aggregate, &names, token)
    };
    build().map_err(to_python)
}

fn build(
    rows: ChunkedInput,
    windows: ChunkedInput,
    (events, matched): (bool, Vec<usize>),
    aggregate: &str,
    names: &[String],
    token: Token,
) -> Result<OutputStream, ArrowError> {
    let payload = rows.payload_fields();
    let field = payload.first().ok_or_else(|| fail("no column of values"))?;
    let measure = Measure::new(aggregate, field.data_type())?;
    let fields = rows.partition_fields();
    let called: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
    let types = rows.partition_types();
    let columns = windows.payload_fields();
    let own: Option<Vec<&FieldRef>> = matched.iter().map(|&at| columns.get(at)).collect();
    let own = own.filter(|own| own.len() <= types.len());
    let own = own.ok_or_else(|| fail("columns are matched that are not there"))?;
    let groups = Partitions::new(&called[..own.len()], types[..own.len()].to_vec())?;
    let found: Vec<DataType> = own.iter().map(|field| field.data_type().clone()).collect();
    groups.check_types(&found, windows.role())?;
    let counts = measure.function == Function::Count;
    let mut all = vec![made(DataType::Int64, false); 2];
    all.extend(nullable(columns));
    all.push(made(measure.result(), !counts));
    let schema = schema(all, names)?;
    let sweep = RangeAggregate {
        spans: !events,
        value: field.data_type().clone(),
        measure,
        partitions: Partitions::new(&called, types)?,
        groups,
        matched,
        group: Vec::new(),
        members: Vec::new(),
        lanes: Vec::new(),
        latest: Vec::new(),
        nothing: Partitions::new(&[], Vec::new())?,
        rows,
        windows,
        token: token.clone(),
    };
    Ok(stream(schema, sweep, token))
}
