//! The tables of a trace: one for the events of each phase, with rare columns added on demand.

use crate::rows::{ColumnSpec, EventSpec, Sink, TableSpec, Type};

/// The kind of an event, by its phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Complete,
    Begin,
    End,
    Instant,
    Counter,
    AsyncBegin,
    AsyncInstant,
    AsyncEnd,
    FlowBegin,
    FlowStep,
    FlowEnd,
    Sample,
    ObjectNew,
    ObjectSnapshot,
    ObjectDelete,
    Mark,
    ClockSync,
    MemoryDump,
    Link,
    ContextEnter,
    ContextLeave,
    Other,
}

impl Kind {
    /// The kind of a phase.
    #[inline]
    pub fn of(phase: u8) -> Kind {
        match phase {
            b'X' => Kind::Complete,
            b'B' => Kind::Begin,
            b'E' => Kind::End,
            b'i' | b'I' => Kind::Instant,
            b'C' => Kind::Counter,
            b'b' | b'S' => Kind::AsyncBegin,
            b'n' | b'T' | b'p' => Kind::AsyncInstant,
            b'e' | b'F' => Kind::AsyncEnd,
            b's' => Kind::FlowBegin,
            b't' => Kind::FlowStep,
            b'f' => Kind::FlowEnd,
            b'P' => Kind::Sample,
            b'N' => Kind::ObjectNew,
            b'O' => Kind::ObjectSnapshot,
            b'D' => Kind::ObjectDelete,
            b'R' => Kind::Mark,
            b'c' => Kind::ClockSync,
            b'v' | b'V' => Kind::MemoryDump,
            b'=' => Kind::Link,
            b'(' => Kind::ContextEnter,
            b')' => Kind::ContextLeave,
            _ => Kind::Other,
        }
    }

    fn table(self) -> &'static str {
        match self {
            Kind::Complete => "complete",
            Kind::Begin => "begin",
            Kind::End => "end",
            Kind::Instant => "instant",
            Kind::Counter => "counter",
            Kind::AsyncBegin => "async_begin",
            Kind::AsyncInstant => "async_instant",
            Kind::AsyncEnd => "async_end",
            Kind::FlowBegin => "flow_begin",
            Kind::FlowStep => "flow_step",
            Kind::FlowEnd => "flow_end",
            Kind::Sample => "sample",
            Kind::ObjectNew => "object_new",
            Kind::ObjectSnapshot => "object_snapshot",
            Kind::ObjectDelete => "object_delete",
            Kind::Mark => "mark",
            Kind::ClockSync => "clock_sync",
            Kind::MemoryDump => "memory_dump",
            Kind::Link => "link",
            Kind::ContextEnter => "context_enter",
            Kind::ContextLeave => "context_leave",
            Kind::Other => "other",
        }
    }

    /// Whether a table of some kind has this name.
    pub fn has_table(name: &[u8]) -> bool {
        (b'!'..=b'~').any(|phase| Kind::of(phase).table().as_bytes() == name)
    }

    /// The column specific to events of this kind.
    fn own(self) -> Option<ColumnSpec> {
        match self {
            Kind::Complete => Some(ColumnSpec::new("dur", Type::Int).with_unit("ns")),
            Kind::Counter => Some(ColumnSpec::new("value", Type::Float)),
            Kind::FlowBegin | Kind::FlowStep | Kind::FlowEnd => Some(ColumnSpec::new("flow", Type::Int)),
            _ => None,
        }
    }

    /// Whether events of several phases are of this kind, distinguished by their column `ph`.
    pub fn is_mixed(self) -> bool {
        matches!(self, Kind::AsyncBegin | Kind::AsyncInstant | Kind::AsyncEnd | Kind::MemoryDump | Kind::Other)
    }
}

/// Columns that a table has only if some event in it has a value for them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extra {
    Ph,
    Id,
    IdKind,
    Scope,
    Bp,
    BindId,
    Bind,
    FlowIn,
    FlowOut,
    Tts,
    Tdur,
    Sf,
    Stack,
    Esf,
    Estack,
    Cname,
    Cpu,
    Weight,
    Text,
    More,
}

const EXTRAS: usize = 20;

impl Extra {
    fn column(self) -> ColumnSpec {
        let text = |name: &str| ColumnSpec::new(name, Type::Text);
        match self {
            Extra::Ph => text("ph"),
            Extra::Id => text("id"),
            Extra::IdKind => text("id_kind"),
            Extra::Scope => text("scope"),
            Extra::Bp => text("bp"),
            Extra::BindId => text("bind_id"),
            Extra::Bind => ColumnSpec::new("bind", Type::Int),
            Extra::FlowIn => ColumnSpec::new("flow_in", Type::Bool),
            Extra::FlowOut => ColumnSpec::new("flow_out", Type::Bool),
            Extra::Tts => ColumnSpec::new("tts", Type::Int).with_unit("ns"),
            Extra::Tdur => ColumnSpec::new("tdur", Type::Int).with_unit("ns"),
            Extra::Sf => text("sf"),
            Extra::Stack => ColumnSpec::new("stack", Type::Json),
            Extra::Esf => text("esf"),
            Extra::Estack => ColumnSpec::new("estack", Type::Json),
            Extra::Cname => text("cname"),
            Extra::Cpu => ColumnSpec::new("cpu", Type::Int),
            Extra::Weight => ColumnSpec::new("weight", Type::Float),
            Extra::Text => text("text"),
            Extra::More => ColumnSpec::new("more", Type::Json),
        }
    }
}

/// The number of a table in the sink, and its columns.
#[derive(Clone, Copy)]
pub struct Handle {
    pub table: usize,
    /// The column `name`; `_ts` is the first one, and the kind's own one is between them.
    pub name: usize,
    extras: [usize; EXTRAS],
}

/// Columns after `name`.
pub const CAT: usize = 1;
pub const PID: usize = 2;
pub const TID: usize = 3;
pub const TRACK: usize = 4;
pub const LINE: usize = 5;
/// `args`, or `series` of counters.
pub const ARGS: usize = 6;
/// The kind's own column.
pub const OWN: usize = 1;

const KINDS: usize = Kind::Other as usize + 1;
const ABSENT: usize = usize::MAX;

/// The tables so far.
#[derive(Default)]
pub struct Tables {
    handles: [Option<Handle>; KINDS],
}

impl Tables {
    /// The table of a kind.
    #[inline]
    pub fn of(&mut self, kind: Kind, sink: &mut Sink) -> Handle {
        match self.handles[kind as usize] {
            Some(handle) => handle,
            None => self.open(kind, sink),
        }
    }

    fn open(&mut self, kind: Kind, sink: &mut Sink) -> Handle {
        let name = format!("raw_events.{}", kind.table());
        let table = sink.table(&name, || spec(kind, &name));
        let handle = Handle { table, name: if kind.own().is_some() { OWN + 1 } else { OWN }, extras: [ABSENT; EXTRAS] };
        self.handles[kind as usize] = Some(handle);
        handle
    }

    /// A rare column of a kind's table.
    pub fn extra(&mut self, kind: Kind, extra: Extra, sink: &mut Sink) -> usize {
        let mut handle = self.of(kind, sink);
        let at = extra as usize;
        if handle.extras[at] == ABSENT {
            handle.extras[at] = sink.column(handle.table, &extra.column());
            self.handles[kind as usize] = Some(handle);
        }
        handle.extras[at]
    }
}

fn spec(kind: Kind, name: &str) -> TableSpec {
    let mut columns = vec![ColumnSpec::new("_ts", Type::Int).with_unit("ns")];
    columns.extend(kind.own());
    let base = [
        ("name", Type::Text),
        ("cat", Type::Text),
        ("pid", Type::Int),
        ("tid", Type::Int),
        ("track", Type::Int),
        ("line", Type::Int),
        match kind {
            Kind::Counter => ("series", Type::Text),
            _ => ("args", Type::Json),
        },
    ];
    columns.extend(base.map(|(name, kind)| ColumnSpec::new(name, kind)));
    let args = match kind {
        Kind::Counter => vec!["series".to_owned(), "value".to_owned()],
        _ => vec!["args".to_owned()],
    };
    TableSpec {
        name: name.to_owned(),
        columns,
        event: Some(EventSpec {
            name: kind.table().to_owned(),
            named_by: Some("name".to_owned()),
            category: Some("cat".to_owned()),
            pid: Some("pid".to_owned()),
            tid: Some("tid".to_owned()),
            duration: (kind == Kind::Complete).then(|| "dur".to_owned()),
            args,
        }),
    }
}
