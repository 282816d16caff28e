//! Emit properties, thread names and modules from the state after a file.

use super::metadata::clock_name;
use super::tables::{Value, put};
use super::work::Work;
use crate::rows::Sink;

/// Emit the metadata of a file; with several files, the first value of a property counts.
pub fn emit_metadata(work: &mut Work, sink: &mut Sink, properties: &mut Vec<(String, String)>) {
    work.threads.forget_all(sink);
    if work.maps.left_out > 0 {
        let reason = "mapping beyond the 2000000 that are kept";
        work.notes.add(reason, work.maps.left_out, false, String::new);
    }
    let clock = work.events.first().and_then(|event| event.attr.clockid);
    let metadata = &mut work.metadata;
    match clock {
        Some(clock) => metadata.put("clock", clock_name(clock)),
        None => metadata.put("clock", "perf"),
    }
    if let (Some((unix, clock)), Some(first)) = (metadata.clock, work.first) {
        let start = i128::from(unix) - i128::from(clock) + i128::from(first);
        metadata.put("start_unix_ns", start.to_string());
    }
    metadata.put("mode", metadata.mode);
    for (key, value) in metadata.properties.drain(..) {
        if !properties.iter().any(|(known, _)| *known == key) {
            properties.push((key, value));
        }
    }
    for (pid, id, file) in work.metadata.build_ids.drain(..) {
        let fields = [
            ("pid", "", Value::Int(Some(pid))),
            ("build_id", "", Value::Text(Some(id.as_bytes()))),
            ("filename", "", Value::Text(Some(&file))),
        ];
        put(sink, "build_ids", &fields);
    }
}
