//! What was skipped, lost or damaged, counted by reason.

use crate::rows::Note;

/// The counts of one file.
#[derive(Default)]
pub struct Notes {
    file: u32,
    list: Vec<Note>,
}

impl Notes {
    pub fn of(file: u32) -> Notes {
        Notes { file, list: Vec::new() }
    }

    /// Count something; only its first example is made.
    pub fn add(&mut self, reason: &str, count: u64, example: impl FnOnce() -> String) {
        if let Some(note) = self.list.iter_mut().find(|note| note.reason == reason) {
            note.count = note.count.saturating_add(count);
        } else {
            self.list.push(Note {
                file: self.file,
                reason: reason.to_owned(),
                count,
                example: example(),
                incomplete: false,
            });
        }
    }

    /// Count something for which the trace was not read whole.
    pub fn cut(&mut self, reason: &str) {
        self.add(reason, 1, String::new);
        if let Some(note) = self.list.iter_mut().find(|note| note.reason == reason) {
            note.incomplete = true;
        }
    }

    pub fn take(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.list)
    }
}
