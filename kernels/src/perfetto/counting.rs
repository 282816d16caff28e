//! Convert the counter values of track events, on counter tracks or with a slice, into rows of `counter`.

use super::sequence::Sequence;
use super::track_event::{Common, Event};
use super::tracks::Counting;
use super::world::{Packet, World};
use crate::rows::Sink;

/// Thread time (1, in µs) or instructions (2), since the last event or in total.
pub fn thread_time(sequence: &mut Sequence, event: &Event<'_>, which: usize) -> Option<i64> {
    let unit = if which == 1 { 1000 } else { 1 };
    if let Some(delta) = event.deltas[which] {
        let reference = sequence.reference.as_mut()?;
        reference[which] = reference[which].saturating_add(delta.saturating_mul(unit));
        return Some(reference[which]);
    }
    event.absolutes[which].map(|value| value.saturating_mul(unit))
}

/// The absolute value of a counter, from the values of a sequence.
fn absolute(sequence: &mut Sequence, track: usize, counting: Counting, amount: f64) -> f64 {
    let amount = amount * counting.multiplier.filter(|times| *times != 0).unwrap_or(1) as f64;
    if !counting.incremental {
        return amount;
    }
    let sum = sequence.sums.entry(track as u64).or_insert(0.0);
    *sum += amount;
    *sum
}

/// Values of counters in an event.
pub fn count(world: &mut World, sink: &mut Sink, packet: &Packet, event: &Event<'_>, common: &mut Common) {
    if event.values.is_empty() && event.double_values.is_empty() {
        return;
    }
    let defaults = world.sequences.get(packet.sequence).defaults.clone();
    let pick = |own: &[u64], known: fn(&super::sequence::Defaults) -> &Vec<u64>| match own.is_empty() {
        false => own.to_vec(),
        true => defaults.as_deref().map(|defaults| known(defaults).clone()).unwrap_or_default(),
    };
    let whole = pick(&event.counters, |defaults| &defaults.counters);
    let floats = pick(&event.double_counters, |defaults| &defaults.double_counters);
    let surplus =
        event.values.len().saturating_sub(whole.len()) + event.double_values.len().saturating_sub(floats.len());
    if surplus > 0 {
        world.notes.add("counter value without a track", surplus as u64, false, String::new);
    }
    let amount = whole.iter().zip(&event.values).chain(floats.iter().zip(&event.double_values));
    for (uuid, value) in amount {
        let track = world.tracks.of(*uuid);
        let counting = world.tracks.get(track).map(|track| track.counting).unwrap_or_default();
        let value = absolute(world.sequences.get(packet.sequence), track, counting, *value);
        match counting.builtin {
            1 => common.thread_time = Some(value as i64),
            2 => common.instructions = Some(value as i64),
            _ => (),
        }
        common.value(world, sink, track, value);
    }
}

pub fn counter(world: &mut World, sink: &mut Sink, packet: &Packet, event: &Event<'_>, common: &Common) {
    let track = world.tracks.get(common.track);
    let counting = track.map(|track| track.counting).unwrap_or_default();
    match event.value {
        Some(value) => {
            let value = absolute(world.sequences.get(packet.sequence), common.track, counting, value);
            common.value(world, sink, common.track, value);
        }
        None => world.notes.add("counter event without a value", 1, false, String::new),
    }
}

/// Thread time and instructions in an event of an old writer are counters of its thread.
pub fn of_thread(world: &mut World, sink: &mut Sink, event: &Event<'_>, common: &Common) {
    let (Some(pid), Some(tid)) = (common.pid, common.tid) else {
        return;
    };
    let amount = [(1, "thread_time", common.thread_time), (2, "thread_instruction_count", common.instructions)];
    for (which, name, value) in amount {
        let amount = event.deltas[which].or(event.absolutes[which]).is_some();
        if let Some(value) = value.filter(|_| amount) {
            let track = world.tracks.thread_counter(name, pid, tid);
            common.value(world, sink, track, value as f64);
        }
    }
}
