//! Decode the compact switches and wakeups of one CPU into rows of `sched_switch` and `sched_waking`.

use std::iter::Peekable;

use super::comms::{Comm, Comms};
use super::ftrace::{Bundle, Ftrace, Rename};
use super::ftrace_plan::{EventPlan, Head};
use super::json::Json;
use super::sequence::numbers;
use super::states;
use super::tables::put_int;
use super::wire::{Fields, Value};
use super::world::World;
use crate::rows::Sink;

/// The running thread of a CPU.
#[derive(Clone)]
pub struct Running {
    pid: i64,
    prio: i64,
    comm: Comm,
}

impl Running {
    /// Take another name, if it is this thread's.
    pub fn rename(&mut self, rename: &Rename) {
        if self.pid == rename.pid {
            self.comm = rename.comm;
        }
    }
}

/// A message `CompactSched`: columns of numbers, times as differences.
#[derive(Default)]
struct Compact<'a> {
    /// Names, and their stored forms.
    names: Vec<(&'a [u8], Comm)>,
    switch: [Vec<u64>; 5],
    waking: [Vec<u64>; 6],
}

impl<'a> Compact<'a> {
    fn of(message: &'a [u8], comms: &mut Comms) -> Compact<'a> {
        let mut compact = Compact::default();
        for (number, value) in Fields::of(message) {
            match (number, value) {
                (5, Value::Bytes(name)) => compact.names.push((name, comms.comm(name))),
                (1, _) => numbers(value, &mut compact.switch[0]),
                (2, _) => numbers(value, &mut compact.switch[1]),
                (3, _) => numbers(value, &mut compact.switch[2]),
                (4, _) => numbers(value, &mut compact.switch[3]),
                (6, _) => numbers(value, &mut compact.switch[4]),
                (7, _) => numbers(value, &mut compact.waking[0]),
                (8, _) => numbers(value, &mut compact.waking[1]),
                (9, _) => numbers(value, &mut compact.waking[2]),
                (10, _) => numbers(value, &mut compact.waking[3]),
                (11, _) => numbers(value, &mut compact.waking[4]),
                (12, _) => numbers(value, &mut compact.waking[5]),
                _ => (),
            }
        }
        for times in [&mut compact.switch[0], &mut compact.waking[0]] {
            let mut time = 0u64;
            for one in times {
                time = time.wrapping_add(*one);
                *one = time;
            }
        }
        compact
    }

    fn name(&self, index: u64) -> Option<(&'a [u8], Comm)> {
        self.names.get(usize::try_from(index).ok()?).copied()
    }

    fn is_consistent(&self) -> bool {
        let switches = self.switch[0].len();
        let wakings = self.waking[0].len();
        self.switch.iter().all(|column| column.len() == switches)
            && self.waking[..5].iter().all(|column| column.len() == wakings)
            && (self.waking[5].is_empty() || self.waking[5].len() == wakings)
    }
}

fn int32(bits: u64) -> i64 {
    i64::from((bits as u32).cast_signed())
}

/// The destination of the rows of one bundle.
struct Out<'a> {
    world: &'a mut World,
    sink: &'a mut Sink,
    bundle: &'a Bundle,
    switch: EventPlan,
    waking: EventPlan,
    running: Option<Running>,
    /// Renamed threads that are still to come.
    renames: Peekable<std::slice::Iter<'a, Rename>>,
}

/// Put switches and wakeups into rows, in order of time.
pub fn rows(ftrace: &mut Ftrace, world: &mut World, sink: &mut Sink, bundle: &Bundle, message: &[u8]) {
    let compact = Compact::of(message, &mut ftrace.comms);
    if !compact.is_consistent() {
        world.notes.add("columns of compact switches differ in length", 1, true, String::new);
    }
    let Some((switch, waking)) = ftrace.scheduling(world, sink) else {
        return;
    };
    let running = ftrace.running.remove(&bundle.cpu);
    let renames = ftrace.renames.iter().peekable();
    let mut out = Out { world, sink, bundle, switch, waking, running, renames };
    let (mut switches, mut wakings) = (0, 0);
    loop {
        let next = (compact.switch[0].get(switches), compact.waking[0].get(wakings));
        match next {
            (Some(switch), waking) if waking.is_none_or(|waking| switch <= waking) => {
                out.switch(&compact, switches, *switch);
                switches += 1;
            }
            (_, Some(waking)) => {
                out.waking(&compact, wakings, *waking);
                wakings += 1;
            }
            _ => break,
        }
    }
    out.rename(u64::MAX);
    let running = out.running;
    let mut renames = ftrace.renames.iter().peekable();
    for ((time, pid), name) in compact.switch[0].iter().zip(&compact.switch[2]).zip(&compact.switch[4]) {
        while let Some(rename) = renames.next_if(|rename| rename.time <= *time) {
            ftrace.comms.put(rename.pid, rename.comm);
        }
        if let Some((_, comm)) = compact.name(*name) {
            ftrace.comms.put(int32(*pid), comm);
        }
    }
    renames.for_each(|rename| ftrace.comms.put(rename.pid, rename.comm));
    if let Some(running) = running {
        ftrace.running.insert(bundle.cpu, running);
    }
}

impl Out<'_> {
    /// Rename the running thread as it was until a time.
    fn rename(&mut self, time: u64) {
        while let Some(rename) = self.renames.next_if(|rename| rename.time <= time) {
            if let Some(running) = &mut self.running {
                running.rename(rename);
            }
        }
    }

    /// The columns of every event for the running thread.
    fn head(&mut self, time: u64, flags: Option<i64>) -> Option<Head> {
        self.rename(time);
        Some(Head {
            time: self.bundle.time(self.world, time)?,
            cpu: self.bundle.cpu,
            pid: self.running.as_ref().map(|running| running.pid),
            flags,
            line: self.world.next_line(),
        })
    }

    /// An event from before the events of all CPUs are complete.
    fn early(&mut self, head: &Head, name: &str, args: &[(&str, Option<i64>)], comm: &[u8]) {
        let mut json = Json::default();
        json.raw(b"{");
        for (key, value) in args {
            if let Some(value) = value {
                json.key(key.as_bytes());
                json.int(*value);
            }
        }
        json.key(if name == "sched_switch" { b"next_comm" } else { b"comm" });
        json.string(comm);
        json.raw(b"}");
        let running = self.running.as_ref().map(|running| &running.comm);
        super::early::row(self.world, self.sink, head, running, (name, &json));
    }

    fn switch(&mut self, compact: &Compact<'_>, place: usize, time: u64) {
        let column = |which: usize| compact.switch.get(which).and_then(|column| column.get(place)).copied();
        let named = column(4).and_then(|index| compact.name(index));
        let next = Running {
            pid: int32(column(2).unwrap_or(0)),
            prio: int32(column(3).unwrap_or(0)),
            comm: named.map(|(_, comm)| comm).unwrap_or_default(),
        };
        let Some(head) = self.head(time, None) else {
            self.running = Some(next);
            return;
        };
        if head.time < self.bundle.whole {
            let args = [
                ("prev_state", column(1).map(u64::cast_signed)),
                ("next_pid", Some(next.pid)),
                ("next_prio", Some(next.prio)),
            ];
            let comm = named.map_or(&b""[..], |(text, _)| text);
            self.early(&head, "sched_switch", &args, comm);
            self.running = Some(next);
            return;
        }
        let plan = &mut self.switch;
        plan.start(self.sink, &head, self.running.as_ref().map(|running| &running.comm));
        let rows = self.sink.rows(plan.table);
        if let Some(running) = &self.running {
            running.comm.put(rows, plan.column(1));
            rows.int(plan.column(2), running.pid);
            rows.int(plan.column(3), running.prio);
        }
        if let Some(state) = column(1) {
            let kernel = self.world.kernel;
            let number = states::number(state, kernel);
            rows.numbered(plan.column(4), number, || states::text(state, kernel));
        }
        next.comm.put(rows, plan.column(5));
        rows.int(plan.column(6), next.pid);
        rows.int(plan.column(7), next.prio);
        self.sink.end(plan.table);
        self.running = Some(next);
    }

    fn waking(&mut self, compact: &Compact<'_>, place: usize, time: u64) {
        let column = |which: usize| compact.waking.get(which).and_then(|column| column.get(place)).copied();
        let Some(head) = self.head(time, column(5).map(u64::cast_signed)) else {
            return;
        };
        let named = column(4).and_then(|index| compact.name(index));
        if head.time < self.bundle.whole {
            let args =
                [("pid", column(1).map(int32)), ("prio", column(3).map(int32)), ("target_cpu", column(2).map(int32))];
            let comm = named.map_or(&b""[..], |(text, _)| text);
            return self.early(&head, "sched_waking", &args, comm);
        }
        let plan = &mut self.waking;
        plan.start(self.sink, &head, self.running.as_ref().map(|running| &running.comm));
        let rows = self.sink.rows(plan.table);
        if let Some((name, comm)) = named {
            comm.put_text(rows, plan.column(1), name);
        }
        put_int(rows, plan.column(2), column(1).map(int32));
        put_int(rows, plan.column(3), column(3).map(int32));
        rows.int(plan.column(4), 1);
        put_int(rows, plan.column(5), column(2).map(int32));
        self.sink.end(plan.table);
    }
}
