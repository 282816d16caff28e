//! `event_join`: add to each event the payload of the span that covers it in its partition.

use arrow_array::ArrayRef;
use arrow_schema::ArrowError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::active::Active;
use super::cancel::{Cancel, Token};
use super::failure::to_python;
use super::pieces::Pieces;
use super::sides::Sides;
use super::source::{ChunkedInput, Kind, Open};
use super::stream::{Sweep, stream};
use crate::exchange::{InputStream, OutputStream};

/// The side that has the partition columns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Both,
    Events,
    Spans,
}

struct EventJoin {
    sides: Sides,
    form: Form,
    uncovered: bool,
    state: Vec<Open>,
    active: Active,
    pieces: Pieces,
}

impl EventJoin {
    /// The sides are named by their role: with partitions only on the spans, the spans are side `a`.
    fn run(&mut self) -> Result<(), ArrowError> {
        while !self.pieces.is_full() {
            let Sides { a, b, .. } = &self.sides;
            if a.starved() || b.starved() || a.empty() && b.empty() {
                return Ok(());
            }
            let (events, spans) = if self.form == Form::Spans { (b, a) } else { (a, b) };
            // A span covers its own first moment, so it comes before an event at the same time.
            if !spans.empty() && spans.time() <= events.time() {
                self.begin()?;
            } else {
                self.event();
            }
        }
        Ok(())
    }

    fn begin(&mut self) -> Result<(), ArrowError> {
        let Sides { a, b, partitions, .. } = &mut self.sides;
        let spans = if self.form == Form::Spans { a } else { b };
        let (row, code, t) = (spans.pos, spans.chunk.code[spans.pos], spans.time());
        let open = &mut self.state[code as usize];
        if open.end > t {
            return Err(spans.overlap(open, row, partitions));
        }
        *open = Open { end: spans.chunk.end[row], row: spans.chunk.base + row as u64 };
        spans.pos += 1;
        if self.form == Form::Spans {
            self.active.insert(code);
        }
        Ok(())
    }

    fn event(&mut self) {
        let Sides { a, b, .. } = &mut self.sides;
        let events = if self.form == Form::Spans { b } else { a };
        let (event, code, t) = (events.chunk.base + events.pos as u64, events.chunk.code[events.pos], events.time());
        events.pos += 1;
        let pieces = &mut self.pieces;
        if self.form == Form::Spans {
            let state = &self.state;
            self.active.retain(|code| {
                let open = state[code as usize];
                if open.end > t {
                    pieces.push_event(t, code, open.row, event);
                }
                open.end > t
            });
            return;
        }
        let open = self.state[if self.form == Form::Both { code as usize } else { 0 }];
        if open.end > t || self.uncovered {
            pieces.push_event(t, code, event, open.row_at(t));
        }
    }

    fn release(&mut self) {
        let now = self.sides.now();
        let open = self.state.iter().map(|open| open.row_at(now));
        let Sides { a, b, .. } = &mut self.sides;
        let (spans, used, events, met) = if self.form == Form::Spans {
            (a, &self.pieces.left, b, &self.pieces.right)
        } else {
            (b, &self.pieces.right, a, &self.pieces.left)
        };
        if spans.held.is_full() {
            spans.held.retain(open.chain(used.iter().copied()));
        }
        if events.held.is_full() {
            events.held.retain(met.iter().copied());
        }
    }
}

impl Sweep for EventJoin {
    fn next(&mut self) -> Result<Option<Vec<ArrayRef>>, ArrowError> {
        while !self.pieces.is_full() {
            self.sides.fill()?;
            self.state.resize(self.sides.partitions.len().max(1), Open::NEVER);
            if self.sides.ended() {
                break;
            }
            self.release();
            self.run()?;
        }
        if self.pieces.is_empty() { Ok(None) } else { self.sides.flush(&mut self.pieces).map(Some) }
    }
}

#[pyfunction]
#[pyo3(signature = (events, spans, *, how, partitions, names, broadcast=None, cancel=None))]
pub fn event_join(
    events: InputStream,
    spans: InputStream,
    how: &str,
    partitions: usize,
    names: Vec<String>,
    broadcast: Option<&str>,
    cancel: Option<PyRef<'_, Cancel>>,
) -> PyResult<OutputStream> {
    let (form, uncovered) = match (how, broadcast) {
        ("inner", None) => (Form::Both, false),
        ("left", None) => (Form::Both, true),
        ("inner", Some("right")) => (Form::Events, false),
        ("left", Some("right")) => (Form::Events, true),
        ("inner", Some("left")) => (Form::Spans, false),
        (how, broadcast) => {
            let text = format!("how={how:?} with broadcast={broadcast:?} is no event join");
            return Err(PyValueError::new_err(text));
        }
    };
    let token = Token::new(cancel);
    let build = |events, spans| -> Result<OutputStream, ArrowError> {
        let event_keys = if form == Form::Spans { 0 } else { partitions };
        let span_keys = if form == Form::Events { 0 } else { partitions };
        let events = ChunkedInput::new(events, Kind::Events, event_keys, "event", token.clone())?;
        let spans = ChunkedInput::new(spans, Kind::Spans, span_keys, "span", token.clone())?;
        let swapped = form == Form::Spans;
        let (a, b) = if swapped { (spans, events) } else { (events, spans) };
        let (sides, schema) = Sides::new(a, b, swapped, 1, &names)?;
        let (state, active, pieces) = (Vec::new(), Active::default(), Pieces::default());
        Ok(stream(schema, EventJoin { sides, form, uncovered, state, active, pieces }, token.clone()))
    };
    build(events.into_reader(), spans.into_reader()).map_err(to_python)
}
