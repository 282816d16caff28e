//! The tables of track events, created on first use, with common first columns.

use crate::rows::{ColumnSpec, EventSpec, Rows, Sink, TableSpec, Type};

pub const TS: usize = 0;
pub const NAME: usize = 1;
pub const CAT: usize = 2;
pub const PID: usize = 3;
pub const TID: usize = 4;
pub const TRACK: usize = 5;
pub const LINE: usize = 6;
pub const ARGS: usize = 7;
/// The position of the columns that only some tables have.
pub const EXTRA: usize = 8;

/// The phase of an event on its track.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    Begin,
    End,
    Complete,
    Instant,
    Counter,
    AsyncBegin,
    AsyncEnd,
    AsyncInstant,
    FlowBegin,
    FlowStep,
    FlowEnd,
    Sample,
    ObjectNew,
    ObjectSnapshot,
    ObjectDelete,
    State,
    Mark,
}

const PHASES: usize = Phase::Mark as usize + 1;

type Extra = (&'static str, Type, &'static str);

impl Phase {
    fn table(self) -> &'static str {
        match self {
            Phase::Begin => "begin",
            Phase::End => "end",
            Phase::Complete => "complete",
            Phase::Instant => "instant",
            Phase::Counter => "counter",
            Phase::AsyncBegin => "async_begin",
            Phase::AsyncEnd => "async_end",
            Phase::AsyncInstant => "async_instant",
            Phase::FlowBegin => "flow_begin",
            Phase::FlowStep => "flow_step",
            Phase::FlowEnd => "flow_end",
            Phase::Sample => "sample",
            Phase::ObjectNew => "object_new",
            Phase::ObjectSnapshot => "object_snapshot",
            Phase::ObjectDelete => "object_delete",
            Phase::State => "state",
            Phase::Mark => "mark",
        }
    }

    fn extra(self) -> &'static [Extra] {
        match self {
            Phase::Begin | Phase::End => &[("thread_ts", Type::Int, "ns")],
            Phase::Complete => {
                &[("dur", Type::Int, "ns"), ("thread_ts", Type::Int, "ns"), ("thread_dur", Type::Int, "ns")]
            }
            Phase::Counter => &[("value", Type::Float, "")],
            Phase::FlowBegin | Phase::FlowStep => &[("flow", Type::Int, ""), ("binding", Type::Text, "")],
            Phase::FlowEnd => &[("flow", Type::Int, ""), ("binding", Type::Text, ""), ("closes", Type::Bool, "")],
            Phase::Sample => &[
                ("cpu", Type::Int, ""),
                ("event", Type::Text, ""),
                ("period", Type::Float, ""),
                ("stack", Type::Text, ""),
            ],
            Phase::ObjectNew | Phase::ObjectSnapshot | Phase::ObjectDelete => &[("id", Type::Text, "")],
            Phase::Mark => &[("ph", Type::Text, "")],
            _ => &[],
        }
    }

    fn spec(self) -> TableSpec {
        let base: [Extra; EXTRA] = [
            ("_ts", Type::Int, "ns"),
            ("name", Type::Text, ""),
            ("cat", Type::Text, ""),
            ("pid", Type::Int, ""),
            ("tid", Type::Int, ""),
            ("track", Type::Int, ""),
            ("line", Type::Int, ""),
            ("args", Type::Json, ""),
        ];
        let columns = base.iter().chain(self.extra());
        let columns = columns.map(|(name, kind, unit)| ColumnSpec::new(*name, *kind).with_unit(unit));
        let mut args = vec!["args".to_owned()];
        args.extend(self.extra().iter().map(|(name, _, _)| (*name).to_owned()));
        args.retain(|name| name != "dur");
        TableSpec {
            name: format!("raw_events.{}", self.table()),
            columns: columns.collect(),
            event: Some(EventSpec {
                name: self.table().to_owned(),
                named_by: Some("name".to_owned()),
                category: Some("cat".to_owned()),
                pid: Some("pid".to_owned()),
                tid: Some("tid".to_owned()),
                duration: (self == Phase::Complete).then(|| "dur".to_owned()),
                args,
            }),
        }
    }
}

/// The numbers of the tables.
pub struct Tables {
    numbers: [Option<usize>; PHASES],
}

impl Tables {
    pub fn new() -> Tables {
        Tables { numbers: [None; PHASES] }
    }

    #[inline]
    pub fn number(&mut self, sink: &mut Sink, phase: Phase) -> usize {
        let slot = &mut self.numbers[phase as usize];
        *slot.get_or_insert_with(|| {
            let spec = phase.spec();
            sink.table(&spec.name.clone(), || spec)
        })
    }
}

/// Put an optional number.
#[inline]
pub fn put_int(rows: &mut Rows, column: usize, value: Option<i64>) {
    if let Some(value) = value {
        rows.int(column, value);
    }
}

/// Put an optional text.
#[inline]
pub fn put_text(rows: &mut Rows, column: usize, value: Option<&[u8]>) {
    if let Some(value) = value {
        rows.text(column, value);
    }
}
