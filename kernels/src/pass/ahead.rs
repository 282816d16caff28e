//! Apply a function to the items of a reader on threads, a few items ahead, and return the results in order.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// More threads do not help, since one at a time reads; each holds a block.
const MOST_THREADS: usize = 4;
/// How often the consumer reports progress while it waits.
const PATIENCE: Duration = Duration::from_millis(50);

struct State<T> {
    /// Results waiting for output, by number.
    done: BTreeMap<u64, T>,
    /// The number of the next result for output.
    next: u64,
    /// The number of results, after the reader has ended.
    end: Option<u64>,
    cancelled: bool,
    /// A thread has panicked.
    failed: bool,
}

struct Shared<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    /// Maximum number of results that are started but not output yet.
    window: u64,
}

struct Turn<R> {
    read: R,
    number: u64,
    ended: bool,
}

/// Results computed ahead by threads, in the order of the input. Dropping it ends the threads.
pub struct Ahead<T> {
    shared: Arc<Shared<T>>,
    threads: Vec<JoinHandle<()>>,
}

/// The result of a wait.
enum Waited<T> {
    Result(T),
    End,
    Failed,
    Nothing,
}

/// A poisoned lock only means a panic elsewhere, which is reported as such.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: Send + 'static> Ahead<T> {
    /// Start: `read` returns one item after the other, None at the end; `work` runs on several of them in parallel.
    pub fn start<U: Send + 'static>(
        threads: usize,
        read: impl FnMut() -> Option<U> + Send + 'static,
        work: impl Fn(U) -> T + Send + Sync + 'static,
    ) -> Ahead<T> {
        let threads = threads.clamp(1, MOST_THREADS);
        let shared = Arc::new(Shared {
            state: Mutex::new(State { done: BTreeMap::new(), next: 0, end: None, cancelled: false, failed: false }),
            changed: Condvar::new(),
            window: threads as u64 + 1,
        });
        let turn = Arc::new(Mutex::new(Turn { read, number: 0, ended: false }));
        let work = Arc::new(work);
        let threads = (0..threads)
            .map(|_| {
                let (shared, turn, work) = (Arc::clone(&shared), Arc::clone(&turn), Arc::clone(&work));
                std::thread::spawn(move || {
                    let watch = Watch(&shared);
                    while let Some((number, unit)) = shared.read(&turn) {
                        shared.put(number, work(unit));
                    }
                    drop(watch);
                })
            })
            .collect();
        Ahead { shared, threads }
    }

    /// The next result; None at the end. `tell` is called now and then with the GIL held; its error ends the wait.
    pub fn next(&self, py: Python<'_>, tell: impl Fn(Python<'_>) -> PyResult<()>) -> PyResult<Option<T>> {
        loop {
            tell(py)?;
            match py.detach(|| self.shared.wait()) {
                Waited::Result(result) => return Ok(Some(result)),
                Waited::End => return Ok(None),
                Waited::Failed => {
                    return Err(PyValueError::new_err("the decoder ended unexpectedly"));
                }
                Waited::Nothing => (),
            }
        }
    }
}

impl<T> Drop for Ahead<T> {
    fn drop(&mut self) {
        locked(&self.shared.state).cancelled = true;
        self.shared.changed.notify_all();
        for thread in self.threads.drain(..) {
            // A panic was reported by `next`, or there is no consumer any more.
            let _ = thread.join();
        }
    }
}

impl<T> Shared<T> {
    /// Read the next item when it is this thread's turn and there is room; None at the end.
    fn read<U, R: FnMut() -> Option<U>>(&self, turn: &Mutex<Turn<R>>) -> Option<(u64, U)> {
        let mut turn = locked(turn);
        if turn.ended || !self.room(turn.number) {
            return None;
        }
        let number = turn.number;
        match (turn.read)() {
            Some(unit) => {
                turn.number += 1;
                Some((number, unit))
            }
            None => {
                turn.ended = true;
                locked(&self.state).end = Some(number);
                self.changed.notify_all();
                None
            }
        }
    }

    /// Wait until the result of this number may be computed; false if none is needed any more.
    fn room(&self, number: u64) -> bool {
        let full = |state: &mut State<T>| number >= state.next + self.window && !state.cancelled && !state.failed;
        let state = self.changed.wait_while(locked(&self.state), full).unwrap_or_else(PoisonError::into_inner);
        !state.cancelled && !state.failed
    }

    fn put(&self, number: u64, result: T) {
        locked(&self.state).done.insert(number, result);
        self.changed.notify_all();
    }

    fn wait(&self) -> Waited<T> {
        let pending = |state: &mut State<T>| {
            !state.done.contains_key(&state.next) && state.end != Some(state.next) && !state.failed
        };
        let (mut state, _) = self
            .changed
            .wait_timeout_while(locked(&self.state), PATIENCE, pending)
            .unwrap_or_else(PoisonError::into_inner);
        let next = state.next;
        if let Some(result) = state.done.remove(&next) {
            state.next += 1;
            drop(state);
            self.changed.notify_all();
            return Waited::Result(result);
        }
        if state.end == Some(next) {
            return Waited::End;
        }
        if state.failed {
            return Waited::Failed;
        }
        Waited::Nothing
    }
}

/// Notifies the other threads of a panic.
struct Watch<'a, T>(&'a Shared<T>);

impl<T> Drop for Watch<'_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            locked(&self.0.state).failed = true;
            self.0.changed.notify_all();
        }
    }
}
