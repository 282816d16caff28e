//! Put the data of a header, except events, into tables: thread names, process maps, buffers, losses of CPUs.

use super::header::Header;
use super::threads;
use crate::rows::{ColumnSpec, Sink, TableSpec, Type};

/// Fill the tables.
pub fn put(header: &Header, sink: &mut Sink) {
    cmdlines(header, sink);
    buffers(header, sink);
    stats(header, sink);
    maps(header, sink);
}

fn table(sink: &mut Sink, name: &str, columns: Vec<ColumnSpec>) -> usize {
    sink.table(name, || TableSpec { name: name.to_owned(), columns, event: None })
}

fn int(name: &str) -> ColumnSpec {
    ColumnSpec::new(name, Type::Int)
}

fn text(name: &str) -> ColumnSpec {
    ColumnSpec::new(name, Type::Text)
}

fn cmdlines(header: &Header, sink: &mut Sink) {
    let table = table(sink, "cmdlines", vec![int("pid"), text("comm")]);
    for (pid, name) in threads::saved(&header.cmdlines) {
        let rows = sink.rows(table);
        rows.int(0, pid);
        rows.text(1, name);
        sink.end(table);
    }
}

fn buffers(header: &Header, sink: &mut Sink) {
    let size = |name: &str| int(name).with_unit("B");
    let columns = vec![text("buffer"), text("clock"), size("page_size"), int("cpus"), size("bytes")];
    let table = table(sink, "buffers", columns);
    for buffer in &header.buffers {
        let bytes = buffer.cpus.iter().fold(0u64, |sum, cpu| sum.saturating_add(cpu.size));
        let rows = sink.rows(table);
        rows.text(0, &buffer.name);
        if !buffer.clock.is_empty() {
            rows.text(1, buffer.clock.as_bytes());
        }
        rows.int(2, buffer.page.cast_signed());
        rows.int(3, i64::try_from(buffer.cpus.len()).unwrap_or(i64::MAX));
        rows.int(4, i64::try_from(bytes).unwrap_or(i64::MAX));
        sink.end(table);
    }
}

/// The numbers in a text of `per_cpu/cpu0/stats`, in the order of the table.
pub const STATS: [(&str, &str); 7] = [
    ("CPU", "cpu"),
    ("entries", "entries"),
    ("overrun", "overrun"),
    ("commit overrun", "commit_overrun"),
    ("bytes", "bytes"),
    ("dropped events", "dropped_events"),
    ("read events", "read_events"),
];

/// One of the numbers in a text of `per_cpu/cpu0/stats`.
pub fn stat(text: &str, key: &str) -> Option<i64> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix(key)?.strip_prefix(':'))?;
    line.trim().parse().ok()
}

fn stats(header: &Header, sink: &mut Sink) {
    let columns = STATS.iter().map(|(_, name)| int(name)).chain([text("buffer")]);
    let table = table(sink, "cpu_stats", columns.collect());
    let mut buffer = None;
    for one in &header.options.stats {
        // The numbers of an instance follow its name.
        if let Some(name) = one.trim().strip_prefix("Buffer:") {
            buffer = Some(name.trim());
            continue;
        }
        if let Some(name) = buffer {
            sink.rows(table).text(STATS.len(), name.as_bytes());
        }
        for (place, (key, _)) in STATS.iter().enumerate() {
            if let Some(value) = stat(one, key) {
                sink.rows(table).int(place, value);
            }
        }
        sink.end(table);
    }
}

/// `1234 2 python3`, then a line with start, end and path of each of its 2 libraries.
fn maps(header: &Header, sink: &mut Sink) {
    let columns = vec![
        int("pid"),
        text("process"),
        ColumnSpec::new("begin", Type::Uint),
        ColumnSpec::new("end", Type::Uint),
        text("path"),
    ];
    let table = table(sink, "process_maps", columns);
    let mut process: Option<(i64, &str)> = None;
    let mut left = 0u64;
    for line in header.options.maps.lines() {
        let mut words = line.trim().splitn(3, ' ');
        let (Some(first), Some(second), Some(third)) = (words.next(), words.next(), words.next()) else {
            continue;
        };
        if left == 0 {
            process = first.parse().ok().map(|pid| (pid, third));
            left = second.parse().unwrap_or(0);
            continue;
        }
        left -= 1;
        let hex = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok();
        if let (Some((pid, name)), Some(begin), Some(end)) = (process, hex(first), hex(second)) {
            let rows = sink.rows(table);
            rows.int(0, pid);
            rows.text(1, name.as_bytes());
            rows.uint(2, begin);
            rows.uint(3, end);
            rows.text(4, third.as_bytes());
            sink.end(table);
        }
    }
}
