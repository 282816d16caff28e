//! Collect the statistics of a decoded chunk, apart from its events.

use pyo3::prelude::*;

use super::part::{Part, REASONS};

/// Reason's key and text, count, line of the first, and how that begins.
type Skip = (&'static str, &'static str, u64, u64, String);

/// Statistics of one chunk; lines count from its first one.
#[derive(IntoPyObject)]
pub struct ChunkStatistics {
    skips: Vec<Skip>,
    lines: u64,
    events: u64,
    blank: u64,
    headers: u64,
    promised: u64,
    tracer: Option<String>,
    kernel: Option<String>,
}

impl ChunkStatistics {
    pub fn of(part: &Part) -> ChunkStatistics {
        let text = |text: &Option<Vec<u8>>| text.as_ref().map(|text| String::from_utf8_lossy(text).into_owned());
        let counts = REASONS.iter().map(|(reason, key, text)| (&part.counts[*reason as usize], *key, *text));
        let skips = counts.filter(|(count, ..)| count.count > 0).map(|(count, key, text)| {
            (key, text, count.count, count.line, String::from_utf8_lossy(&count.example).into_owned())
        });
        ChunkStatistics {
            skips: skips.collect(),
            lines: part.lines,
            events: part.events,
            blank: part.blank,
            headers: part.headers,
            promised: part.promised,
            tracer: text(&part.tracer),
            kernel: text(&part.kernel),
        }
    }
}
