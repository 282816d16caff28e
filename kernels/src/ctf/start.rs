//! Start a pass over the streams of a mount, given its metadata from Python; files of one stream are concatenated.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::layout::Program;
use super::merge::Decoder;
use super::metadata::MountMetadata;
use super::stream::{Shared, Stream, StreamFile};
use super::trace::Trace;
use crate::rows::{Failure, Note, Notes, RowPass};

/// Bytes of packets in memory at a time, and the limits for each stream.
const WINDOWS: u64 = 64 << 20;
const WINDOW: (u64, u64) = (16 << 10, 256 << 10);

impl Shared {
    /// Report the bytes of started packets as done.
    pub fn count_done(&self, done: &AtomicU64) {
        let bytes = self.packets.iter().map(|packet| packet.size).sum();
        done.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// The identity of the stream of a file: UUID of the trace, class, and number of the stream.
type Key = ([u8; 16], u64, u64);

/// Concatenate the files of each stream, in the order of their first packets.
fn streams(shared: &mut Shared, files: Vec<StreamFile>) -> Result<Vec<Stream>, Failure> {
    let mut known: FxHashMap<Key, usize> = FxHashMap::default();
    let mut groups: Vec<Vec<(u64, StreamFile)>> = Vec::new();
    for file in files {
        let mut stream = Stream::new(vec![file.clone()], shared.program.slots);
        let mut group = groups.len();
        let mut begin = 0;
        if stream.begin(shared, 0)?.is_some() {
            begin = stream.seen.cycles.0;
            let trace = shared.traces.get(file.trace);
            let class = shared.class(file.trace, stream.packet.class).map(|class| class.id);
            let uuid = trace.and_then(|trace| trace.uuid);
            if let (Some(uuid), Some(class), Some(instance)) = (uuid, class, stream.packet.instance) {
                group = *known.entry((uuid, class, instance)).or_insert(group);
            }
        }
        match groups.get_mut(group) {
            Some(files) => files.push((begin, file)),
            None => groups.push(vec![(begin, file)]),
        }
    }
    // Flaws found here are found again when the files are decoded.
    shared.notes = Notes::default();
    let slots = shared.program.slots;
    let ordered = groups.into_iter().map(|mut files| {
        files.sort_by_key(|(begin, _)| *begin);
        Stream::new(files.into_iter().map(|(_, file)| file).collect(), slots)
    });
    Ok(ordered.collect())
}

fn decoder(metadata: MountMetadata) -> PyResult<Result<(Decoder, u64), Failure>> {
    let program = Program::new(metadata.nodes, metadata.slots)?;
    let mut traces = Vec::new();
    let mut files = Vec::new();
    let mut events = 0;
    for (number, mut trace) in metadata.traces.into_iter().enumerate() {
        for (file, path) in std::mem::take(&mut trace.files) {
            let size = std::fs::metadata(&path).map_or(0, |found| found.len());
            files.push(StreamFile { number: file, path: path.into(), size, trace: number });
        }
        traces.push(Trace::new(trace, &program, &mut events));
    }
    let total = files.iter().map(|file| file.size).sum();
    let each = WINDOWS / (files.len() as u64).max(1);
    let mut shared = Shared {
        program,
        traces: Arc::new(traces),
        notes: Notes::default(),
        captured: Vec::new(),
        scratch: Vec::new(),
        too_long: 0,
        packets: Vec::new(),
        window: WINDOW.0,
    };
    let streams = match streams(&mut shared, files) {
        Ok(streams) => streams,
        Err(failure) => return Ok(Err(failure)),
    };
    shared.window = each.clamp(WINDOW.0, WINDOW.1);
    let notes = metadata.notes.into_iter().map(|(file, reason, count, example)| Note {
        file,
        reason,
        count,
        example,
        incomplete: false,
    });
    let decoder = Decoder::new(shared, streams, metadata.properties, (notes.collect(), metadata.unix));
    Ok(Ok((decoder, total)))
}

/// Decode the streams of traces with metadata compiled by `dctv.readers.ctf`.
#[pyfunction]
#[pyo3(signature = (mount, threads, progress=None))]
fn ctf_pass(py: Python<'_>, mount: MountMetadata, threads: usize, progress: Option<Py<PyAny>>) -> PyResult<RowPass> {
    match py.detach(|| decoder(mount))? {
        Ok((decoder, total)) => {
            let done = Arc::clone(&decoder.done);
            Ok(RowPass::start(decoder, threads, (done, total), progress))
        }
        Err(failure) => Err(failure.into()),
    }
}

pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(ctf_pass, m)?)
}
