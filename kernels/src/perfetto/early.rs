//! Put kernel events from before the events of all CPUs are complete into a separate table, which no view uses.
//!
//! A switch to a thread on one CPU, without the earlier switch from it on another, would let the thread run twice.

use super::comms::Comm;
use super::ftrace_plan::{FIRST, Head, fixed, put_fixed, spec};
use super::json::Json;
use super::world::World;
use crate::rows::{ColumnSpec, Sink, Type};

/// Put an event into a row, its arguments as JSON.
pub fn row(world: &mut World, sink: &mut Sink, head: &Head, comm: Option<&Comm>, (name, args): (&str, &Json)) {
    let table = sink.table("raw_events.early", || {
        let mut columns = fixed();
        columns.push(ColumnSpec::new("name", Type::Text));
        columns.push(ColumnSpec::new("args", Type::Json));
        spec("early", columns)
    });
    let rows = sink.rows(table);
    put_fixed(rows, head, comm);
    rows.text(FIRST, name.as_bytes());
    rows.text(FIRST + 1, &args.text);
    sink.end(table);
    let reason = "events of the kernel from before its buffers were read are in `early`";
    world.notes.add(reason, 1, false, || name.to_owned());
}
