//! All hashes in the metadata records of a trace, each text and each hash stored once.

use rustc_hash::FxHashMap;

use super::decode::{HashKind, HashRecord};
use super::hashes::HashText;
use crate::columns::Interner;

struct Entry {
    file: u32,
    kind: HashKind,
    hash: u32,
    text: u32,
}

/// Records in order, without repetitions within a file.
#[derive(Default)]
pub struct Tellings {
    texts: Interner,
    entries: Vec<Entry>,
    /// The text of a hash in a file; None if the file gives several.
    by_file: FxHashMap<(u32, HashKind, u32), Option<u32>>,
    /// Some file gives a hash several texts.
    pub ambiguous: bool,
}

impl Tellings {
    /// Add a record; false if its file has the same one already.
    pub fn add(&mut self, record: &HashRecord) -> bool {
        let [hash, text] = [&record.hash, &record.text].map(|value| self.texts.intern(value) as u32);
        let key = (record.file as u32, record.kind, hash);
        match self.by_file.get(&key) {
            None => drop(self.by_file.insert(key, Some(text))),
            Some(Some(known)) if *known == text => return false,
            Some(Some(_)) => {
                self.ambiguous = true;
                self.by_file.insert(key, None);
            }
            Some(None) => (),
        }
        self.entries.push(Entry { file: key.0, kind: record.kind, hash, text });
        true
    }

    /// Whether this file gives the hash exactly one text, so far.
    pub fn is_clear(&self, file: usize, kind: HashKind, hash: &[u8]) -> bool {
        let number = |id: usize| self.by_file.get(&(file as u32, kind, id as u32));
        matches!(self.texts.find(hash).and_then(number), Some(Some(_)))
    }

    pub fn iter(&self) -> impl Iterator<Item = HashText<'_>> + Clone {
        self.entries.iter().map(|entry| HashText {
            file: entry.file as usize,
            kind: entry.kind,
            hash: self.texts.get(entry.hash as usize),
            text: self.texts.get(entry.text as usize),
        })
    }
}
