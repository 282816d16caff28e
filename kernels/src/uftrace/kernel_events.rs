//! Convert kernel records, and messages of other programs, into rows.

use std::collections::hash_map::Entry;

use super::calls::head;
use super::events::start;
use super::merged::Merged;
use super::perf::{Happened, What};
use super::source::Kind;
use super::tables::{self, event};
use super::task::{Off, Task};
use crate::rows::{Sink, Type};

const INT: Type = Type::Int;

impl Merged {
    /// Handle a record of the kernel about a task.
    pub fn happened(&mut self, sink: &mut Sink, kind: Kind, happened: Happened) {
        let Kind::Perf(cpu) = kind else { return };
        let number = self.number(happened.tid, happened.pid);
        // A thread is within its first calls after it is on a CPU, and before it leaves it.
        let fresh = self.tasks.get(number).is_some_and(|task| !task.steady);
        if fresh && matches!(happened.what, What::Out { .. }) {
            self.begin(number, happened.time);
        }
        let line = self.next_line(happened.time);
        if fresh && matches!(happened.what, What::In) {
            self.begin(number, happened.time);
        }
        let Some(task) = self.tasks.get_mut(number) else {
            return;
        };
        let time = happened.time;
        match happened.what {
            What::Out { preempted } => {
                task.seen(time);
                let off = Off { time, cpu, preempted, line, call: task.top() };
                if let Some(before) = task.off.replace(off) {
                    out(sink, task, &before);
                }
            }
            What::In => {
                task.seen(time);
                switched(sink, task, time, cpu, line);
            }
            What::New { parent } => {
                let table = tables::events(sink, "linux:task-new", &[("cpu", INT, ""), ("ppid", INT, "")]);
                let rows = sink.rows(table);
                start(rows, &head(task, time, line));
                rows.int(event::FIELDS, cpu);
                rows.int(event::FIELDS + 1, parent);
                sink.end(table);
            }
            What::Exit => {
                // Calls that were never left ended with their thread.
                task.seen(time);
                let table = tables::events(sink, "linux:task-exit", &[("cpu", INT, "")]);
                let rows = sink.rows(table);
                start(rows, &head(task, time, line));
                rows.int(event::FIELDS, cpu);
                sink.end(table);
            }
            What::Name { name, exec } => {
                let fields = &[("cpu", INT, ""), ("comm", Type::Text, ""), ("exec", Type::Bool, "")];
                let table = tables::events(sink, "linux:task-name", fields);
                let rows = sink.rows(table);
                start(rows, &head(task, time, line));
                rows.int(event::FIELDS, cpu);
                rows.text(event::FIELDS + 1, &name);
                rows.bool(event::FIELDS + 2, exec);
                sink.end(table);
                task.name = Some(name);
            }
        }
    }

    /// The number of a thread, which is new if it occurs only in the kernel's records.
    fn number(&mut self, tid: i64, pid: i64) -> usize {
        match self.numbers.entry(tid) {
            Entry::Occupied(found) => *found.get(),
            Entry::Vacant(free) => {
                let number = self.tasks.len();
                let task = Task::new(number as u32, (tid, pid), None, Vec::new());
                self.tasks.push(task);
                *free.insert(number)
            }
        }
    }

    /// Add a message of another program.
    pub fn message(&mut self, sink: &mut Sink, time: i64, text: &[u8]) {
        let line = self.next_line(time);
        let table = tables::events(sink, "external-data", &[("message", Type::Text, "")]);
        let rows = sink.rows(table);
        rows.int(event::TS, time);
        rows.int(event::LINE, line);
        rows.text(event::FIELDS, text);
        sink.end(table);
    }
}

/// Handle a thread that is on a CPU again.
fn switched(sink: &mut Sink, task: &mut Task, time: i64, cpu: i64, line: i64) {
    let Some(off) = task.off.take() else {
        let table = tables::events(sink, "linux:sched-in", &[("cpu", INT, "")]);
        let rows = sink.rows(table);
        start(rows, &head(task, time, line));
        rows.int(event::FIELDS, cpu);
        sink.end(table);
        return;
    };
    let dur = time.saturating_sub(off.time).max(0);
    if let Some(top) = task.stack.last_mut()
        && Some(top.id) == off.call
    {
        top.inner = top.inner.saturating_add(dur);
    }
    let fields =
        &[("dur", INT, "ns"), ("cpu", INT, ""), ("to_cpu", INT, ""), ("preempted", Type::Bool, ""), ("call", INT, "")];
    let table = tables::events(sink, "linux:schedule", fields);
    let rows = sink.rows(table);
    start(rows, &head(task, off.time, off.line));
    rows.int(event::FIELDS, dur);
    rows.int(event::FIELDS + 1, off.cpu);
    rows.int(event::FIELDS + 2, cpu);
    rows.bool(event::FIELDS + 3, off.preempted);
    if let Some(call) = off.call {
        rows.int(event::FIELDS + 4, call);
    }
    sink.end(table);
}

/// Handle a thread that left its CPU and was not seen on one again.
pub fn out(sink: &mut Sink, task: &Task, off: &Off) {
    let fields = &[("cpu", INT, ""), ("preempted", Type::Bool, ""), ("call", INT, "")];
    let table = tables::events(sink, "linux:sched-out", fields);
    let rows = sink.rows(table);
    start(rows, &head(task, off.time, off.line));
    rows.int(event::FIELDS, off.cpu);
    rows.bool(event::FIELDS + 1, off.preempted);
    if let Some(call) = off.call {
        rows.int(event::FIELDS + 2, call);
    }
    sink.end(table);
}
