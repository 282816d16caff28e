//! Convert rare kernel records into rows.

use super::stream::kind;
use super::tables::{Value, put};
use super::work::{Row, common};
use crate::input::bytes::{Bytes, until_zero};
use crate::rows::Sink;

/// Whether a kind of record is decoded here or elsewhere.
pub fn is_known(kind: u32) -> bool {
    (kind::MMAP..=kind::AUX_OUTPUT_HW_ID).contains(&kind)
}

/// Make a row of a record; None if it is too short.
pub fn record(kind: u32, mut at: Bytes<'_>, row: Row, sink: &mut Sink) -> Option<()> {
    let mut fields = common(row, row.origin.pid, row.origin.tid);
    let table = match kind {
        kind::AUX => {
            fields.push(("offset", "", Value::Uint(Some(at.u64()?))));
            fields.push(("size", "B", Value::Uint(Some(at.u64()?))));
            fields.push(("flags", "", Value::Uint(Some(at.u64()?))));
            "raw_events.aux"
        }
        kind::ITRACE_START => {
            fields = common(row, Some(at.id()?), Some(at.id()?));
            "raw_events.itrace_start"
        }
        kind::BPF_EVENT => {
            fields.push(("type", "", Value::Int(Some(i64::from(at.u16()?)))));
            fields.push(("flags", "", Value::Int(Some(i64::from(at.u16()?)))));
            fields.push(("id", "", Value::Int(Some(i64::from(at.u32()?)))));
            let tag: String = at.take(8)?.iter().map(|b| format!("{b:02x}")).collect();
            fields.push(("tag", "", Value::Text(Some(tag.as_bytes()))));
            put(sink, "raw_events.bpf_event", &fields);
            return Some(());
        }
        kind::CGROUP => {
            fields.push(("id", "", Value::Uint(Some(at.u64()?))));
            fields.push(("path", "", Value::Text(Some(until_zero(at.rest())))));
            "raw_events.cgroup"
        }
        kind::TEXT_POKE => {
            fields.push(("addr", "", Value::Uint(Some(at.u64()?))));
            fields.push(("old_len", "B", Value::Int(Some(i64::from(at.u16()?)))));
            fields.push(("new_len", "B", Value::Int(Some(i64::from(at.u16()?)))));
            "raw_events.text_poke"
        }
        kind::AUX_OUTPUT_HW_ID => {
            fields.push(("hw_id", "", Value::Uint(Some(at.u64()?))));
            "raw_events.aux_output_hw_id"
        }
        _ => return None,
    };
    put(sink, table, &fields);
    Some(())
}
