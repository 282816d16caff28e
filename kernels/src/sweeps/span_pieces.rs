//! `span_pieces`, `span_group`: cut spans or events into the pieces inside every grouper span, or aggregate over these.

use arrow_array::ArrayRef;
use arrow_schema::ArrowError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::active::Active;
use super::aggregates::{Aggregate, AggregateInput, Call};
use super::cancel::{Cancel, Token};
use super::covered::CoveredPieces;
use super::failure::{fail, to_python};
use super::group_pieces::Pieces;
use super::groups::{Groups, Members};
use super::required::Required;
use super::source::{ChunkedInput, Kind, Open};
use super::stream::{Sweep, stream};
use super::totals::Totals;
use crate::exchange::{InputStream, OutputStream};

struct SpanPieces<M> {
    groups: Groups<M>,
    group: Open,
    state: Vec<Open>,
    active: Active,
}

impl<M: Members> SpanPieces<M> {
    fn run(&mut self) -> Result<(), ArrowError> {
        while !self.groups.is_full() && !self.groups.starved() {
            let (it, gt) = (self.groups.input.time(), self.groups.grouper.time());
            // A group covers its own first moment, so it comes before an event at the same time.
            if gt <= it && !self.groups.grouper.empty() {
                self.begin_group(gt)?;
            } else if self.groups.input.empty() {
                break;
            } else if self.groups.input.chunk.end.is_empty() {
                self.event(it);
            } else {
                self.begin(it)?;
            }
        }
        Ok(())
    }

    fn begin_group(&mut self, t: i64) -> Result<(), ArrowError> {
        self.group = self.groups.begin_group(&self.group)?;
        let (state, groups, end) = (&self.state, &mut self.groups, self.group.end);
        self.active.retain(|code| {
            let open = state[code as usize];
            if open.end > t {
                groups.push(code, t, open.end.min(end), open.row);
            }
            open.end > t
        });
        Ok(())
    }

    fn begin(&mut self, t: i64) -> Result<(), ArrowError> {
        let input = &self.groups.input;
        let (row, code) = (input.pos, input.chunk.code[input.pos]);
        let open = &mut self.state[code as usize];
        if open.end > t {
            return Err(input.overlap(open, row, &mut self.groups.partitions));
        }
        *open = Open { end: input.chunk.end[row], row: input.chunk.base + row as u64 };
        self.groups.input.pos += 1;
        self.groups.see(code);
        self.active.insert(code);
        if self.group.end > t {
            self.groups.push(code, t, open.end.min(self.group.end), open.row);
        }
        Ok(())
    }

    fn event(&mut self, t: i64) {
        let input = &mut self.groups.input;
        let (row, code) = (input.chunk.base + input.pos as u64, input.chunk.code[input.pos]);
        input.pos += 1;
        self.groups.see(code);
        if self.group.end > t {
            self.groups.push(code, t, t, row);
        }
    }
}

impl<M: Members> Sweep for SpanPieces<M> {
    fn next(&mut self) -> Result<Option<Vec<ArrayRef>>, ArrowError> {
        while !self.groups.is_full() {
            self.groups.fill()?;
            self.state.resize(self.groups.partitions.len(), Open::NEVER);
            if self.groups.done() {
                if !self.groups.finish() {
                    return Ok(None);
                }
                break;
            }
            let now = self.groups.input.time().min(self.groups.grouper.time());
            self.groups.release(self.state.iter().map(|open| open.row_at(now)));
            self.run()?;
        }
        self.groups.flush().map(Some)
    }
}

/// The inputs of a span group, besides the consumer of its pieces.
struct Inputs {
    input: ChunkedInput,
    grouper: ChunkedInput,
    kind: Kind,
    required: Option<Required>,
    token: Token,
}

impl Inputs {
    fn new(
        (grouped, grouper): (InputStream, InputStream),
        events: bool,
        partitions: usize,
        intersect: Option<InputStream>,
        token: Token,
    ) -> PyResult<Self> {
        if events && intersect.is_some() {
            return Err(PyValueError::new_err("events cover no time, so intersect does not go with them"));
        }
        let kind = if events { Kind::Events } else { Kind::Spans };
        let (grouped, grouper) = (grouped.into_reader(), grouper.into_reader());
        let intersect = intersect.map(InputStream::into_reader);
        let input = ChunkedInput::new(grouped, kind, partitions, "grouped", token.clone());
        let grouper = ChunkedInput::new(grouper, Kind::Spans, 0, "grouper", token.clone());
        Ok(Self {
            input: input.map_err(to_python)?,
            grouper: grouper.map_err(to_python)?,
            kind,
            required: intersect.map(Required::new),
            token,
        })
    }

    fn stream<M: Members + 'static>(self, members: M, names: &[String]) -> Result<OutputStream, ArrowError> {
        let (groups, schema) = Groups::new(self.input, self.grouper, members, names)?;
        Ok(match self.required {
            Some(required) => stream(schema, CoveredPieces::new(groups, required), self.token),
            None => {
                let sweep = SpanPieces { groups, group: Open::NEVER, state: Vec::new(), active: Active::default() };
                stream(schema, sweep, self.token)
            }
        })
    }
}

#[pyfunction]
#[pyo3(signature = (grouped, grouper, *, events, partitions, names, intersect=None, cancel=None))]
pub fn span_pieces(
    grouped: InputStream,
    grouper: InputStream,
    events: bool,
    partitions: usize,
    names: Vec<String>,
    intersect: Option<InputStream>,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<OutputStream> {
    let token = Token::new(cancel);
    let inputs = Inputs::new((grouped, grouper), events, partitions, intersect, token)?;
    let members = Pieces::new(&inputs.input, inputs.kind);
    inputs.stream(members, &names).map_err(to_python)
}

#[pyfunction]
#[pyo3(signature = (inputs, *, events, partitions, aggregates, names, cancel=None))]
pub fn span_group(
    inputs: Vec<InputStream>,
    events: bool,
    partitions: usize,
    aggregates: Vec<Call>,
    names: Vec<String>,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<OutputStream> {
    let (count, mut inputs) = (inputs.len(), inputs.into_iter());
    let (Some(grouped), Some(grouper), 2..=3) = (inputs.next(), inputs.next(), count) else {
        return Err(PyValueError::new_err(format!(
            "found {count} inputs, expected what is grouped, the grouper and maybe the partitions to intersect"
        )));
    };
    let token = Token::new(cancel);
    let inputs = Inputs::new((grouped, grouper), events, partitions, inputs.next(), token)?;
    let totals = || {
        let payload = inputs.input.payload_fields();
        let aggregates = aggregates.iter().map(|call| Aggregate::new(call, &payload));
        let aggregates = aggregates.collect::<Result<Vec<_>, _>>()?;
        let timed = |one: &Aggregate| one.function.weighs() || one.taken == AggregateInput::Duration;
        if events && aggregates.iter().any(timed) {
            return Err(fail("events have no duration to aggregate"));
        }
        Totals::new(aggregates)
    };
    let members = totals().map_err(to_python)?;
    inputs.stream(members, &names).map_err(to_python)
}
