//! Names of threads at the time of the current record.

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::rows::{Sink, TableSpec, Type};

/// Number of ended threads to remember, since their last samples may follow.
const ENDED: usize = 4096;
/// Maximum number of known threads.
const MOST: usize = 1 << 20;

struct Thread {
    pid: i64,
    name: Arc<[u8]>,
}

/// The threads with names.
#[derive(Default)]
pub struct Threads {
    known: FxHashMap<i64, Thread>,
    ended: VecDeque<i64>,
    idle: Option<Arc<[u8]>>,
}

impl Threads {
    /// A thread's name.
    pub fn name(&mut self, tid: i64) -> Option<Arc<[u8]>> {
        if tid == 0 {
            let idle = self.idle.get_or_insert_with(|| Arc::from(&b"swapper"[..]));
            return Some(Arc::clone(idle));
        }
        self.known.get(&tid).map(|thread| Arc::clone(&thread.name))
    }

    /// Rename a thread.
    pub fn rename(&mut self, pid: i64, tid: i64, name: &[u8], sink: &mut Sink) {
        let name = Arc::from(name);
        self.put(tid, Thread { pid, name }, sink);
    }

    /// Start a thread with the name of another.
    pub fn fork(&mut self, parent: i64, (pid, tid): (i64, i64), sink: &mut Sink) {
        self.forget(tid, sink);
        if let Some(name) = self.name(parent) {
            self.put(tid, Thread { pid, name }, sink);
        }
    }

    fn put(&mut self, tid: i64, thread: Thread, sink: &mut Sink) {
        if self.known.len() >= MOST {
            self.forget_all(sink);
        }
        self.known.insert(tid, thread);
    }

    /// End a thread; it is removed when many others have ended.
    pub fn end(&mut self, tid: i64, sink: &mut Sink) {
        self.ended.push_back(tid);
        if self.ended.len() > ENDED
            && let Some(oldest) = self.ended.pop_front()
        {
            self.forget(oldest, sink);
        }
    }

    fn forget(&mut self, tid: i64, sink: &mut Sink) {
        if let Some(thread) = self.known.remove(&tid) {
            emit_thread(tid, &thread, sink);
        }
    }

    /// Emit and remove all known threads.
    pub fn forget_all(&mut self, sink: &mut Sink) {
        let mut all: Vec<_> = self.known.drain().collect();
        all.sort_unstable_by_key(|(tid, _)| *tid);
        all.iter().for_each(|(tid, thread)| emit_thread(*tid, thread, sink));
        self.ended.clear();
    }
}

fn emit_thread(tid: i64, thread: &Thread, sink: &mut Sink) {
    let columns = [("pid", Type::Int), ("tid", Type::Int), ("name", Type::Text)];
    let table = sink.table("thread_names", || TableSpec::plain("thread_names", &columns));
    let rows = sink.rows(table);
    rows.int(0, thread.pid);
    rows.int(1, tid);
    rows.text(2, &thread.name);
    sink.end(table);
    if thread.pid != tid {
        return;
    }
    let columns = [("pid", Type::Int), ("name", Type::Text)];
    let table = sink.table("process_names", || TableSpec::plain("process_names", &columns));
    let rows = sink.rows(table);
    rows.int(0, tid);
    rows.text(1, &thread.name);
    sink.end(table);
}
