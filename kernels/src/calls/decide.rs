//! Decide whether a call is shown, from the filters of its function and the state at its caller.

use rustc_hash::FxHashMap;

use super::args::holds;
use super::frames::FrameState;
use super::rules::{Rules, Trigger};

/// The decision at the start of a call.
pub struct Decision {
    /// The state for its callees.
    pub state: FrameState,
    /// It is not hidden by a filter.
    pub recorded: bool,
    /// Whether it turned the trace on or off.
    pub turned: Option<bool>,
    pub finished: bool,
}

/// Counts calls of sampled functions, for each thread.
#[derive(Default)]
pub struct Samples(FxHashMap<(u32, u32), i64>);

impl Samples {
    /// Whether this call is one of every `n`.
    fn taken(&mut self, thread: u32, function: u32, n: i64) -> bool {
        let count = self.0.entry((thread, function)).or_insert(0);
        *count = count.saturating_add(1);
        *count % n.max(1) == 0
    }
}

/// The attributes of a call that filters use.
pub struct Seen<'a> {
    pub thread: u32,
    pub function: u32,
    pub trigger: &'a Trigger,
    pub args: Option<&'a str>,
}

/// Decides whether a call is shown, in this order: exclusion, inclusion, its file, levels, switches, hiding, and last
/// the sampling of calls that would be shown.
#[inline]
pub fn decide(rules: &Rules, state: FrameState, seen: &Seen, enabled: bool, samples: &mut Samples) -> Decision {
    let trigger = seen.trigger;
    let mut decision = Decision { state, recorded: false, turned: None, finished: false };
    let state = &mut decision.state;
    if state.out {
        return decision;
    }
    let filter = filter_of(seen);
    match filter {
        Some(false) => {
            state.out = true;
            return decision;
        }
        Some(true) => {
            state.inside = true;
            state.budget = rules.depth;
        }
        None if rules.opt_in && !state.inside => return decision,
        None => {}
    }
    match trigger.location {
        Some(false) => return decision,
        None if rules.located => return decision,
        _ => {}
    }
    if let Some(depth) = trigger.depth {
        state.budget = depth;
    }
    if trigger.on {
        decision.turned = Some(true);
    }
    if trigger.off {
        decision.turned = Some(false);
    }
    decision.finished = trigger.finish;
    if !decision.turned.unwrap_or(enabled) {
        decision.recorded = true;
        return decision;
    }
    if state.budget <= 0 || trigger.hide {
        return decision;
    }
    if let Some(n) = trigger.sample
        && !samples.taken(seen.thread, seen.function, n)
    {
        state.out = filter == Some(true);
        return decision;
    }
    state.budget -= 1;
    decision.recorded = true;
    decision
}

/// The state of a call that began before the range: it is not counted and turns nothing on or off.
pub fn before_range(rules: &Rules, state: FrameState, seen: &Seen) -> Decision {
    let mut decision = Decision { state, recorded: false, turned: None, finished: false };
    let state = &mut decision.state;
    match filter_of(seen) {
        _ if state.out => {}
        Some(false) => state.out = true,
        Some(true) => {
            state.inside = true;
            decision.recorded = true;
        }
        None => decision.recorded = !rules.opt_in || state.inside,
    }
    decision
}

/// The state of a call without a recorded start, such as those that a new process was forked in: nothing could be
/// decided there, so its callees are treated as outside of it, and its end is shown unless it is excluded by an outer
/// call.
pub fn not_begun(rules: &Rules, state: FrameState, trigger: &Trigger, ends: bool) -> Decision {
    let shown = !trigger.hide && state.budget > 0 && (state.inside || !rules.opt_in);
    Decision { state, recorded: !state.out && (ends || shown), turned: None, finished: false }
}

#[inline]
fn filter_of(seen: &Seen) -> Option<bool> {
    let refused = match (&seen.trigger.condition, seen.args) {
        (Some(condition), Some(args)) => holds(args, condition) == Some(false),
        _ => false,
    };
    seen.trigger.filter.filter(|_| !refused)
}
