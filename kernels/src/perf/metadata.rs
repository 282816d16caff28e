//! Parse the feature sections of a trace into properties, event names and tracepoint formats.

use rustc_hash::FxHashMap;

use super::attr::{Attr, Events};
use crate::input::bytes::{Bytes, until_zero};

/// Maximum number of build ids and other entries of lists.
const LIST: usize = 1 << 16;

/// The metadata of a trace besides its records.
#[derive(Default)]
pub struct Metadata {
    /// `file` or `pipe`.
    pub mode: &'static str,
    pub properties: Vec<(String, String)>,
    /// Numbers of events with their names, in old versions.
    pub types: Vec<(u64, String)>,
    /// Types of sources of events, with their names.
    pub pmus: Vec<(u32, String)>,
    /// Build ids: process (-1 for the kernel), id in hexadecimal, file.
    pub build_ids: Vec<(i64, String, Vec<u8>)>,
    /// Formats of tracepoints, as at the beginning of `trace.dat`.
    pub tracing: Vec<u8>,
    /// Numbers of tracepoints with their names.
    pub tracepoints: FxHashMap<u32, String>,
    /// Unix time, and the trace's clock at that time.
    pub clock: Option<(u64, u64)>,
}

impl Metadata {
    pub fn put(&mut self, key: &str, value: impl Into<String>) {
        let value = value.into();
        if !value.is_empty() && !self.properties.iter().any(|(known, _)| known == key) {
            self.properties.push((key.to_owned(), value));
        }
    }
}

/// Read one section; parts that end early are dropped.
pub fn feature(number: u32, bytes: Bytes<'_>, metadata: &mut Metadata, events: &mut Events) {
    const TEXTS: [(u32, &str); 6] =
        [(3, "host"), (4, "kernel"), (5, "tool"), (6, "architecture"), (8, "cpu_model"), (9, "cpu_id")];
    if let Some((_, key)) = TEXTS.iter().find(|(known, _)| *known == number) {
        let mut at = bytes;
        if let Some(text) = at.counted_text() {
            let text = plain(text);
            metadata.put(key, if number == 5 { format!("perf {text}") } else { text });
        }
        return;
    }
    let _: Option<()> = match number {
        1 => {
            metadata.tracing = bytes.rest().to_vec();
            None
        }
        2 => build_ids(bytes, metadata),
        7 => cpus(bytes, metadata),
        10 => total_memory(bytes, metadata),
        11 => command(bytes, metadata),
        12 => event_names(bytes, events),
        13 => topology(bytes, metadata),
        16 => pmus(bytes, metadata),
        21 => sample_time(bytes, metadata),
        23 => clockid(bytes, metadata),
        29 => clock_data(bytes, metadata),
        _ => None,
    };
}

fn plain(text: &[u8]) -> String {
    String::from_utf8_lossy(text).trim().to_owned()
}

fn cpus(mut at: Bytes<'_>, metadata: &mut Metadata) -> Option<()> {
    let available = at.u32()?;
    let online = at.u32()?;
    metadata.put("cpus", available.to_string());
    metadata.put("cpus_online", online.to_string());
    Some(())
}

fn total_memory(mut at: Bytes<'_>, metadata: &mut Metadata) -> Option<()> {
    metadata.put("memory_kb", at.u64()?.to_string());
    Some(())
}

fn command(mut at: Bytes<'_>, metadata: &mut Metadata) -> Option<()> {
    let count = at.u32()? as usize;
    let mut words: Vec<String> = Vec::new();
    while words.len() < count.min(LIST)
        && let Some(word) = at.counted_text()
    {
        words.push(plain(word));
    }
    metadata.put("command", words.join(" "));
    Some(())
}

fn topology(mut at: Bytes<'_>, metadata: &mut Metadata) -> Option<()> {
    for key in ["cpu_cores", "cpu_threads"] {
        let count = at.u32()? as usize;
        let mut parts: Vec<String> = Vec::new();
        while parts.len() < count.min(LIST)
            && let Some(part) = at.counted_text()
        {
            parts.push(plain(part));
        }
        metadata.put(key, parts.join(" "));
    }
    Some(())
}

fn pmus(mut at: Bytes<'_>, metadata: &mut Metadata) -> Option<()> {
    let count = at.u32()? as usize;
    for _ in 0..count.min(LIST) {
        let kind = at.u32()?;
        let name = plain(at.counted_text()?);
        metadata.pmus.push((kind, name));
    }
    Some(())
}

fn sample_time(mut at: Bytes<'_>, metadata: &mut Metadata) -> Option<()> {
    for key in ["first_sample_ns", "last_sample_ns"] {
        let time = at.u64()?;
        if time > 0 {
            metadata.put(key, time.to_string());
        }
    }
    Some(())
}

fn clockid(mut at: Bytes<'_>, metadata: &mut Metadata) -> Option<()> {
    metadata.put("clock_resolution_ns", at.u64()?.to_string());
    Some(())
}

fn clock_data(mut at: Bytes<'_>, metadata: &mut Metadata) -> Option<()> {
    at.skip(4)?;
    let clock = at.u32()?.cast_signed();
    metadata.put("clock", clock_name(clock));
    metadata.clock = Some((at.u64()?, at.u64()?));
    Some(())
}

/// The name of a clock.
pub fn clock_name(clock: i32) -> String {
    match clock {
        0 => "realtime".to_owned(),
        1 => "monotonic".to_owned(),
        4 => "monotonic_raw".to_owned(),
        7 => "boottime".to_owned(),
        11 => "tai".to_owned(),
        other => format!("clock {other}"),
    }
}

/// `pid, build id, file` of each file.
fn build_ids(mut at: Bytes<'_>, metadata: &mut Metadata) -> Option<()> {
    while at.len() >= 8 && metadata.build_ids.len() < LIST {
        at.skip(4)?;
        let misc = at.u16()?;
        let size = usize::from(at.u16()?);
        build_id(at.part(size.checked_sub(8)?)?, misc, metadata)?;
    }
    Some(())
}

/// One build id, also in the form of a record.
pub fn build_id(mut at: Bytes<'_>, misc: u16, metadata: &mut Metadata) -> Option<()> {
    const HAS_SIZE: u16 = 1 << 15;
    let pid = at.id()?;
    let id = at.take(24)?;
    let size = match misc & HAS_SIZE {
        0 => 20,
        _ => usize::from(*id.get(20)?),
    };
    let id = id.get(..size.min(20))?;
    let id = id.iter().map(|byte| format!("{byte:02x}")).collect();
    if metadata.build_ids.len() < LIST {
        metadata.build_ids.push((pid, id, until_zero(at.rest()).to_vec()));
    }
    Some(())
}

/// Names and ids of events, in the order of the attrs.
fn event_names(mut at: Bytes<'_>, events: &mut Events) -> Option<()> {
    let count = at.u32()? as usize;
    let width = at.u32()? as usize;
    for place in 0..count.min(LIST) {
        let attr = at.part(width)?;
        let ids = at.u32()? as usize;
        let name = plain(at.counted_text()?);
        if place >= events.len() {
            let (attr, _) = Attr::read(attr)?;
            events.add(attr, std::iter::empty());
        }
        for _ in 0..ids {
            events.learn_id(at.u64()?, place);
        }
        if let Some(event) = events.get_mut(place) {
            event.name = Some(name);
        }
    }
    Some(())
}

/// Names by number of event, in old versions.
pub fn event_types(mut at: Bytes<'_>, metadata: &mut Metadata) {
    const WIDTH: usize = 72;
    while at.len() >= WIDTH && metadata.types.len() < LIST {
        let Some(config) = at.u64() else { return };
        let Some(name) = at.text(WIDTH - 8) else {
            return;
        };
        metadata.types.push((config, plain(name)));
    }
}
