//! Maximum, minimum and average of an attribute over a range, by its coarser states if it has them.

use super::cell::{Cell, Kind};
use super::fault::Fault;
use super::find::Found;
use super::history::History;
use super::mipmap::{Coarse, Feature, better, span, weighted};

impl History {
    /// The attribute and its levels of a feature, the finest first.
    fn levels(&self, place: usize, feature: Feature) -> Vec<usize> {
        let mut found = vec![place];
        // Coarser states are only right once they are complete.
        if self.is_open() {
            return found;
        }
        let coarse = |parent: i32, name: &str, what: Coarse| {
            let quark = self.tree.find(parent, name);
            quark.filter(|quark| self.tracks[*quark as usize].coarse == what)
        };
        let Some(top) = coarse(place as i32, feature.name(), Coarse::Levels) else {
            return found;
        };
        for level in 1_u32.. {
            match coarse(top.cast_signed(), &level.to_string(), Coarse::Level) {
                Some(quark) => found.push(quark as usize),
                None => break,
            }
        }
        found
    }

    /// A feature of `[first, last]`; null states count as 0 in averages, which are weighted by time.
    ///
    /// # Errors
    /// A time is outside, or the attribute has texts.
    pub fn range(&self, place: usize, first: i64, last: i64, feature: Feature) -> Result<Cell, Fault> {
        self.check_time(first)?;
        if last < first {
            return Err(Fault::Range(format!("the range ends at {last}, before it begins at {first}")));
        }
        if self.tracks[place].kind == Kind::Text {
            let text = format!("the attribute `{}` has texts, expected numbers", self.tree.name(place));
            return Err(Fault::Value(text));
        }
        let last = last.min(self.safe());
        let levels = self.levels(place, feature);
        let mut best: Option<Cell> = None;
        let mut sum = 0.0;
        let (mut time, mut level) = (first, 0);
        loop {
            let found = self.seek(levels[level], time, self.safe())?;
            if level > 0 && !self.whole(&found, time, last, feature) {
                level -= 1;
                continue;
            }
            let (begin, end) = (found.extent.start.max(first), found.extent.end.min(last));
            if found.cell.kind != Kind::Null {
                if first == last && feature == Feature::Avg {
                    sum = found.cell.number().unwrap_or(0.0);
                }
                sum += weighted(&found.cell, begin, found.extent.end.saturating_add(1).min(last));
                if best.as_ref().is_none_or(|best| better(feature, &found.cell, best)) {
                    best = Some(found.cell);
                }
            }
            match end.checked_add(1).filter(|next| *next <= last) {
                Some(next) => time = next,
                None => break,
            }
            level = (level + 1).min(levels.len() - 1);
        }
        Ok(match feature {
            Feature::Avg if first == last => Cell::double(sum),
            Feature::Avg => Cell::double(sum / span(first, last)),
            _ => best.unwrap_or_default(),
        })
    }

    /// Whether a coarser state replaces all finer ones from a time on, within a range.
    fn whole(&self, found: &Found, time: i64, last: i64, feature: Feature) -> bool {
        // An average ends before its last time; the last coarser states do too.
        let ends = match feature {
            Feature::Avg => found.extent.end < last || (found.extent.end == last && last == self.safe()),
            Feature::Max | Feature::Min => found.extent.end <= last,
        };
        found.cell.kind != Kind::Null && found.extent.start == time && ends
    }
}
