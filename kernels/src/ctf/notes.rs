//! What was skipped, lost or damaged -> how often, with an example.

use std::collections::BTreeMap;

use crate::rows::Note;

/// Counts by file and reason.
#[derive(Default)]
pub struct Notes(BTreeMap<(u32, &'static str), Note>);

impl Notes {
    pub fn add(
        &mut self,
        (file, reason): (u32, &'static str),
        count: u64,
        example: impl FnOnce() -> String,
        incomplete: bool,
    ) {
        let note = self.0.entry((file, reason)).or_insert_with(|| Note {
            file,
            reason: reason.to_owned(),
            count: 0,
            example: example(),
            incomplete,
        });
        note.count = note.count.saturating_add(count);
        note.incomplete |= incomplete;
    }

    pub fn take(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.0).into_values().collect()
    }
}
