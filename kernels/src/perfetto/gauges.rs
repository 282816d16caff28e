//! Put values of counters of the GPU, of power rails and of the battery on tracks, named by descriptors.

use rustc_hash::FxHashMap;

use super::polled::{Polled, value};
use super::sequence::GPU_COUNTERS;
use super::wire::{Fields, Value};
use super::world::{Packet, World};
use crate::rows::Sink;

/// Maximum number of names.
const MOST: usize = 1 << 16;

/// Names by the numbers in values.
#[derive(Default)]
pub struct Gauges {
    /// By machine, session and index.
    rails: FxHashMap<(Option<i64>, u64, u64), String>,
    counters: FxHashMap<(u64, u64), String>,
}

impl Gauges {
    /// A message `GpuCounterEvent`.
    pub fn gpu(&mut self, world: &mut World, sink: &mut Sink, packet: &Packet, message: &[u8]) {
        let mut gpu = super::wire::number(message, 3).unwrap_or(0);
        let mut owner = u64::from(packet.sequence) << 1;
        if let Some(id) = super::wire::number(message, 4) {
            owner = owner << 32 | id << 1 | 1;
            let interned = &world.sequences.get(packet.sequence).interned;
            if let Some(field) = interned.message(GPU_COUNTERS, id) {
                gpu = super::wire::number(field, 3).unwrap_or(gpu);
                let descriptor = super::wire::bytes(field, 2).unwrap_or_default().to_owned();
                self.describe(owner, &descriptor);
            }
        }
        if let Some(descriptor) = super::wire::bytes(message, 1) {
            self.describe(owner, descriptor);
        }
        let Some(time) = packet.time else {
            if super::wire::bytes(message, 2).is_some() {
                let reason = "GPU counters without a time";
                world.notes.add(reason, 1, false, String::new);
            }
            return;
        };
        for (number, field) in Fields::of(message) {
            let (2, Value::Bytes(counter)) = (number, field) else {
                continue;
            };
            let id = super::wire::number(counter, 1).unwrap_or(0);
            let whole = super::wire::number(counter, 2).map(|bits| bits.cast_signed() as f64);
            let field = whole.or_else(|| super::wire::number(counter, 3).map(f64::from_bits));
            let unnamed = || format!("counter {id}");
            let name = self.counters.get(&(owner, id)).cloned().unwrap_or_else(unnamed);
            let counter = Polled { name: name.as_bytes(), unit: "", pid: None, scope: &format!("gpu {gpu} {id}") };
            match field {
                Some(field) => value(world, sink, time, &counter, field),
                None => world.notes.add("GPU counter without a value", 1, false, unnamed),
            }
        }
    }

    fn describe(&mut self, owner: u64, descriptor: &[u8]) {
        for (number, field) in Fields::of(descriptor) {
            if let (1, Value::Bytes(spec)) = (number, field)
                && let Some(name) = super::wire::bytes(spec, 2)
                && self.counters.len() < MOST
            {
                let id = super::wire::number(spec, 1).unwrap_or(0);
                let name = String::from_utf8_lossy(name).into_owned();
                self.counters.insert((owner, id), name);
            }
        }
    }

    /// A message `PowerRails`.
    pub fn rails(&mut self, world: &mut World, sink: &mut Sink, packet: &Packet, message: &[u8]) {
        let session = super::wire::number(message, 3).unwrap_or(0);
        for (number, field) in Fields::of(message) {
            match (number, field) {
                (1, Value::Bytes(rail)) if self.rails.len() < MOST => {
                    let name = super::wire::bytes(rail, 2).unwrap_or_default();
                    let index = super::wire::number(rail, 1).unwrap_or(0);
                    let name = String::from_utf8_lossy(name).into_owned();
                    self.rails.insert((packet.machine, session, index), name);
                }
                (2, Value::Bytes(data)) => self.rail(world, sink, packet, (session, data)),
                _ => (),
            }
        }
    }

    /// A message `EnergyData` of a session.
    fn rail(&mut self, world: &mut World, sink: &mut Sink, packet: &Packet, (session, data): (u64, &[u8])) {
        let index = super::wire::number(data, 1).unwrap_or(0);
        let field = super::wire::number(data, 2).filter(|time| *time > 0);
        let time = match field {
            Some(millis) => world.time(super::clocks::BOOTTIME, packet.sequence, millis.saturating_mul(1_000_000)),
            None => packet.time,
        };
        let (Some(time), Some(energy)) = (time, super::wire::number(data, 3)) else {
            return;
        };
        let name = self.rails.get(&(packet.machine, session, index)).map_or_else(|| index.to_string(), String::clone);
        let name = format!("power.{name}");
        let counter = Polled {
            name: name.as_bytes(),
            unit: "uJ",
            pid: None,
            // Two sessions may count the same rail, each from its own start.
            scope: &match session {
                0 => "power".to_owned(),
                session => format!("power {session:x}"),
            },
        };
        value(world, sink, time, &counter, energy as f64);
    }
}

/// A message `BatteryCounters`.
pub fn battery(world: &mut World, sink: &mut Sink, packet: &Packet, message: &[u8]) {
    let Some(time) = packet.time else {
        return;
    };
    let name = super::wire::bytes(message, 5).map(|name| String::from_utf8_lossy(name).into_owned());
    for (number, field) in Fields::of(message) {
        let (what, field) = match (number, field) {
            (1, Value::Varint(bits)) => ("charge_uah", bits.cast_signed() as f64),
            (2, Value::Fixed32(bits)) => ("capacity_pct", f64::from(f32::from_bits(bits))),
            (3, Value::Varint(bits)) => ("current_ua", bits.cast_signed() as f64),
            (4, Value::Varint(bits)) => ("current.avg_ua", bits.cast_signed() as f64),
            (6, Value::Varint(bits)) => ("energy_uwh", bits.cast_signed() as f64),
            (7, Value::Varint(bits)) => ("voltage_uv", bits.cast_signed() as f64),
            _ => continue,
        };
        let whole = match &name {
            Some(name) => format!("batt.{name}.{what}"),
            None => format!("batt.{what}"),
        };
        let counter = Polled { name: whole.as_bytes(), unit: "", pid: None, scope: "battery" };
        value(world, sink, time, &counter, field);
    }
}
