//! What was skipped, repaired or odd, counted by file and reason.

use crate::rows::Note;

/// Bytes of an example.
const EXAMPLE: usize = 200;

#[derive(Default)]
pub struct Notes {
    notes: Vec<Note>,
    pub file: u32,
}

impl Notes {
    /// Count something; `example` of the first one is kept.
    pub fn count(&mut self, reason: &str, incomplete: bool, example: &[u8]) {
        let file = self.file;
        let found = self.notes.iter_mut().find(|note| note.file == file && note.reason == reason);
        if let Some(note) = found {
            note.count = note.count.saturating_add(1);
            return;
        }
        let example = example.get(..EXAMPLE).unwrap_or(example);
        self.notes.push(Note {
            file,
            reason: reason.to_owned(),
            count: 1,
            example: String::from_utf8_lossy(example).into_owned(),
            incomplete,
        });
    }

    pub fn take(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }
}
