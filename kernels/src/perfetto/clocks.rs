//! Convert times of many clocks into times of the trace's clock, by snapshots of clocks read at the same moment.

use rustc_hash::{FxHashMap, FxHashSet};

use super::wire::{Fields, Value};

pub const REALTIME: u64 = 1;
pub const MONOTONIC: u64 = 3;
pub const MONOTONIC_COARSE: u64 = 4;
pub const MONOTONIC_RAW: u64 = 5;
pub const BOOTTIME: u64 = 6;
/// The kernel's own clock, as used by its ring buffers; not a number of the protocol.
pub const FTRACE: u64 = 1 << 40;
/// Clocks counted separately by each sequence of packets.
const OWN: std::ops::Range<u64> = 64..128;

/// Times from here on, 146 years, are impossible: the difference of two possible ones does not overflow.
pub const MOST_TIME: i64 = 1 << 62;
/// Maximum number of snapshots; later ones are dropped.
const MOST_SNAPSHOTS: usize = 1 << 16;
/// Maximum number of clocks in a snapshot.
const MOST_CLOCKS: usize = 64;
/// The bit from which on ids of clocks contain the position of their machine.
const MACHINE: u32 = 49;
/// Maximum number of machines besides the recording one; later ones share the clocks of the last.
const MOST_MACHINES: u64 = (1 << (u64::BITS - MACHINE)) - 1;

/// The unit of a sequence's clock that does not count nanoseconds.
#[derive(Clone, Copy)]
struct Own {
    multiplier: i64,
    incremental: bool,
    last: i64,
}

/// Pairs of times of two clocks, the first ascending.
#[derive(Default)]
struct Pairs {
    times: Vec<(i64, i64)>,
    /// Snapshots examined so far.
    seen: usize,
}

impl Pairs {
    fn add(&mut self, from: i64, to: i64) {
        match self.times.last() {
            Some((last, _)) if *last > from => {
                let place = self.times.partition_point(|(time, _)| *time <= from);
                self.times.insert(place, (from, to));
            }
            _ => self.times.push((from, to)),
        }
    }

    /// The time by the last pair before it, or by the first pair.
    fn convert(&self, time: i64) -> Option<i64> {
        let place = self.times.partition_point(|(from, _)| *from <= time);
        let (from, to) = self.times.get(place.saturating_sub(1))?;
        Some(time.saturating_sub(*from).saturating_add(*to))
    }
}

/// All clocks of a trace.
#[derive(Default)]
pub struct Clocks {
    /// The clock of `_ts`.
    main: u64,
    /// Whether a snapshot has named it.
    named: bool,
    snapshots: Vec<Vec<(u64, i64)>>,
    /// Clocks that occur together in a snapshot.
    edges: FxHashMap<u64, FxHashSet<u64>>,
    pairs: FxHashMap<(u64, u64), Pairs>,
    routes: FxHashMap<u64, Vec<u64>>,
    own: FxHashMap<u64, Own>,
    /// The positions of machines besides the recording one, from 1 on.
    machines: FxHashMap<u32, u64>,
    /// The part of ids that says which machine's clocks are meant; 0 for the recording one's.
    machine: u64,
    /// The same part for the machine that tells the time of day: the recording one, if it has snapshots.
    home: Option<u64>,
    /// Number of dropped snapshots.
    pub left_out: u64,
    /// Number of impossible times of clocks in snapshots.
    pub impossible: u64,
}

/// The number of a clock that is unique in the whole trace.
pub fn unique_id(clock: u64, sequence: u32) -> u64 {
    match OWN.contains(&clock) {
        true => u64::from(sequence) << 8 | clock | 1 << 48,
        false => clock,
    }
}

impl Clocks {
    pub fn new() -> Clocks {
        Clocks { main: BOOTTIME, ..Clocks::default() }
    }

    pub fn main(&self) -> u64 {
        self.main
    }

    /// Take clocks for those of a machine from now on. Times of its main clock are taken for those of the trace's.
    pub fn of_machine(&mut self, machine: u32) {
        self.machine = 0;
        if machine != 0 {
            let position = (self.machines.len() as u64 + 1).min(MOST_MACHINES);
            self.machine = *self.machines.entry(machine).or_insert(position) << MACHINE;
        }
    }

    /// The main clock of the current machine.
    fn target(&self) -> u64 {
        self.main | self.machine
    }

    /// The name of the clock of `_ts`; `trace` if no snapshot names it.
    pub fn name(&self) -> &'static str {
        if self.snapshots.is_empty() {
            return "trace";
        }
        match self.main {
            1 => "realtime",
            2 => "realtime_coarse",
            MONOTONIC => "monotonic",
            MONOTONIC_COARSE => "monotonic_coarse",
            MONOTONIC_RAW => "monotonic_raw",
            BOOTTIME => "boottime",
            9 => "tsc",
            10 => "perf",
            _ => "trace",
        }
    }

    /// Add a message `ClockSnapshot` of a sequence. A clock with an impossible time is skipped.
    pub fn snapshot(&mut self, message: &[u8], sequence: u32) {
        let mut clocks = Vec::new();
        for (number, value) in Fields::of(message) {
            match (number, value) {
                (1, Value::Bytes(clock)) if clocks.len() < MOST_CLOCKS => clocks.extend(self.clock(clock, sequence)),
                (2, Value::Varint(main)) if !self.named => {
                    self.main = main;
                    self.named = true;
                }
                _ => (),
            }
        }
        self.together(clocks);
    }

    /// Add times of clocks at the same moment.
    pub fn together(&mut self, clocks: Vec<(u64, i64)>) {
        if self.snapshots.len() >= MOST_SNAPSHOTS {
            self.left_out += 1;
            return;
        }
        self.home = Some(self.home.map_or(self.machine, |home| home.min(self.machine)));
        let clocks: Vec<_> = clocks.into_iter().map(|(clock, time)| (clock | self.machine, time)).collect();
        for (clock, _) in &clocks {
            let known = self.edges.entry(*clock).or_default();
            let before = known.len();
            known.extend(clocks.iter().map(|(other, _)| *other).filter(|other| other != clock));
            if known.len() > before {
                self.routes.clear();
            }
        }
        self.snapshots.push(clocks);
    }

    fn clock(&mut self, message: &[u8], sequence: u32) -> Option<(u64, i64)> {
        let (mut id, mut time, mut incremental, mut multiplier) = (0, 0i64, false, 1);
        for (number, value) in Fields::of(message) {
            match (number, value) {
                (1, Value::Varint(bits)) => id = bits,
                (2, Value::Varint(bits)) => time = bits.cast_signed(),
                (3, Value::Varint(bits)) => incremental = bits != 0,
                (4, Value::Varint(bits)) => multiplier = bits.cast_signed().max(1),
                _ => (),
            }
        }
        let clock = unique_id(id, sequence);
        let time = time.saturating_mul(multiplier);
        if !(0..MOST_TIME).contains(&time) {
            self.impossible += 1;
            return None;
        }
        if clock != id || incremental || multiplier != 1 {
            let own = Own { multiplier, incremental, last: time };
            self.own.insert(clock | self.machine, own);
        }
        Some((clock, time))
    }

    /// A time of a clock, in the units of a sequence's packets, in nanoseconds of the trace's clock.
    ///
    /// None if no snapshots lead from one clock to the other.
    #[inline]
    pub fn convert(&mut self, clock: u64, sequence: u32, time: i64) -> Option<i64> {
        let clock = unique_id(clock, sequence) | self.machine;
        if clock == self.target() {
            return Some(time);
        }
        let mut time = time;
        if let Some(own) = self.own.get_mut(&clock) {
            time = time.saturating_mul(own.multiplier);
            if own.incremental {
                own.last = own.last.saturating_add(time);
                time = own.last;
            }
        }
        self.by_main(clock, time)
    }

    /// Nanoseconds of a clock of the current machine in nanoseconds of the trace's clock.
    fn by_main(&mut self, clock: u64, time: i64) -> Option<i64> {
        let route = match self.routes.get(&clock) {
            Some(route) => route.clone(),
            None => {
                let route = self.route(clock, self.target());
                self.routes.insert(clock, route.clone());
                route
            }
        };
        self.along(&route, time)
    }

    /// A time of the trace's clock as a time of another one.
    pub fn of_clock(&mut self, clock: u64, time: i64) -> Option<i64> {
        if clock == self.main {
            return Some(time);
        }
        let machine = self.home?;
        let route = self.route(self.main | machine, clock | machine);
        self.along(&route, time)
    }

    fn along(&mut self, route: &[u64], mut time: i64) -> Option<i64> {
        if route.is_empty() {
            return None;
        }
        for step in route.windows(2) {
            let (Some(from), Some(to)) = (step.first(), step.last()) else {
                return None;
            };
            time = self.step(*from, *to)?.convert(time)?;
        }
        Some(time)
    }

    fn step(&mut self, from: u64, to: u64) -> Option<&Pairs> {
        let pairs = self.pairs.entry((from, to)).or_default();
        for snapshot in self.snapshots.get(pairs.seen..)? {
            let find = |wanted: u64| snapshot.iter().find(|(clock, _)| *clock == wanted);
            if let (Some((_, time)), Some((_, other))) = (find(from), find(to)) {
                pairs.add(*time, *other);
            }
        }
        pairs.seen = self.snapshots.len();
        Some(pairs)
    }

    /// The shortest path from one clock to another, both included; empty if there is none.
    fn route(&self, from: u64, to: u64) -> Vec<u64> {
        let mut came: FxHashMap<u64, u64> = FxHashMap::default();
        let mut layer = vec![from];
        while !layer.is_empty() && !came.contains_key(&to) {
            let mut next = Vec::new();
            for clock in layer {
                let mut others: Vec<u64> = self.edges.get(&clock).into_iter().flatten().copied().collect();
                others.sort_unstable();
                for other in others {
                    if other != from && !came.contains_key(&other) {
                        came.insert(other, clock);
                        next.push(other);
                    }
                }
            }
            layer = next;
        }
        let mut route = Vec::new();
        let mut here = to;
        while let Some(before) = came.get(&here) {
            route.push(here);
            here = *before;
        }
        if !route.is_empty() {
            route.push(from);
        }
        route.reverse();
        route
    }
}
