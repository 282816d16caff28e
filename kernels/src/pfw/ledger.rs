//! Information from lines about their files: figures, time units, troubles.

use super::decode::Counts;
use super::report::{Report, Trouble};
use super::tables::Extent;
use crate::input::Damage;

/// The contents of one file.
#[derive(Clone, Default)]
pub struct FileFigures {
    pub bytes: u64,
    pub events: u64,
    pub counts: Counts,
    pub unit: String,
    pub range: Option<(i64, i64)>,
}

impl FileFigures {
    pub fn add(&mut self, extent: &Extent) {
        self.events += extent.events;
        let (min, max) = self.range.unwrap_or((extent.min_ts, extent.max_ts));
        self.range = Some((min.min(extent.min_ts), max.max(extent.max_ts)));
    }
}

/// Information about all files, from their parts in order.
pub struct Ledger {
    pub files: Vec<FileFigures>,
    pub report: Report,
    units: Vec<Option<Vec<u8>>>,
}

impl Ledger {
    pub fn new(files: usize) -> Ledger {
        Ledger { files: vec![FileFigures::default(); files], report: Report::default(), units: vec![None; files] }
    }

    /// Add the next part.
    pub fn add(&mut self, file: usize, report: Report, counts: Counts, units: Vec<Vec<u8>>) {
        let sum = &mut self.files[file].counts;
        self.report.merge(report, sum.lines);
        sum.lines += counts.lines;
        sum.metadata += counts.metadata;
        sum.invalid += counts.invalid;
        sum.other += counts.other;
        for unit in units {
            match &self.units[file] {
                None => self.units[file] = Some(unit),
                Some(first) if *first != unit => {
                    let example = String::from_utf8_lossy(&unit);
                    self.report.note(file, Trouble::TwoUnits, 1, &example);
                }
                Some(_) => (),
            }
        }
    }

    /// Nanoseconds in the time unit of a file, as far as it is known, and whether the unit is valid.
    pub fn factor(&self, file: usize) -> (&'static str, i64, bool) {
        let told = self.units[file].as_deref().unwrap_or(b"US");
        match told.to_ascii_uppercase().as_slice() {
            b"NS" => ("NS", 1, true),
            b"US" => ("US", 1000, true),
            b"MS" => ("MS", 1_000_000, true),
            b"SEC" | b"S" => ("SEC", 1_000_000_000, true),
            _ => ("US", 1000, false),
        }
    }

    /// The factors of all files, after all parts.
    pub fn factors(&mut self) -> Vec<i64> {
        (0..self.files.len())
            .map(|file| {
                let (unit, factor, known) = self.factor(file);
                if !known {
                    let told = self.units[file].as_deref().unwrap_or_default();
                    let told = String::from_utf8_lossy(told).to_ascii_uppercase();
                    self.report.note(file, Trouble::BadUnit, 1, &told);
                }
                self.files[file].unit = unit.to_owned();
                factor
            })
            .collect()
    }

    /// Record why a file ended early, with its size.
    pub fn note_end(report: &mut Report, file: usize, damage: Option<Damage>, bytes: u64, size: u64) {
        let at = format!("after {bytes} bytes of text");
        match damage {
            Some(Damage::Truncated) => report.note(file, Trouble::Truncated, 1, &at),
            Some(Damage::Corrupt) => report.note(file, Trouble::Corrupt, 1, &at),
            Some(Damage::Trailing) => report.note(file, Trouble::Trailing, 1, &at),
            None if size == 0 => report.note(file, Trouble::Empty, 1, ""),
            None => (),
        }
    }
}
