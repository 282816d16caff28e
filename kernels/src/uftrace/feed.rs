//! A file -> its bytes, from the beginning on, a window at a time.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::rows::Failure;

const WINDOW: usize = 256 << 10;

/// Bytes of a file that were read and not taken.
pub struct Feed {
    path: PathBuf,
    file: Option<File>,
    bytes: Vec<u8>,
    /// The first byte that was not taken.
    at: usize,
    /// How many bytes were taken in all.
    taken: u64,
    done: Arc<AtomicU64>,
}

impl Feed {
    pub fn new(path: PathBuf, done: Arc<AtomicU64>) -> Feed {
        Feed {
            path,
            file: None,
            bytes: Vec::new(),
            at: 0,
            taken: 0,
            done,
        }
    }

    /// Begin to read.
    pub fn open(&mut self) -> Result<(), Failure> {
        let opened = File::open(&self.path);
        self.file = Some(opened.map_err(|error| failure(&self.path, error))?);
        Ok(())
    }

    /// The next bytes, fewer if the file has no more.
    #[inline]
    pub fn view(&mut self, wanted: usize) -> Result<&[u8], Failure> {
        if self.bytes.len() - self.at < wanted {
            self.fill(wanted)?;
        }
        let end = self.bytes.len().min(self.at + wanted);
        Ok(&self.bytes[self.at..end])
    }

    #[inline]
    pub fn take(&mut self, bytes: usize) {
        let bytes = bytes.min(self.bytes.len() - self.at);
        self.at += bytes;
        self.taken += bytes as u64;
    }

    pub fn taken(&self) -> u64 {
        self.taken
    }

    #[cold]
    fn fill(&mut self, wanted: usize) -> Result<(), Failure> {
        self.bytes.drain(..self.at);
        self.at = 0;
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        while self.bytes.len() < wanted {
            let old = self.bytes.len();
            self.bytes.resize(old + WINDOW, 0);
            let read = match file.read(&mut self.bytes[old..]) {
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {
                    self.bytes.truncate(old);
                    continue;
                }
                Err(error) => return Err(failure(&self.path, error)),
            };
            self.bytes.truncate(old + read);
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
