//! Decode the bundles of one CPU's ftrace events into one table for each event, with the kernel's names.

use rustc_hash::FxHashMap;

use super::clocks::{BOOTTIME, FTRACE, MONOTONIC_RAW};
use super::comms::{Comm, Comms};
use super::ftrace_plan::{Conv, EventPlan, Head, Slot};
use super::json::Json;
use super::marks::Marks;
use super::schema::{Field, Kind};
use super::sequence::KERNEL_SYMBOLS;
use super::wire::{Fields, Value};
use super::world::{Packet, World};
use crate::rows::Sink;

/// Fields of `FtraceEvent` with smaller numbers are found without hashing.
const DENSE: u32 = 2048;

/// The events with code of their own.
#[derive(Clone, Copy, Default)]
struct Special {
    print: u32,
    mark: u32,
    generic: u32,
    switch: u32,
    waking: u32,
    rename: u32,
}

/// Decodes bundles.
pub struct Ftrace {
    message: usize,
    special: Special,
    dense: Vec<Option<Box<EventPlan>>>,
    sparse: FxHashMap<u32, Box<EventPlan>>,
    marks: Marks,
    pub generic: super::ftrace_generic::GenericEvents,
    /// The last running thread of each CPU, according to compact switches.
    pub running: FxHashMap<i64, super::compact::Running>,
    pub comms: Comms,
    /// The threads that were renamed in the current bundle, by time.
    pub renames: Vec<Rename>,
    scratch: Json,
}

/// A new name of a thread, and its time by the bundle's clock.
pub struct Rename {
    pub time: u64,
    pub pid: i64,
    pub comm: Comm,
}

/// The data of a bundle that apply to all its events.
#[derive(Clone, Copy)]
pub struct Bundle {
    pub cpu: i64,
    pub clock: u64,
    pub sequence: u32,
    pub lost: bool,
    /// Earlier events are separated, since those of other CPUs are missing there.
    pub whole: i64,
}

impl Bundle {
    /// A time of an event; None if it is impossible, which is counted.
    #[inline]
    pub fn time(&self, world: &mut World, time: u64) -> Option<i64> {
        let time = match self.clock == world.clocks.main() {
            true => world.own_time(time),
            false => world.time(self.clock, self.sequence, time),
        };
        world.kernel_end = world.kernel_end.max(time);
        time
    }
}

/// The clock of a bundle by its number there; None for an unknown one.
pub fn clock(number: u64) -> Option<u64> {
    match number {
        0 => Some(BOOTTIME),
        4 => Some(MONOTONIC_RAW),
        2 => Some(FTRACE),
        _ => None,
    }
}

impl Ftrace {
    pub fn new(world: &World) -> Ftrace {
        let message = world.schema.find("FtraceEvent").unwrap_or(usize::MAX);
        let number = |name: &str| {
            let found = world.schema.message(message).and_then(|message| message.named(name));
            found.map_or(u32::MAX, |field| field.number)
        };
        Ftrace {
            message,
            special: Special {
                print: number("print"),
                mark: number("tracing_mark_write"),
                generic: number("generic"),
                switch: number("sched_switch"),
                waking: number("sched_waking"),
                rename: number("task_rename"),
            },
            dense: Vec::new(),
            sparse: FxHashMap::default(),
            marks: Marks::default(),
            generic: super::ftrace_generic::GenericEvents::default(),
            running: FxHashMap::default(),
            comms: Comms::default(),
            renames: Vec::new(),
            scratch: Json::default(),
        }
    }

    /// Put a message `FtraceEventBundle` into rows.
    pub fn bundle(&mut self, world: &mut World, sink: &mut Sink, packet: &Packet, message: &[u8]) {
        let bundle = self.head(world, packet, message);
        let mut fields = Fields::of(message);
        let mut compact = Vec::new();
        let mut any = false;
        self.renames.clear();
        while let Some((number, value)) = fields.one() {
            match (number, value) {
                (2, Value::Bytes(event)) => {
                    any = true;
                    self.event(world, sink, &bundle, event);
                }
                (4, Value::Bytes(switches)) => compact.push(switches),
                (8, Value::Bytes(error)) => {
                    let status = super::wire::number(error, 2).unwrap_or(0);
                    world.notes.add("ftrace pages that the recorder could not read", 1, true, || {
                        format!("cpu {}, status {status}", bundle.cpu)
                    });
                }
                (512, _) => world.notes.add("broken ftrace page", 1, true, String::new),
                _ => (),
            }
        }
        // Names of the threads that switches leave are those which other events gave them.
        for switches in &compact {
            super::compact::rows(self, world, sink, &bundle, switches);
        }
        if compact.is_empty()
            && let Some(running) = self.running.get_mut(&bundle.cpu)
        {
            self.renames.iter().for_each(|rename| running.rename(rename));
        }
        if any || !compact.is_empty() {
            world.kernel_of(packet.machine);
        }
        if fields.damaged() {
            world.notes.add("damaged ftrace bundle", 1, true, String::new);
        }
    }

    fn head(&mut self, world: &mut World, packet: &Packet, message: &[u8]) -> Bundle {
        let mut bundle = Bundle { cpu: 0, clock: BOOTTIME, sequence: packet.sequence, lost: false, whole: i64::MIN };
        let (mut number_of_clock, mut ftrace, mut boot) = (0, None, None);
        for (number, value) in Fields::of(message) {
            match (number, value) {
                (1, Value::Varint(cpu)) => bundle.cpu = cpu.cast_signed(),
                (3, Value::Varint(lost)) => bundle.lost = lost != 0,
                (5, Value::Varint(number)) => number_of_clock = number,
                (6, Value::Varint(time)) => ftrace = Some(time.cast_signed()),
                (7, Value::Varint(time)) => boot = Some(time.cast_signed()),
                (11, Value::Bytes(described)) => self.describe(world, described),
                _ => (),
            }
        }
        if bundle.lost {
            let reason = format!("events of cpu {} were lost before a bundle", bundle.cpu);
            world.notes.add(&reason, 1, false, String::new);
            self.running.remove(&bundle.cpu);
        }
        bundle.clock = clock(number_of_clock).unwrap_or_else(|| {
            let reason = "ftrace clock that no other clock is known by";
            world.notes.add(reason, 1, false, || format!("clock {number_of_clock}"));
            world.clocks.main()
        });
        if let (FTRACE, Some(ftrace), Some(boot)) = (bundle.clock, ftrace, boot) {
            world.clocks.together(vec![(FTRACE, ftrace), (BOOTTIME, boot)]);
        }
        let start = std::mem::take(&mut world.start);
        bundle.whole = start.of_bundles(world, bundle.clock);
        world.start = start;
        bundle
    }

    /// Add a message `GenericEventDescriptor`: an event that is specific to this trace.
    fn describe(&mut self, world: &mut World, message: &[u8]) {
        let (Some(number), Some(descriptor)) = (super::wire::number(message, 1), super::wire::bytes(message, 2)) else {
            return;
        };
        let known = world.schema.message(self.message).and_then(|message| message.field(number as u32));
        if known.is_none()
            && let Some((message, name)) = world.schema.add_alone(descriptor)
        {
            let field = Field { name, number: number as u32, kind: Kind::Message(message), repeated: false };
            world.schema.add_field(self.message, field);
        }
    }

    #[inline]
    fn event(&mut self, world: &mut World, sink: &mut Sink, bundle: &Bundle, message: &[u8]) {
        let (mut time, mut pid, mut flags) = (0, None, None);
        let mut first_event = None;
        let mut more = Vec::new();
        for (number, value) in Fields::of(message) {
            match (number, value) {
                (1, Value::Varint(bits)) => time = bits,
                (2, Value::Varint(bits)) => pid = Some(i64::from((bits as u32).cast_signed())),
                (5, Value::Varint(bits)) => flags = Some(bits.cast_signed()),
                (_, Value::Bytes(event)) if first_event.is_none() => first_event = Some((number, event)),
                _ => more.push((number, value)),
            }
        }
        let raw = time;
        let Some(time) = bundle.time(world, time) else {
            return;
        };
        let head = Head { time, cpu: bundle.cpu, pid, flags, line: world.next_line() };
        match first_event {
            Some((number, event)) => {
                self.typed_event(world, sink, bundle, &head, number, event);
                if number == self.special.rename {
                    self.rename(raw, event);
                }
            }
            None => {
                world.notes.add("ftrace event without contents", 1, false, String::new);
                super::ftrace_generic::unknown(sink, &head, 0, b"");
            }
        }
        for (number, value) in more {
            match value {
                Value::Bytes(event) => self.typed_event(world, sink, bundle, &head, number, event),
                _ => world.notes.add("unknown field of an ftrace event", 1, false, || format!("field {number}")),
            }
        }
    }

    /// A message `TaskRenameFtraceEvent`.
    fn rename(&mut self, time: u64, message: &[u8]) {
        if let Some(name) = super::wire::bytes(message, 3) {
            let pid = super::tracks::int(message, 1);
            let comm = self.comms.keep(pid, name);
            self.renames.push(Rename { time, pid, comm });
        }
    }

    fn typed_event(
        &mut self,
        world: &mut World,
        sink: &mut Sink,
        bundle: &Bundle,
        head: &Head,
        number: u32,
        event: &[u8],
    ) {
        if head.time < bundle.whole {
            return self.early(world, sink, head, number, event);
        }
        let special = self.special;
        if number == special.print {
            return self.marks.print(world, sink, head, self.comms.get(head.pid.unwrap_or(-1)).as_ref(), event);
        }
        if number == special.mark {
            return self.marks.old(sink, head, event);
        }
        if number == special.generic {
            return self.generic.row(world, sink, head, event);
        }
        let comm = head.pid.and_then(|pid| self.comms.get(pid));
        if !self.plan(world, sink, number) {
            world.notes.add("ftrace event that no descriptor describes", 1, false, || {
                format!("field {number} of FtraceEvent")
            });
            return super::ftrace_generic::unknown(sink, head, number, event);
        }
        let plan = match number < DENSE {
            true => self.dense.get_mut(number as usize).and_then(Option::as_mut),
            false => self.sparse.get_mut(&number),
        };
        if let Some(plan) = plan {
            plan.start(sink, head, comm.as_ref());
            let parts = (comm.unwrap_or_default(), &mut self.scratch);
            let named = fill(world, sink, plan, parts, bundle.sequence, event);
            if let Some((pid, comm, column)) = named {
                let kept = self.comms.keep(pid, comm);
                kept.put_text(sink.rows(plan.table), column, comm);
            }
            sink.end(plan.table);
        }
    }

    /// An event from before the events of all CPUs are complete; the name that it gives a thread is stored.
    fn early(&mut self, world: &mut World, sink: &mut Sink, head: &Head, number: u32, event: &[u8]) {
        if number == self.special.switch
            && let (Some(next), Some(comm)) = (super::wire::number(event, 6), super::wire::bytes(event, 5))
        {
            self.comms.keep(i64::from((next as u32).cast_signed()), comm);
        }
        let field = world.schema.message(self.message).and_then(|message| message.field(number));
        let (name, message) = match field.map(|field| (field.name.as_str(), field.kind)) {
            Some((name, Kind::Message(message))) => (name.to_owned(), message),
            _ => (format!("field {number}"), usize::MAX),
        };
        self.scratch.clear();
        self.scratch.message(&world.schema, message, event, 0);
        let comm = self.comms.get(head.pid.unwrap_or(-1));
        let named = (name.as_str(), &self.scratch);
        super::early::row(world, sink, head, comm.as_ref(), named);
    }

    /// Whether an event has a table, which is created for the first event.
    fn plan(&mut self, world: &World, sink: &mut Sink, number: u32) -> bool {
        if number < DENSE {
            match self.dense.get(number as usize) {
                Some(Some(_)) => return true,
                Some(None) => (),
                None => self.dense.resize_with(number as usize + 1, || None),
            }
        } else if self.sparse.contains_key(&number) {
            return true;
        }
        let field = world.schema.message(self.message).and_then(|message| message.field(number));
        let Some(Kind::Message(message)) = field.map(|field| field.kind) else {
            return false;
        };
        let name = field.map(|field| field.name.as_str()).unwrap_or_default();
        let plan = Box::new(EventPlan::new(&world.schema, sink, name, message));
        match self.dense.get_mut(number as usize) {
            Some(slot) if number < DENSE => *slot = Some(plan),
            _ => {
                self.sparse.insert(number, plan);
            }
        }
        true
    }

    /// The plans of switches and wakeups, which compact ones share.
    pub fn scheduling(&mut self, world: &World, sink: &mut Sink) -> Option<(EventPlan, EventPlan)> {
        let Special { switch, waking, .. } = self.special;
        (self.plan(world, sink, switch) && self.plan(world, sink, waking)).then_some(())?;
        let get = |number: u32| self.dense.get(number as usize).and_then(|plan| plan.as_deref().cloned());
        Some((get(switch)?, get(waking)?))
    }
}

/// Put the fields of an event into its row; returns the thread that runs next if there is one, its name, and the name's
/// column.
#[inline]
fn fill<'a>(
    world: &mut World,
    sink: &mut Sink,
    plan: &mut EventPlan,
    (running, scratch): (Comm, &mut Json),
    sequence: u32,
    event: &'a [u8],
) -> Option<(i64, &'a [u8], usize)> {
    let (mut pid, mut next) = (0, None);
    let mut state = plan.state;
    let mut rest: Vec<(u32, Value<'_>)> = Vec::new();
    let mut fields = Fields::of(event);
    let rows = sink.rows(plan.table);
    while let Some((number, value)) = fields.one() {
        let Slot { column, conv } = plan.slot(number);
        let column = column as usize;
        match (conv, value) {
            (Conv::Int, Value::Varint(bits)) => rows.int(column, bits.cast_signed()),
            (Conv::Int32, Value::Varint(bits)) => rows.int(column, i64::from((bits as u32).cast_signed())),
            (Conv::Uint, Value::Varint(bits)) => rows.uint(column, bits),
            (Conv::Uint32, Value::Varint(bits)) => rows.int(column, i64::from(bits as u32)),
            (Conv::Text, Value::Bytes(text)) => running.put_text(rows, column, text),
            (Conv::NextPid, Value::Varint(bits)) => {
                pid = i64::from((bits as u32).cast_signed());
                rows.int(column, pid);
            }
            (Conv::NextComm, Value::Bytes(text)) => {
                if let Some((first, column)) = next.replace((text, column)) {
                    rows.text(column, first);
                }
            }
            (Conv::State, Value::Varint(bits)) => {
                state = None;
                let number = super::states::number(bits, world.kernel);
                rows.numbered(column, number, || super::states::text(bits, world.kernel))
            }
            (Conv::Other(kind), _) => {
                if !super::generic::put(rows, column, &world.schema, kind, value) {
                    rest.push((number, value));
                }
            }
            (Conv::Symbol, Value::Varint(bits)) => {
                let interned = &world.sequences.get(sequence).interned;
                match interned.text(KERNEL_SYMBOLS, bits) {
                    Some(name) => rows.text(column, name),
                    None => rows.text(column, format!("{bits:x}").as_bytes()),
                }
            }
            _ => rest.push((number, value)),
        }
    }
    // Zero is the field's default, and may be omitted.
    if let Some(column) = state {
        let number = super::states::number(0, world.kernel);
        rows.numbered(column, number, || super::states::text(0, world.kernel));
    }
    if fields.damaged() {
        world.notes.add("damaged ftrace event", 1, true, || plan.name.clone());
    }
    if !rest.is_empty() {
        plan.rest(world, sink, scratch, rest);
    }
    next.map(|(comm, column)| (pid, comm, column))
}
