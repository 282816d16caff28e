//! Decode the function graph tracer's own text into entries and exits of functions, and the events between them.

use std::path::PathBuf;

use pyo3::prelude::*;
use rustc_hash::FxHashMap;

mod line;

use crate::ftrace::graph::{self, Function, Kind};
use crate::perf::tables::{Field, Value, put};
use crate::perf_text::line::Head;
use crate::perf_text::lines::{Lines, Next};
use crate::perf_text::payload::{Payloads, Row};
use crate::rows::{Decode, Failure, Learnt, Note, Place, RowPass, Sink, TextRead};
use line::{Columns, Line};

/// Maximum depth of calls, and number of threads.
const DEPTH: usize = 4096;
const THREADS: usize = 1 << 16;

/// A CPU with consecutive lines.
#[derive(Default)]
struct Cpu {
    /// The sum of the durations so far, if lines have no time of their own.
    now: i64,
    task: Option<(Vec<u8>, i64)>,
}

#[derive(Default)]
struct Graph {
    lines: Lines,
    cpus: FxHashMap<i64, Cpu>,
    /// Times of the entries without exit so far, by thread, or by CPU if threads are not given.
    open: FxHashMap<(bool, i64), Vec<i64>>,
    /// The last time of each thread, if lines have none of their own: a thread may continue on another CPU.
    latest: FxHashMap<i64, i64>,
    payloads: Payloads,
    /// Number of lines in the files before.
    before: u64,
    timeless: bool,
    lost: u64,
    ended: bool,
}

/// The place and time of a line.
struct Written<'a> {
    ts: i64,
    line: i64,
    cpu: Option<i64>,
    comm: Option<&'a [u8]>,
    pid: Option<i64>,
    flags: Option<&'a [u8]>,
}

impl Graph {
    fn line(&mut self, sink: &mut Sink) {
        let text = self.lines.text().to_vec();
        match line::parse(&text) {
            Line::Blank | Line::Header => {}
            Line::Unknown => self.lines.unread("line is not an event", false, &text),
            Line::Lost(count) => self.lost = self.lost.saturating_add(count),
            Line::Switch(cpu, from, to) => self.switch(cpu, from, to, sink),
            Line::Interrupt(columns, begins) => {
                let at = self.place(columns, None);
                put_row("raw_events.funcgraph_irq", &at, &[("entry", "", Value::Bool(begins))], sink);
            }
            Line::Function(columns, rest) => {
                let inside = rest.trim_ascii();
                if let Some(comment) = inside.strip_prefix(b"/*").and_then(|inside| inside.strip_suffix(b"*/")) {
                    return self.comment(columns, comment.trim_ascii(), sink);
                }
                match graph::function(rest) {
                    Some(function) => self.function(columns, function, sink),
                    None => self.lines.unread("line is not an event", false, &text),
                }
            }
        }
    }

    /// The place and time of a line; `kind` determines its effect on the time of its CPU.
    fn place<'a>(&mut self, columns: Columns<'a>, kind: Option<Kind>) -> Written<'a> {
        let number = self.before + self.lines.number;
        let cpu = self.cpus.entry(columns.cpu.unwrap_or(-1)).or_default();
        if let Some((comm, pid)) = columns.task {
            match &mut cpu.task {
                Some(task) if task.0 == comm && task.1 == pid => {}
                task => *task = Some((comm.to_vec(), pid)),
            }
        }
        let pid = cpu.task.as_ref().map(|task| task.1);
        let thread = match pid {
            Some(pid) if pid != 0 => (true, pid),
            _ => (false, columns.cpu.unwrap_or(-1)),
        };
        if let (true, pid) = thread
            && let Some(latest) = self.latest.get(&pid)
        {
            cpu.now = cpu.now.max(*latest);
        }
        let duration = columns.duration.unwrap_or(0);
        let room = self.open.len() < THREADS || self.open.contains_key(&thread);
        let mut ts = columns.ts.unwrap_or(cpu.now);
        self.timeless |= columns.ts.is_none();
        match kind {
            Some(Kind::Entry) if room => {
                let open = self.open.entry(thread).or_default();
                if open.len() < DEPTH {
                    open.push(ts);
                }
            }
            Some(Kind::Leaf) if columns.ts.is_none() => cpu.now = ts.saturating_add(duration),
            Some(Kind::Exit) => {
                let begun = self.open.get_mut(&thread).and_then(Vec::pop);
                if columns.ts.is_none() {
                    let end = begun.unwrap_or(0).saturating_add(duration);
                    cpu.now = cpu.now.max(end);
                    ts = cpu.now;
                }
            }
            _ => {}
        }
        if let (true, pid) = thread
            && columns.ts.is_none()
            && (self.latest.len() < THREADS || self.latest.contains_key(&pid))
        {
            self.latest.insert(pid, cpu.now);
        }
        Written {
            ts,
            line: i64::try_from(number).unwrap_or(i64::MAX),
            cpu: columns.cpu,
            comm: columns.task.map(|task| task.0),
            pid,
            flags: columns.flags,
        }
    }

    fn function(&mut self, columns: Columns<'_>, function: Function<'_>, sink: &mut Sink) {
        let at = self.place(columns, Some(function.kind));
        let comm = self.comm(columns);
        let at = Written { comm: comm.as_deref(), ..at };
        let fields = [
            ("func", "", Value::Text(function.name)),
            ("depth", "", Value::Int(Some(function.depth))),
            ("duration", "ns", Value::Int(columns.duration)),
            ("params", "", Value::Text(function.args)),
            ("retval", "", Value::Text(function.retval)),
        ];
        let table = match function.kind {
            Kind::Exit => "raw_events.funcgraph_exit",
            _ => "raw_events.funcgraph_entry",
        };
        put_row(table, &at, &fields, sink);
    }

    fn comm(&self, columns: Columns<'_>) -> Option<Vec<u8>> {
        let cpu = self.cpus.get(&columns.cpu.unwrap_or(-1))?;
        Some(cpu.task.as_ref()?.0.clone())
    }

    fn switch(&mut self, cpu: i64, from: (&[u8], i64), to: (&[u8], i64), sink: &mut Sink) {
        let columns = Columns { cpu: Some(cpu), task: Some(to), ..Columns::default() };
        let timeless = self.timeless;
        let at = self.place(columns, None);
        // Lines of switches never have a time: they do not show that others have none.
        self.timeless = timeless;
        let fields = [
            ("prev_comm", "", Value::Text(Some(from.0))),
            ("prev_pid", "", Value::Int(Some(from.1))),
            ("next_comm", "", Value::Text(Some(to.0))),
            ("next_pid", "", Value::Int(Some(to.1))),
        ];
        put_row("raw_events.funcgraph_switch", &at, &fields, sink);
    }

    /// An event between functions: `sched_switch: prev_comm=...`, or the text of a mark.
    fn comment(&mut self, columns: Columns<'_>, text: &[u8], sink: &mut Sink) {
        let at = self.place(columns, None);
        let comm = self.comm(columns);
        let named = memchr::memmem::find(text, b": ").filter(|end| {
            let name = text.get(..*end).unwrap_or_default();
            !name.is_empty() && name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_')
        });
        let (name, rest) = match named {
            Some(end) => (text.get(..end), text.get(end + 2..)),
            None => (Some(&b"print"[..]), Some(text)),
        };
        let head = Head {
            comm: comm.as_deref().unwrap_or(b"<...>"),
            tid: at.pid,
            cpu: at.cpu,
            rest: rest.unwrap_or_default(),
            ..Head::default()
        };
        let row = Row { head, ts: at.ts, line: at.line, stack: None, flags: None };
        if !self.payloads.row(name.unwrap_or(b"print"), row, sink) {
            let reason = "event name beyond the 4096 that are read";
            self.lines.note(reason, true, text);
        }
    }
}

fn put_row(table: &str, at: &Written<'_>, more: &[Field<'_>], sink: &mut Sink) {
    let mut fields = vec![
        ("_ts", "ns", Value::Int(Some(at.ts))),
        ("cpu", "", Value::Int(at.cpu)),
        ("common_comm", "", Value::Text(at.comm)),
        ("common_pid", "", Value::Int(at.pid)),
        ("common_flags", "", Value::Text(at.flags)),
        ("line", "", Value::Int(Some(at.line))),
    ];
    fields.extend_from_slice(more);
    put(sink, table, &fields);
}

impl Decode for Graph {
    fn step(&mut self, sink: &mut Sink) -> Result<Option<Place>, Failure> {
        let file = self.lines.file;
        let begin = self.lines.place();
        while !sink.full() && !self.ended {
            match self.lines.next()? {
                Next::Line => self.line(sink),
                Next::End => {
                    self.before += self.lines.number;
                    self.open.clear();
                    self.latest.clear();
                    self.cpus.clear();
                }
                Next::Nothing => self.ended = true,
            }
        }
        let place = Place { file, begin, end: self.lines.place().max(begin) };
        Ok((sink.len() > 0).then_some(place))
    }

    fn learnt(&mut self) -> Learnt {
        let mut notes = self.lines.notes.take();
        if self.lost > 0 {
            notes.push(Note { reason: "events lost by the kernel".to_owned(), count: self.lost, ..Note::default() });
        }
        let clock = match self.timeless {
            true => "durations",
            false => "trace",
        };
        Learnt {
            notes,
            properties: vec![
                ("clock".to_owned(), clock.to_owned()),
                ("tracer".to_owned(), "function_graph".to_owned()),
            ],
        }
    }

    fn lines(&mut self) -> Vec<TextRead> {
        std::mem::take(&mut self.lines.read)
    }
}

/// Read the function graph tracer's text; see `RowPass`.
#[pyfunction]
#[pyo3(signature = (paths, threads, progress=None))]
fn ftrace_graph_pass(paths: Vec<PathBuf>, threads: usize, progress: Option<Py<PyAny>>) -> RowPass {
    RowPass::of_files(paths, threads, progress, |paths, done| Graph {
        lines: Lines::new(paths, done),
        ..Graph::default()
    })
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(ftrace_graph_pass, m)?)
}
