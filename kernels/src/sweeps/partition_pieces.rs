//! `partition_pieces`: partitioned spans -> for each stretch of time without a boundary the spans that cover it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use arrow_array::ArrayRef;
use arrow_schema::{ArrowError, DataType, FieldRef};
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatchReader;
use pyo3_arrow::input::AnyRecordBatch;

use super::cancel::{Cancel, Token};
use super::failure::{fail, to_python};
use super::gather::gather;
use super::partition::Partitions;
use super::required::Required;
use super::source::{Kind, NULL_ROW, Open, ROWS, Source};
use super::stream::{Sweep, int64, made, nullable, partitions, schema, stream};

struct PartitionPieces {
    input: Source,
    fields: Vec<FieldRef>,
    partitions: Partitions,
    keep: Vec<usize>,
    kept: Partitions,
    required: Option<Required>,
    state: Vec<Member>,
    bundles: Vec<Bundle>,
    ends: BinaryHeap<Reverse<(i64, u64, u32)>>,
    entries: u64,
    intervals: i64,
    out: Out,
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

#[derive(Default)]
struct Out {
    interval: Vec<i64>,
    ts: Vec<i64>,
    duration: Vec<i64>,
    code: Vec<u32>,
    row: Vec<u64>,
}

impl PartitionPieces {
    /// Gives new partitions their place in a bundle.
    fn sync(&mut self) -> Result<(), ArrowError> {
        let known = self.state.len();
        let total = self.partitions.len();
        if known == total {
            return Ok(());
        }
        let distinct = |&column: &usize| {
            Ok(self
                .partitions
                .distinct(column)?
                .slice(known, total - known))
        };
        let columns = self
            .keep
            .iter()
            .map(distinct)
            .collect::<Result<Vec<_>, ArrowError>>()?;
        for bundle in self.kept.encode(&columns, total - known)? {
            self.state.push(Member {
                open: Open::NEVER,
                bundle,
                place: usize::MAX,
            });
        }
        self.bundles.resize_with(self.kept.len(), Bundle::default);
        Ok(())
    }

    /// Reads the required partitions at the first call.
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
        while !self.input.empty() && !self.is_full() {
            let now = self.input.time();
            if !self.end_until(now) {
                break;
            }
            self.begin(now)?;
        }
        Ok(())
    }

    /// Ends spans in order of time, up to `now`; false if the batch got full before.
    fn end_until(&mut self, now: i64) -> bool {
        while let Some(&Reverse((time, _, code))) = self.ends.peek()
            && time <= now
        {
            if self.is_full() {
                return false;
            }
            self.ends.pop();
            let Member { bundle, place, .. } = self.state[code as usize];
            self.boundary(bundle, time);
            let bundle = &mut self.bundles[bundle as usize];
            bundle.active.swap_remove(place);
            if let Some(&moved) = bundle.active.get(place) {
                self.state[moved as usize].place = place;
            }
            bundle.missing += usize::from(
                self.required
                    .as_ref()
                    .is_some_and(|required| required.contains(code)),
            );
        }
        true
    }

    fn begin(&mut self, t: i64) -> Result<(), ArrowError> {
        let (row, code) = (self.input.pos, self.input.chunk.code[self.input.pos]);
        let Member { open, bundle, .. } = self.state[code as usize];
        if open.end > t {
            return Err(self.input.overlap(&open, row, &mut self.partitions));
        }
        self.boundary(bundle, t);
        let active = &mut self.bundles[bundle as usize].active;
        let open = Open {
            end: self.input.chunk.end[row],
            row: self.input.chunk.base + row as u64,
        };
        self.state[code as usize] = Member {
            open,
            bundle,
            place: active.len(),
        };
        active.push(code);
        let needed = self
            .required
            .as_ref()
            .is_some_and(|required| required.contains(code));
        self.bundles[bundle as usize].missing -= usize::from(needed);
        self.entries += 1;
        self.ends.push(Reverse((open.end, self.entries, code)));
        self.input.pos += 1;
        Ok(())
    }

    /// Adds the interval from the bundle's last boundary to this one.
    fn boundary(&mut self, bundle: u32, t: i64) {
        let bundle = &mut self.bundles[bundle as usize];
        let from = std::mem::replace(&mut bundle.from, t);
        if bundle.active.is_empty() || bundle.missing > 0 || from == t {
            return;
        }
        for &code in &bundle.active {
            self.out.interval.push(self.intervals);
            self.out.ts.push(from);
            self.out.duration.push(t - from);
            self.out.code.push(code);
            self.out.row.push(self.state[code as usize].open.row);
        }
        self.intervals += 1;
    }

    fn is_full(&self) -> bool {
        self.out.code.len() >= ROWS
    }

    /// Drops the chunks that no open span and no waiting row is from.
    fn release(&mut self) {
        if self.input.held.is_full() {
            let (state, out) = (&self.state, &self.out);
            let open = |member: &Member| {
                if member.place == usize::MAX {
                    NULL_ROW
                } else {
                    member.open.row
                }
            };
            let active = self.bundles.iter().flat_map(|bundle| &bundle.active);
            let rows = active.map(|&code| open(&state[code as usize]));
            self.input.held.retain(rows.chain(out.row.iter().copied()));
        }
    }
}

impl Sweep for PartitionPieces {
    fn next(&mut self) -> Result<Option<Vec<ArrayRef>>, ArrowError> {
        while !self.is_full() {
            self.input.fill(&mut self.partitions)?;
            self.require()?;
            if self.input.done {
                self.end_until(i64::MAX);
                break;
            }
            self.release();
            self.run()?;
        }
        if self.out.code.is_empty() {
            return Ok(None);
        }
        let out = std::mem::take(&mut self.out);
        let mut columns = vec![int64(out.interval), int64(out.ts), int64(out.duration)];
        columns.extend(self.partitions.columns(out.code)?);
        columns.extend(gather(&self.input.held, &self.fields, &out.row)?);
        Ok(Some(columns))
    }
}

#[pyfunction]
#[pyo3(signature = (input, *, partitions, keep, names, intersect=None, cancel=None))]
pub fn partition_pieces(
    input: AnyRecordBatch,
    partitions: usize,
    keep: Vec<usize>,
    names: Vec<String>,
    intersect: Option<AnyRecordBatch>,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<PyRecordBatchReader> {
    let required = intersect
        .map(AnyRecordBatch::into_reader)
        .transpose()?
        .map(Required::new);
    let token = Token::new(cancel);
    build(
        input.into_reader()?,
        partitions,
        keep,
        &names,
        required,
        token,
    )
    .map_err(to_python)
}

fn build(
    input: super::source::Reader,
    columns: usize,
    keep: Vec<usize>,
    names: &[String],
    required: Option<Required>,
    token: Token,
) -> Result<PyRecordBatchReader, ArrowError> {
    let input = Source::new(input, Kind::Spans, columns, "partitioned", token.clone())?;
    let types = input.partition_types();
    let pick = |&column: &usize| {
        types
            .get(column)
            .cloned()
            .ok_or_else(|| fail(format!("there is no partition column {column} to keep")))
    };
    let kept_types = keep.iter().map(pick).collect::<Result<Vec<_>, _>>()?;
    let partitions = partitions(names, 3, types)?;
    let kept = Partitions::new(&vec![String::new(); keep.len()], kept_types)?;
    let fields = input.payload_fields();
    let mut all = vec![made(DataType::Int64, false); 3];
    all.extend(nullable(input.partition_fields()));
    all.extend(nullable(fields.clone()));
    let schema = schema(all, names)?;
    let sweep = PartitionPieces {
        input,
        fields,
        partitions,
        keep,
        kept,
        required,
        state: Vec::new(),
        bundles: Vec::new(),
        ends: BinaryHeap::new(),
        entries: 0,
        intervals: 0,
        out: Out::default(),
    };
    Ok(stream(schema, sweep, token))
}
