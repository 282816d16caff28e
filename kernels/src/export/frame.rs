//! The packets around the events of a Perfetto trace: its clocks, its system, its start and end.

use super::message::Message;

const PACKET: u32 = 1;
const CLOCKS: u32 = 6;
const TIMESTAMP: u32 = 8;
const SEQUENCE: u32 = 10;
const SEQUENCE_FLAGS: u32 = 13;
const SYSTEM: u32 = 45;
const SERVICE: u32 = 69;
const REALTIME: u64 = 1;
const BOOTTIME: u64 = 6;
const STARTED: u32 = 2;
const DISABLED: u32 = 5;

/// Metadata of a trace as a whole.
#[derive(Default)]
pub struct TraceMetadata {
    /// The clock of its times, by Perfetto's number.
    pub clock: u64,
    /// The time of `_ts` 0 by that clock, and since 1970.
    pub start: i64,
    pub unix: Option<i64>,
    /// Name, version, release and machine of the system.
    pub system: [Option<String>; 4],
}

fn packet(out: &mut Vec<u8>, inner: &Message) {
    let mut message = Message(std::mem::take(out));
    message.message(PACKET, inner);
    *out = message.0;
}

/// The packets before all events.
///
/// Viewers treat times of the kernel as those of the boot clock, so another clock is declared equal to it.
pub fn header(metadata: &TraceMetadata, sequence: u64) -> Vec<u8> {
    let mut out = Vec::new();
    let mut clocks = Message::default();
    let mut clock = |id: u64, time: i64| {
        let mut one = Message::default();
        one.varint(1, id);
        one.varint(2, time.max(0).cast_unsigned());
        clocks.message(1, &one);
    };
    clock(metadata.clock, metadata.start);
    if metadata.clock != BOOTTIME {
        clock(BOOTTIME, metadata.start);
    }
    if let (Some(unix), true) = (metadata.unix, metadata.clock != REALTIME) {
        clock(REALTIME, unix);
    }
    clocks.varint(2, metadata.clock);
    let mut first = Message::default();
    first.varint(SEQUENCE, sequence);
    // No packet before this one was lost.
    first.varint(SEQUENCE_FLAGS, 1);
    first.message(CLOCKS, &clocks);
    packet(&mut out, &first);
    if metadata.system.iter().any(Option::is_some) {
        let mut names = Message::default();
        for (number, text) in (1..).zip(&metadata.system) {
            if let Some(text) = text {
                names.bytes(number, text.as_bytes());
            }
        }
        let mut system = Message::default();
        system.message(1, &names);
        let mut second = Message::default();
        second.message(SYSTEM, &system);
        packet(&mut out, &second);
    }
    mark(&mut out, metadata.start, STARTED, sequence);
    out
}

/// The packets after all events; `end` is the time of the last one.
pub fn trailer(end: i64, sequence: u64) -> Vec<u8> {
    let mut out = Vec::new();
    mark(&mut out, end, DISABLED, sequence);
    out
}

fn mark(out: &mut Vec<u8>, time: i64, what: u32, sequence: u64) {
    let mut service = Message::default();
    service.varint(what, 1);
    let mut message = Message::default();
    message.varint(TIMESTAMP, time.max(0).cast_unsigned());
    message.varint(SEQUENCE, sequence);
    message.message(SERVICE, &service);
    packet(out, &message);
}

/// Major and minor number of a release such as `6.1.0-rc3`.
pub fn version(release: &str) -> Option<(u64, u64)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}
