//! Decode the records of one event into rows of its table.

use super::expression::{Context, Expression, field_text};
use super::format::{Format, Order, Shape};
use super::layout::{ColumnSource, Common, Filled, Optional, Printed, columns, table};
use super::print::Piece;
use super::quick::Quick;
use super::symbols::Names;
use super::{Record, address, flags, values};
use crate::rows::{ColumnSpec, Rows, Sink, Type};

/// Maximum number of cached printed values per column.
const KNOWN_LIMIT: usize = 4096;

/// The common numbers of a record.
pub struct Head {
    pub pid: i64,
    pub flags: u8,
    pub preempt: u8,
}

/// The places of the common fields.
#[derive(Clone, Copy)]
pub struct Places {
    pid: (usize, usize),
    flags: usize,
    preempt: usize,
    order: Order,
}

impl Places {
    /// Find them in the description of any event.
    pub fn of(format: &Format, order: Order) -> Places {
        let find = |name: &[u8]| format.common.iter().find(|one| one.name.as_bytes() == name);
        Places {
            pid: find(b"common_pid").map_or((4, 4), |one| (one.offset, one.size)),
            flags: find(b"common_flags").map_or(2, |one| one.offset),
            preempt: find(b"common_preempt_count").map_or(3, |one| one.offset),
            order,
        }
    }

    /// Read them; None if the record is too short.
    #[inline]
    pub fn read(&self, record: &[u8]) -> Option<Head> {
        let pid = self.order.number(record.get(self.pid.0..)?, self.pid.1)?;
        Some(Head {
            pid: super::format::extended(pid, self.pid.1),
            flags: *record.get(self.flags)?,
            preempt: *record.get(self.preempt)?,
        })
    }
}

/// The table for rows of one event.
pub struct Event {
    pub table: usize,
    pub common: Common,
    columns: Vec<Filled>,
    /// The number of each column in the table, which events of the same name share, and its quick source.
    at: Vec<(usize, Option<Quick>)>,
    places: Places,
    /// The columns of numbers beyond signed 64-bit ones.
    wide: Vec<Option<usize>>,
    /// Such numbers of the current row, by place.
    beyond: Vec<(usize, u64)>,
    scratch: Vec<u8>,
}

impl Event {
    /// Prepare the table of an event.
    pub fn new(format: &Format, order: Order, optional: Optional, sink: &mut Sink) -> Event {
        let columns = columns(format, order);
        Event::with(&format.name, columns, Places::of(format, order), optional, sink)
    }

    /// Prepare a table with given columns.
    pub fn with(name: &str, mut columns: Vec<Filled>, places: Places, optional: Optional, sink: &mut Sink) -> Event {
        let (spec, common) = table(name, optional, &mut columns);
        let wanted: Vec<ColumnSpec> = spec.columns.clone();
        let table = sink.table(&spec.name.clone(), || spec);
        let own = wanted.iter().skip(wanted.len() - columns.len());
        let at = own.zip(&columns).map(|(spec, filled)| {
            let quick = Quick::of(&filled.source, places.order);
            (sink.column(table, spec), quick)
        });
        let at = at.collect();
        Event {
            table,
            common,
            at,
            wide: vec![None; columns.len()],
            columns,
            places,
            beyond: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// Begin a row with the common data; None if the record is too short.
    #[inline]
    pub fn begin(&self, record: &Record<'_>, sink: &mut Sink) -> Option<()> {
        let head = self.places.read(record.bytes)?;
        let rows = sink.rows(self.table);
        rows.int(0, record.ts);
        rows.int(1, record.cpu);
        match record.comm_number {
            Some(number) => rows.numbered(2, number, || record.comm),
            None => rows.text(2, record.comm),
        }
        rows.int(3, head.pid);
        let context = usize::from(head.flags) | usize::from(head.preempt) << 8;
        rows.numbered(self.common.flags, context, || flags::context(head.flags, head.preempt));
        if let (Some(column), Some(tgid)) = (self.common.tgid, record.tgid) {
            rows.int(column, tgid);
        }
        if let Some(column) = self.common.line {
            rows.int(column, record.line);
        }
        if let (Some(column), Some(buffer)) = (self.common.buffer, record.buffer) {
            rows.text(column, buffer);
        }
        Some(())
    }

    /// Add a row; false if a field is out of bounds, which makes its column null.
    pub fn row(
        &mut self,
        record: &Record<'_>,
        stack: Option<&[u8]>,
        context: Context<'_>,
        names: &mut Names,
        sink: &mut Sink,
    ) -> Option<bool> {
        let whole = self.open(record, context, names, sink)?;
        if let Some(stack) = stack {
            let column = sink.column(self.table, &ColumnSpec::new("stack", Type::Text));
            sink.rows(self.table).text(column, stack);
        }
        sink.end(self.table);
        Some(whole)
    }

    /// Begin a row with the data of all of the event's fields.
    pub fn open(
        &mut self,
        record: &Record<'_>,
        context: Context<'_>,
        names: &mut Names,
        sink: &mut Sink,
    ) -> Option<bool> {
        self.begin(record, sink)?;
        let rows = sink.rows(self.table);
        let mut whole = true;
        for place in 0..self.at.len() {
            let done = match self.at[place] {
                (column, Some(quick)) => quick.fill(column, context.record, names, rows),
                (_, None) => self.fill(place, context, names, rows),
            };
            whole &= done.is_some();
        }
        if !self.beyond.is_empty() {
            for (place, value) in std::mem::take(&mut self.beyond) {
                self.put_wide(place, value, sink);
            }
        }
        Some(whole)
    }

    /// Put a number into the column of unsigned 64-bit numbers.
    fn put_wide(&mut self, place: usize, value: u64, sink: &mut Sink) {
        let (Some(filled), Some(known)) = (self.columns.get(place), self.wide.get_mut(place)) else {
            return;
        };
        let column = *known.get_or_insert_with(|| {
            let wanted = ColumnSpec::new(filled.spec.name.clone(), Type::Uint);
            sink.column(self.table, &wanted)
        });
        sink.rows(self.table).uint(column, value);
    }

    fn fill(&mut self, place: usize, context: Context<'_>, names: &mut Names, rows: &mut Rows) -> Option<()> {
        let Filled { source, .. } = self.columns.get_mut(place)?;
        let (column, _) = *self.at.get(place)?;
        let (record, order) = (context.record, context.order);
        match source {
            ColumnSource::Number(field) => {
                let value = field.number(record, order)?;
                if value < 0 && !field.signed {
                    self.beyond.push((place, value.cast_unsigned()));
                    return Some(());
                }
                rows.int(column, value);
            }
            ColumnSource::Address(field) => {
                rows.uint(column, field.number(record, order)?.cast_unsigned());
            }
            ColumnSource::Text(field) => match field.shape {
                Shape::Text | Shape::DynamicText { .. } => {
                    rows.text(column, field_text(field, record, order)?);
                }
                _ => {
                    self.scratch.clear();
                    values::text(field, context, &mut self.scratch)?;
                    rows.text(column, &self.scratch);
                }
            },
            ColumnSource::Computed(conversion, value) => {
                rows.int(column, conversion.cut(value.number(context)?, order.long));
            }
            ColumnSource::Printed(printed) => {
                put_printed(printed, context, (names, &mut self.scratch), rows, column)?;
            }
            ColumnSource::Symbol(field, offset) => {
                let address = field.number(record, order)?.cast_unsigned();
                let (number, name) = names.get(context.symbols, address, *offset);
                rows.numbered(column, number, || name);
            }
            ColumnSource::Stack(field) => {
                self.scratch.clear();
                let bytes = record.get(field.offset..)?;
                stack(bytes, context, names, &mut self.scratch);
                rows.text(column, &self.scratch);
            }
            ColumnSource::Arguments(field) => {
                self.scratch.clear();
                values::arguments(field, context, &mut self.scratch)?;
                rows.text(column, &self.scratch);
            }
        }
        Some(())
    }
}

fn put_printed(
    printed: &mut Printed,
    context: Context<'_>,
    (names, scratch): (&mut Names, &mut Vec<u8>),
    rows: &mut Rows,
    column: usize,
) -> Option<()> {
    let by = match &printed.by {
        Some(field) => Some(field.number(context.record, context.order)?),
        None => None,
    };
    if let Some((number, text)) = by.and_then(|value| printed.known.get(&value)) {
        rows.numbered(column, *number, || text);
        return Some(());
    }
    scratch.clear();
    pieces(&printed.pieces, context, scratch)?;
    rows.text(column, scratch);
    if let Some(value) = by
        && printed.known.len() < KNOWN_LIMIT
    {
        let text = scratch.as_slice().into();
        printed.known.insert(value, (names.numbers.fresh(), text));
    }
    Some(())
}

/// Print pieces one after the other.
fn pieces(pieces: &[Piece], context: Context<'_>, out: &mut Vec<u8>) -> Option<()> {
    for piece in pieces {
        match piece {
            Piece::Literal(text) => out.extend_from_slice(text),
            Piece::Value(conversion, value) if conversion.kind == b's' => {
                let mut text = Vec::new();
                value.text(context, &mut text)?;
                conversion.put_text(out, &text);
            }
            Piece::Value(conversion, Expression::Field(field)) if conversion.is_address() => {
                let bytes = field.bytes(context.record, context.order)?;
                let mut text = Vec::new();
                address::put(&conversion.extension, bytes, context.order.big, &mut text)?;
                conversion.put_text(out, &text);
            }
            Piece::Value(conversion, value) => {
                conversion.put_number(out, value.number(context)?, context.order.long);
            }
        }
    }
    Some(())
}

/// Names of the callers, the outermost first; the list ends at 0 or all bits set.
fn stack(bytes: &[u8], context: Context<'_>, names: &mut Names, out: &mut Vec<u8>) {
    let long = context.order.long;
    let end = if long == 4 { u64::from(u32::MAX) } else { u64::MAX };
    let callers: Vec<u64> = bytes
        .chunks_exact(long.max(1))
        .map_while(|bytes| context.order.number(bytes, long))
        .take_while(|address| *address != 0 && *address != end)
        .collect();
    for (place, address) in callers.iter().rev().enumerate() {
        if place > 0 {
            out.push(b';');
        }
        out.extend_from_slice(names.get(context.symbols, *address, false).1);
    }
}
