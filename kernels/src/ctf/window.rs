//! Read part of a file into memory, as needed.

use std::fs::File;

use crate::input::read_part;
use crate::rows::Failure;

/// The part of a file read last.
#[derive(Default)]
pub struct Window {
    data: Vec<u8>,
    /// Its place in the file.
    from: u64,
}

impl Window {
    /// The available bytes from `at` on.
    pub fn from(&self, at: u64) -> &[u8] {
        let skip = at.checked_sub(self.from).and_then(|skip| usize::try_from(skip).ok());
        skip.and_then(|skip| self.data.get(skip..)).unwrap_or_default()
    }

    /// Read `count` bytes from `at` on, fewer at the end of the file.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(&mut self, path: &str, at: u64, count: u64) -> Result<(), Failure> {
        self.from = at;
        self.data.clear();
        let read = File::open(path).and_then(|mut file| read_part(&mut file, at, count, &mut self.data));
        read.map_err(|error| Failure::Io(path.to_owned(), error))
    }

    /// Discard the bytes.
    pub fn clear(&mut self) {
        *self = Window::default();
    }
}
