//! `span_pieces`: spans or events and a grouper -> for every partition and grouper span the pieces inside it.

use arrow_array::ArrayRef;
use arrow_schema::ArrowError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatchReader;
use pyo3_arrow::input::AnyRecordBatch;

use super::active::Active;
use super::cancel::{Cancel, Token};
use super::covered::CoveredPieces;
use super::failure::to_python;
use super::groups::Groups;
use super::required::Required;
use super::source::{Kind, Open, Source};
use super::stream::{Sweep, stream};

struct SpanPieces {
    groups: Groups,
    group: Open,
    state: Vec<Open>,
    active: Active,
}

impl SpanPieces {
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
        *open = Open {
            end: input.chunk.end[row],
            row: input.chunk.base + row as u64,
        };
        self.groups.input.pos += 1;
        self.groups.see(code);
        self.active.insert(code);
        if self.group.end > t {
            self.groups
                .push(code, t, open.end.min(self.group.end), open.row);
        }
        Ok(())
    }

    fn event(&mut self, t: i64) {
        let input = &mut self.groups.input;
        let (row, code) = (
            input.chunk.base + input.pos as u64,
            input.chunk.code[input.pos],
        );
        input.pos += 1;
        self.groups.see(code);
        if self.group.end > t {
            self.groups.push(code, t, t, row);
        }
    }
}

impl Sweep for SpanPieces {
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
            self.groups
                .release(self.state.iter().map(|open| open.row_at(now)));
            self.run()?;
        }
        self.groups.flush().map(Some)
    }
}

#[pyfunction]
#[pyo3(signature = (grouped, grouper, *, events, partitions, names, intersect=None, cancel=None))]
pub fn span_pieces(
    grouped: AnyRecordBatch,
    grouper: AnyRecordBatch,
    events: bool,
    partitions: usize,
    names: Vec<String>,
    intersect: Option<AnyRecordBatch>,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<PyRecordBatchReader> {
    if events && intersect.is_some() {
        return Err(PyValueError::new_err(
            "events cover no time, so intersect does not go with them",
        ));
    }
    let intersect = intersect.map(AnyRecordBatch::into_reader).transpose()?;
    let token = Token::new(cancel);
    let kind = if events { Kind::Events } else { Kind::Spans };
    let build = |input, grouper| -> Result<PyRecordBatchReader, ArrowError> {
        let input = Source::new(input, kind, partitions, "grouped", token.clone())?;
        let grouper = Source::new(grouper, Kind::Spans, 0, "grouper", token.clone())?;
        let (groups, schema) = Groups::new(input, grouper, kind, &names)?;
        Ok(match intersect {
            Some(tuples) => stream(
                schema,
                CoveredPieces::new(groups, Required::new(tuples)),
                token.clone(),
            ),
            None => {
                let sweep = SpanPieces {
                    groups,
                    group: Open::NEVER,
                    state: Vec::new(),
                    active: Active::default(),
                };
                stream(schema, sweep, token.clone())
            }
        })
    };
    build(grouped.into_reader()?, grouper.into_reader()?).map_err(to_python)
}
