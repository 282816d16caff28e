//! A file -> its bytes, from the beginning, in a sliding window.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::rows::Failure;

/// Small, since there is a window per thread, and all are read at once.
const WINDOW: usize = 16 << 10;

/// Bytes of a file that were read and not consumed.
pub struct Feed {
    path: PathBuf,
    file: Option<File>,
    bytes: Vec<u8>,
    /// The first byte that was not consumed, and the end of the bytes read.
    at: usize,
    end: usize,
    /// The number of bytes before these.
    before: u64,
    done: Arc<AtomicU64>,
}

impl Feed {
    pub fn new(path: PathBuf, done: Arc<AtomicU64>) -> Feed {
        Feed { path, file: None, bytes: Vec::new(), at: 0, end: 0, before: 0, done }
    }

    /// Start reading.
    pub fn open(&mut self) -> Result<(), Failure> {
        let opened = File::open(&self.path);
        self.file = Some(opened.map_err(|error| failure(&self.path, error))?);
        Ok(())
    }

    /// The next bytes, fewer if the file has no more.
    #[inline]
    pub fn view(&mut self, wanted: usize) -> Result<&[u8], Failure> {
        if self.end - self.at < wanted {
            self.fill(wanted)?;
        }
        let end = self.end.min(self.at.saturating_add(wanted));
        Ok(self.bytes.get(self.at..end).unwrap_or(&[]))
    }

    /// The next bytes, if enough were read already.
    #[inline]
    pub fn head<const N: usize>(&self) -> Option<&[u8; N]> {
        self.bytes.get(self.at..self.end)?.first_chunk()
    }

    /// Consume bytes that were read already.
    #[inline]
    pub fn pass(&mut self, bytes: usize) {
        self.at += bytes;
    }

    #[inline]
    pub fn take(&mut self, bytes: usize) {
        self.at = self.end.min(self.at.saturating_add(bytes));
    }

    /// The total number of consumed bytes.
    pub fn taken(&self) -> u64 {
        self.before + self.at as u64
    }

    #[cold]
    fn fill(&mut self, wanted: usize) -> Result<(), Failure> {
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        self.bytes.copy_within(self.at..self.end, 0);
        self.before += self.at as u64;
        self.end -= self.at;
        self.at = 0;
        while self.end < wanted {
            if self.end == self.bytes.len() {
                self.bytes.resize(self.end + WINDOW, 0);
            }
            let read = match file.read(&mut self.bytes[self.end..]) {
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(failure(&self.path, error)),
            };
            self.end += read;
            self.done.fetch_add(read as u64, Ordering::Relaxed);
            if read == 0 {
                self.file = None;
                break;
            }
        }
        Ok(())
    }
}

fn failure(path: &Path, error: std::io::Error) -> Failure {
    Failure::Io(path.display().to_string(), error)
}
