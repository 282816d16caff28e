//! Compute the CRC-32 of each part of a file, to detect damage before the bytes are used.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use flate2::Crc;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

const READ: usize = 1 << 18;
/// Files that are synced at once: a journal takes many as fast as one.
const SYNCS: usize = 16;

fn sum(file: &File, mut offset: u64, mut length: u64, buffer: &mut [u8]) -> io::Result<u32> {
    let mut crc = Crc::new();
    while length > 0 {
        let now = usize::try_from(length).unwrap_or(READ).min(READ);
        file.read_exact_at(&mut buffer[..now], offset)?;
        crc.update(&buffer[..now]);
        offset += now as u64;
        length -= now as u64;
    }
    Ok(crc.sum())
}

/// Compute the CRC-32 of each part of a file, given by offset and length; a missing part raises ValueError.
pub fn checksums(path: &Path, parts: &[(u64, u64)]) -> PyResult<Vec<u32>> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    let longest = parts.iter().map(|(_, length)| *length).max().unwrap_or(0);
    let mut buffer = vec![0; usize::try_from(longest).unwrap_or(READ).min(READ)];
    let each = parts.iter().map(|(offset, length)| {
        if offset.checked_add(*length).is_none_or(|end| end > size) {
            let path = path.display();
            return Err(PyValueError::new_err(format!("`{path}` is too short")));
        }
        Ok(sum(&file, *offset, *length, &mut buffer)?)
    });
    each.collect()
}

/// The same for Python.
#[pyfunction]
pub fn file_checksums(py: Python<'_>, path: PathBuf, parts: Vec<(u64, u64)>) -> PyResult<Vec<u32>> {
    py.detach(|| checksums(&path, &parts))
}

/// CRC-32 of some bytes, continuing from that of the bytes before them.
#[pyfunction]
#[pyo3(signature = (data, start = 0))]
pub fn crc32(data: &[u8], start: u32) -> u32 {
    zlib_rs::crc32::crc32(start, data)
}

/// Sync files to disk.
#[pyfunction]
pub fn settle_files(py: Python<'_>, paths: Vec<PathBuf>) -> PyResult<()> {
    let next = AtomicUsize::new(0);
    let settle = || {
        while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            File::open(path)?.sync_all()?;
        }
        Ok::<_, io::Error>(())
    };
    py.detach(|| {
        thread::scope(|scope| {
            let threads = (0..SYNCS.min(paths.len())).map(|_| scope.spawn(settle));
            let threads: Vec<_> = threads.collect();
            let each = threads.into_iter().map(|thread| thread.join());
            each.collect::<Result<Vec<_>, _>>()
        })
    })
    .map_err(|_| PyRuntimeError::new_err("kernel panicked"))?
    .into_iter()
    .try_for_each(|done| Ok(done?))
}
