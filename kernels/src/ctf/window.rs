//! A file -> the part of it that is looked at, read on as needed.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use crate::rows::Failure;

/// The part of a file that was read last.
#[derive(Default)]
pub struct Window {
    data: Vec<u8>,
    /// Where it begins in the file.
    from: u64,
}

impl Window {
    /// The bytes from `at` on that are here.
    pub fn from(&self, at: u64) -> &[u8] {
        let skip = at.checked_sub(self.from).and_then(|skip| usize::try_from(skip).ok());
        skip.and_then(|skip| self.data.get(skip..)).unwrap_or_default()
    }

    /// Read `count` bytes from `at` on, fewer where the file ends.
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

    /// Let go of what was read.
    pub fn clear(&mut self) {
        *self = Window::default();
    }
}
