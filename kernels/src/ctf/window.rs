//! A file -> the part of it in memory, read as needed.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

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
        let failed = |error| Failure::Io(path.to_owned(), error);
        self.data.clear();
        self.from = at;
        let mut file = File::open(path).map_err(failed)?;
        file.seek(SeekFrom::Start(at)).map_err(failed)?;
        file.take(count).read_to_end(&mut self.data).map_err(failed)?;
        Ok(())
    }

    /// Discard the bytes.
    pub fn clear(&mut self) {
        *self = Window::default();
    }
}
