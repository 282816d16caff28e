//! Count skipped, repaired, lost or odd data by file and reason, with an example.

/// Maximum number of different notes of a file; all others are counted as one.
const MOST: usize = 256;
const OTHERS: &str = "further kinds of trouble";
/// Maximum bytes of an example that quotes the input.
const EXAMPLE: usize = 200;

/// Something skipped, repaired or lost; see `dctv.contracts.reader.Diagnostic`.
#[derive(Clone, Debug, Default)]
pub struct Note {
    pub file: u32,
    pub reason: String,
    pub count: u64,
    pub example: String,
    pub incomplete: bool,
}

/// The notes of a trace, in order of occurrence.
#[derive(Default)]
pub struct Notes {
    all: Vec<Note>,
    /// The number of the current file.
    pub file: u32,
}

impl Notes {
    /// Switch to a file.
    pub fn of(&mut self, file: u32) -> &mut Notes {
        self.file = file;
        self
    }

    /// Count something; only its first example is formatted. With `incomplete`, part of the trace was not read.
    pub fn add(&mut self, reason: &str, count: u64, incomplete: bool, example: impl FnOnce() -> String) {
        let file = self.file;
        if let Some(note) = self.all.iter_mut().rev().find(|note| note.file == file && note.reason == reason) {
            note.count = note.count.saturating_add(count);
            note.incomplete |= incomplete;
        } else if reason == OTHERS || self.all.iter().filter(|note| note.file == file).count() < MOST {
            self.all.push(Note { file, reason: reason.to_owned(), count, example: example(), incomplete });
        } else {
            self.add(OTHERS, count, incomplete, example);
        }
    }

    /// Count a text; the first one is the example.
    pub fn count(&mut self, reason: &str, incomplete: bool, text: &[u8]) {
        let head = text.get(..EXAMPLE).unwrap_or(text);
        self.add(reason, 1, incomplete, || String::from_utf8_lossy(head).into_owned());
    }

    /// Count something that left part of the trace unread.
    pub fn cut(&mut self, reason: &str) {
        self.add(reason, 1, true, String::new);
    }

    /// Set the count of something counted by the trace itself.
    pub fn set(&mut self, reason: &str, count: u64, example: impl FnOnce() -> String) {
        let file = self.file;
        self.all.retain(|note| note.file != file || note.reason != reason);
        if count > 0 {
            self.add(reason, count, false, example);
        }
    }

    pub fn take(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_beyond_the_most_are_counted_together() {
        let mut notes = Notes::default();
        for kind in 0..MOST + 3 {
            notes.add(&format!("kind {kind}"), 2, kind == MOST + 1, || kind.to_string());
        }
        notes.of(1).add("kind 0", 1, false, String::new);
        let found = notes.take();
        assert_eq!(found.len(), MOST + 2);
        let rest = &found[MOST];
        assert_eq!((rest.reason.as_str(), rest.count, rest.incomplete), (OTHERS, 6, true));
        assert_eq!((found[MOST + 1].file, found[MOST + 1].count), (1, 1));
    }
}
