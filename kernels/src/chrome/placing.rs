//! Convert events into rows of their tables, and place them on their tracks.

use std::borrow::Cow;

use super::decimal::nanoseconds;
use super::event::{Event, Field};
use super::ids::{GroupId, Reach, TextIds, group_id};
use super::names::Names;
use super::tables::{ARGS, CAT, Extra, Handle, Kind, LINE, OWN, PID, TID, TRACK, Tables};
use super::texts::{json, plain, quoted};
use super::tracks::{Group, Tracks};
use crate::columns::Interner;
use crate::json::Token;
use crate::perf_text::payload::Payloads;
use crate::rows::{Notes, Sink, TableSpec, Type};

type Id = Option<i64>;

/// Maximum bytes kept of text that is not an event.
const UNREAD: usize = 1 << 16;

/// The state between events.
#[derive(Default)]
pub struct Placing {
    pub notes: Notes,
    pub tracks: Tracks,
    pub names: Names,
    pub ids: TextIds,
    pub tables: Tables,
    /// Tables of the kernel's events.
    pub payloads: Payloads,
    flows: Interner,
    /// Number of events.
    pub line: i64,
    /// Bytes of placed events.
    pub passed: u64,
    /// The phase of events without one, given by the list they are in.
    pub phase: Option<u8>,
    key: Vec<u8>,
}

/// Data of an event that are computed once.
pub struct Placed<'a> {
    pub event: &'a Event,
    pub text: &'a [u8],
    pub kind: Kind,
    pub ts: i64,
    pub pid: Id,
    pub tid: Id,
}

impl Placed<'_> {
    /// Its thread; an event without one is on the first thread of its process.
    pub fn thread(&self) -> Id {
        self.tid.or(self.pid)
    }

    pub fn plain(&self, field: Field) -> Option<Cow<'_, [u8]>> {
        plain(self.event.get(field), self.event.raw(field, self.text), self.text)
    }

    pub fn group(&self) -> Option<GroupId> {
        let both = |field| (self.event.get(field), self.event.raw(field, self.text));
        group_id(both(Field::Id), both(Field::Id2), self.text)
    }
}

impl Placing {
    /// Start another file.
    pub fn begin_file(&mut self, file: u32) {
        self.notes.file = file;
        self.tracks.begin_file(file);
        self.phase = None;
    }

    /// Write the tables that are complete only at the end.
    pub fn finish(&mut self, sink: &mut Sink) {
        self.names.name_texts(&self.ids, self.tracks.all_threads());
        let names = &self.names;
        let name = |file, pid, tid| names.name(file, pid, tid);
        self.tracks.finish(sink, name);
        names.finish(sink);
    }

    /// Put an event into its table.
    pub fn place(&mut self, event: &Event, text: &[u8], sink: &mut Sink) {
        self.line += 1;
        self.passed = self.passed.saturating_add(text.len() as u64);
        if event.is_empty() {
            return self.unread("event is empty", false, text, sink);
        }
        if event.repeated > 0 {
            let reason = "member of an event is given twice, the last one is taken";
            self.notes.count(reason, false, text);
        }
        let phase = match event.get(Field::Ph) {
            Token::Text(inside) => match inside.span.of(text) {
                [one] => Some(*one),
                _ => None,
            },
            Token::Absent => self.phase,
            _ => None,
        };
        let mut number = |field| self.ids.number(event.get(field), event.raw(field, text), text);
        let (pid, tid) = (number(Field::Pid), number(Field::Tid));
        if phase == Some(b'M') {
            return self.metadata(event, text, (pid, tid), sink);
        }
        let token = event.get(Field::Ts);
        let Some(ts) = nanoseconds(token, text) else {
            let reason = match token {
                Token::Absent | Token::Null => "event has no time",
                _ => "time of an event is no number or too large",
            };
            return self.unread(reason, false, text, sink);
        };
        let kind = phase.map_or(Kind::Other, Kind::of);
        if kind == Kind::Other {
            let reason = match event.has(Field::Ph) {
                true => "phase is unknown",
                false => "event has no phase",
            };
            self.notes.count(reason, false, text);
        }
        let placed = Placed { event, text, kind, ts, pid, tid };
        self.put(&placed, sink);
    }

    fn put(&mut self, placed: &Placed<'_>, sink: &mut Sink) {
        match placed.kind {
            Kind::Complete => self.complete(placed, sink),
            Kind::Counter => self.counter(placed, sink),
            Kind::Instant => self.instant(placed, sink),
            Kind::AsyncBegin | Kind::AsyncInstant | Kind::AsyncEnd => self.grouped(placed, sink),
            Kind::FlowBegin | Kind::FlowStep | Kind::FlowEnd => self.flow(placed, sink),
            Kind::ObjectNew | Kind::ObjectSnapshot | Kind::ObjectDelete => {
                self.object(placed, sink);
            }
            _ => {
                let track = self.tracks.thread(placed.pid, placed.thread());
                self.row(placed, track, sink);
            }
        }
    }

    fn complete(&mut self, placed: &Placed<'_>, sink: &mut Sink) {
        let track = self.tracks.thread(placed.pid, placed.thread());
        let token = placed.event.get(Field::Dur);
        let dur = nanoseconds(token, placed.text);
        let handle = self.tables.of(Kind::Complete, sink);
        match dur {
            Some(dur) => {
                sink.rows(handle.table).int(OWN, dur);
                if dur < 0 {
                    let reason = "duration is negative";
                    self.notes.count(reason, false, placed.text);
                }
            }
            None => {
                let reason = match token {
                    Token::Absent | Token::Null => "complete event has no duration",
                    _ => "duration is no number or too large",
                };
                self.notes.count(reason, false, placed.text);
            }
        }
        self.row(placed, track, sink);
    }

    fn instant(&mut self, placed: &Placed<'_>, sink: &mut Sink) {
        let reach = match placed.event.get(Field::S) {
            Token::Text(inside) => inside.span.of(placed.text),
            _ => b"",
        };
        let track = match reach {
            b"g" => self.tracks.global(),
            b"p" => self.tracks.process(placed.pid),
            _ => self.tracks.thread(placed.pid, placed.thread()),
        };
        self.row(placed, track, sink);
    }

    /// Events that belong together by an id: nestable ones by category and id, old ones also by name.
    fn grouped(&mut self, placed: &Placed<'_>, sink: &mut Sink) {
        let name = placed.plain(Field::Name);
        let cat = placed.plain(Field::Cat);
        let scope = placed.plain(Field::Scope);
        let phase = placed.plain(Field::Ph);
        let old = phase.is_some_and(|phase| matches!(*phase, [b'S' | b'T' | b'p' | b'F']));
        let found = placed.group();
        if found.is_none() {
            let reason = "asynchronous event has no id, its name is taken";
            self.notes.count(reason, false, placed.text);
        }
        let inside = match &found {
            Some(id) => id.reach == Reach::Process,
            None => true,
        };
        let by_name = match old || found.is_none() {
            true => name.as_deref().unwrap_or_default(),
            false => b"",
        };
        let pid = number_key(placed.pid.filter(|_| inside));
        let id = found.as_ref().map(|id| id.text.as_slice());
        let group = Group {
            kind: "async",
            key: &[
                scope.as_deref().unwrap_or_default(),
                cat.as_deref().unwrap_or_default(),
                id.unwrap_or_default(),
                by_name,
                &pid,
                &[u8::from(old), u8::from(found.is_none())],
            ],
            pid: placed.pid,
            tid: None,
            parent: placed.pid.map(|pid| self.tracks.process(Some(pid))),
            name: name.as_deref(),
            cat: cat.as_deref(),
            scope: scope.as_deref(),
            id,
            series: None,
        };
        let track = self.tracks.group(&group, sink);
        self.id_columns(placed, found.as_ref(), sink);
        self.row(placed, track, sink);
    }

    fn object(&mut self, placed: &Placed<'_>, sink: &mut Sink) {
        let name = placed.plain(Field::Name);
        let scope = placed.plain(Field::Scope);
        let found = placed.group();
        let inside = found.as_ref().is_none_or(|id| id.reach != Reach::Everyone);
        let pid = number_key(placed.pid.filter(|_| inside));
        let id = found.as_ref().map(|id| id.text.as_slice());
        let group = Group {
            kind: "object",
            key: &[scope.as_deref().unwrap_or_default(), id.unwrap_or_default(), &pid],
            pid: placed.pid,
            tid: None,
            parent: placed.pid.map(|pid| self.tracks.process(Some(pid))),
            name: name.as_deref(),
            cat: None,
            scope: scope.as_deref(),
            id,
            series: None,
        };
        let track = self.tracks.group(&group, sink);
        self.id_columns(placed, found.as_ref(), sink);
        self.row(placed, track, sink);
    }

    fn flow(&mut self, placed: &Placed<'_>, sink: &mut Sink) {
        let track = self.tracks.thread(placed.pid, placed.thread());
        let found = placed.group();
        let inside = matches!(&found, Some(id) if id.reach == Reach::Process);
        let pid = number_key(placed.pid.filter(|_| inside));
        let id = found.as_ref().map(|id| id.text.as_slice());
        if id.is_none() {
            let reason = "flow event has no id, its name is taken";
            self.notes.count(reason, false, placed.text);
        }
        let name = placed.plain(Field::Name).unwrap_or_default();
        let cat = placed.plain(Field::Cat).unwrap_or_default();
        let flow = self.flow_number(&[b"id", &cat, &name, id.unwrap_or_default(), &pid]);
        let handle = self.tables.of(placed.kind, sink);
        sink.rows(handle.table).int(OWN, flow);
        self.id_columns(placed, found.as_ref(), sink);
        self.row(placed, track, sink);
    }

    fn flow_number(&mut self, parts: &[&[u8]]) -> i64 {
        self.key.clear();
        for part in [self.notes.file.to_le_bytes().as_slice()].iter().chain(parts) {
            self.key.extend_from_slice(&part.len().to_le_bytes());
            self.key.extend_from_slice(part);
        }
        self.flows.intern(&self.key) as i64 + 1
    }

    fn id_columns(&mut self, placed: &Placed<'_>, id: Option<&GroupId>, sink: &mut Sink) {
        let Some(id) = id else {
            return;
        };
        self.extra_text(placed.kind, Extra::Id, &id.text, sink);
        let kind: &[u8] = match id.reach {
            Reach::Plain => return,
            Reach::Process => b"local",
            Reach::Everyone => b"global",
        };
        self.extra_text(placed.kind, Extra::IdKind, kind, sink);
    }

    pub fn extra_text(&mut self, kind: Kind, extra: Extra, value: &[u8], sink: &mut Sink) {
        let column = self.tables.extra(kind, extra, sink);
        let handle = self.tables.of(kind, sink);
        sink.rows(handle.table).text(column, value);
    }

    /// Fill in the data of all events, and end the row.
    #[inline]
    fn row(&mut self, placed: &Placed<'_>, track: i64, sink: &mut Sink) {
        let handle = self.base(placed, track, sink);
        let raw = placed.event.raw(Field::Args, placed.text);
        if !matches!(placed.event.get(Field::Args), Token::Absent | Token::Null) {
            let args = json(raw, placed.event.deep);
            sink.rows(handle.table).text(handle.name + ARGS, &args);
        }
        self.extras(placed, sink);
        sink.end(handle.table);
    }

    /// Fill in the first columns of all tables.
    #[inline]
    pub fn base(&mut self, placed: &Placed<'_>, track: i64, sink: &mut Sink) -> Handle {
        let handle = self.tables.of(placed.kind, sink);
        let rows = sink.rows(handle.table);
        rows.int(0, placed.ts);
        if let Some(name) = placed.plain(Field::Name) {
            rows.text(handle.name, &name);
        }
        if let Some(cat) = placed.plain(Field::Cat) {
            rows.text(handle.name + CAT, &cat);
        }
        if let Some(pid) = placed.pid {
            rows.int(handle.name + PID, pid);
        }
        if let Some(tid) = placed.tid {
            rows.int(handle.name + TID, tid);
        }
        rows.int(handle.name + TRACK, track);
        rows.int(handle.name + LINE, self.line);
        handle
    }

    /// Fill in the rare columns.
    #[inline]
    pub fn extras(&mut self, placed: &Placed<'_>, sink: &mut Sink) {
        if placed.event.has_rare() {
            self.rare(placed, sink);
        }
        if placed.kind.is_mixed()
            && let Some(phase) = placed.plain(Field::Ph)
        {
            self.extra_text(placed.kind, Extra::Ph, &phase, sink);
        }
        if !placed.event.others.is_empty() {
            let more = more(placed);
            self.extra_text(placed.kind, Extra::More, &more, sink);
        }
        if placed.event.deep {
            let reason = "value is nested deeper than 512, kept as a string";
            self.notes.count(reason, false, placed.text);
        }
    }

    fn rare(&mut self, placed: &Placed<'_>, sink: &mut Sink) {
        const TEXTS: [(Field, Extra); 7] = [
            (Field::S, Extra::Scope),
            (Field::Scope, Extra::Scope),
            (Field::Bp, Extra::Bp),
            (Field::Sf, Extra::Sf),
            (Field::Esf, Extra::Esf),
            (Field::Cname, Extra::Cname),
            (Field::BindId, Extra::BindId),
        ];
        for (field, extra) in TEXTS {
            if let Some(value) = placed.plain(field) {
                self.extra_text(placed.kind, extra, &value, sink);
            }
        }
        for (field, extra) in [(Field::Stack, Extra::Stack), (Field::Estack, Extra::Estack)] {
            if placed.event.has(field) {
                let value = json(placed.event.raw(field, placed.text), placed.event.deep);
                self.extra_text(placed.kind, extra, &value, sink);
            }
        }
        self.rare_numbers(placed, sink);
        let is_own = matches!(
            placed.kind,
            Kind::AsyncBegin
                | Kind::AsyncInstant
                | Kind::AsyncEnd
                | Kind::FlowBegin
                | Kind::FlowStep
                | Kind::FlowEnd
                | Kind::ObjectNew
                | Kind::ObjectSnapshot
                | Kind::ObjectDelete
        );
        if !is_own {
            self.id_columns(placed, placed.group().as_ref(), sink);
        }
    }

    fn rare_numbers(&mut self, placed: &Placed<'_>, sink: &mut Sink) {
        let (kind, event, text) = (placed.kind, placed.event, placed.text);
        for (field, extra) in [(Field::Tts, Extra::Tts), (Field::Tdur, Extra::Tdur)] {
            if let Some(value) = nanoseconds(event.get(field), text) {
                self.extra_int(kind, extra, value, sink);
            }
        }
        if let Some(cpu) = self.ids.number(event.get(Field::Cpu), event.raw(Field::Cpu, text), text) {
            self.extra_int(kind, Extra::Cpu, cpu, sink);
        }
        if let Some(weight) = super::decimal::number(event.get(Field::Weight), text) {
            let column = self.tables.extra(kind, Extra::Weight, sink);
            let handle = self.tables.of(kind, sink);
            sink.rows(handle.table).float(column, weight);
        }
        for (field, extra) in [(Field::FlowIn, Extra::FlowIn), (Field::FlowOut, Extra::FlowOut)] {
            if event.has(field) {
                let set = !matches!(event.raw(field, text), b"false" | b"null" | b"0" | b"\"false\"" | b"\"\"");
                let column = self.tables.extra(kind, extra, sink);
                let handle = self.tables.of(kind, sink);
                sink.rows(handle.table).bool(column, set);
            }
        }
        if let Some(bind) = placed.plain(Field::BindId) {
            let flow = self.flow_number(&[b"bind", &bind]);
            self.extra_int(kind, Extra::Bind, flow, sink);
        }
    }

    fn extra_int(&mut self, kind: Kind, extra: Extra, value: i64, sink: &mut Sink) {
        let column = self.tables.extra(kind, extra, sink);
        let handle = self.tables.of(kind, sink);
        sink.rows(handle.table).int(column, value);
    }

    fn metadata(&mut self, event: &Event, text: &[u8], ids: (Id, Id), sink: &mut Sink) {
        let (pid, tid) = ids;
        let name = plain(event.get(Field::Name), event.raw(Field::Name, text), text);
        let name = name.unwrap_or_default();
        let args = event.raw(Field::Args, text);
        self.names.learn(self.notes.file, ids, &name, args);
        let table = sink.table("metadata", || {
            TableSpec::plain(
                "metadata",
                &[
                    ("line", Type::Int),
                    ("name", Type::Text),
                    ("pid", Type::Int),
                    ("tid", Type::Int),
                    ("cat", Type::Text),
                    ("ts", Type::Int),
                    ("args", Type::Json),
                    ("file", Type::Int),
                ],
            )
        });
        let rows = sink.rows(table);
        rows.int(0, self.line);
        rows.text(1, &name);
        for (column, value) in [(2, pid), (3, tid), (5, nanoseconds(event.get(Field::Ts), text))] {
            if let Some(value) = value {
                rows.int(column, value);
            }
        }
        if let Some(cat) = plain(event.get(Field::Cat), event.raw(Field::Cat, text), text) {
            rows.text(4, &cat);
        }
        if event.has(Field::Args) {
            rows.text(6, &json(args, event.deep));
        }
        rows.int(7, i64::from(self.notes.file));
        sink.end(table);
    }

    /// Keep the text of something that is not an event with a time.
    pub fn unread(&mut self, reason: &str, lost: bool, text: &[u8], sink: &mut Sink) {
        self.notes.count(reason, lost, text);
        let table = sink.table("unread", || {
            TableSpec::plain(
                "unread",
                &[("line", Type::Int), ("reason", Type::Text), ("text", Type::Text), ("file", Type::Int)],
            )
        });
        let rows = sink.rows(table);
        rows.int(0, self.line);
        rows.text(1, reason.as_bytes());
        rows.text(2, text.get(..UNREAD).unwrap_or(text));
        rows.int(3, i64::from(self.notes.file));
        sink.end(table);
    }
}

/// A number as a part of a key.
fn number_key(number: Id) -> Vec<u8> {
    number.map_or_else(Vec::new, |number| number.to_le_bytes().to_vec())
}

/// The unknown members, as an object.
fn more(placed: &Placed<'_>) -> Vec<u8> {
    let mut out = vec![b'{'];
    for member in &placed.event.others {
        if out.len() > 1 {
            out.push(b',');
        }
        let key = member.key.span.of(placed.text);
        out.extend_from_slice(&json(&[b"\"", key, b"\""].concat(), false));
        out.push(b':');
        out.extend_from_slice(&json(member.value.of(placed.text), placed.event.deep));
    }
    out.push(b'}');
    match placed.event.deep {
        true => quoted(&out),
        false => out,
    }
}
