//! Parse events that the kernel or trace-cmd print in a special format into the same columns as everywhere else.

use memchr::memmem;
use memchr::memrchr;

use super::fields::{Fill, pairs};
use super::line::integer;

/// The format of the body of an event.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Pairs,
    SchedSwitch,
    Wakeup,
    /// `NR 4 (a, b, c)` and `NR 4 = 0`
    Syscall,
    /// A name before the pairs, as `clock_set_rate` has it.
    Named,
    /// `address: text`
    Printk,
    /// `function <-- caller`
    Function,
    /// `0.123 us   |  name();`
    Graph,
    SyscallEnter,
    SyscallExit,
    /// `# 1 buf: 61 62 63`, in reports of trace-cmd without `buf:`
    RawData,
    FreeText,
}

/// The format of an event's body by the event's name.
pub fn of(event: &[u8]) -> Form {
    match event {
        b"sched_switch" => Form::SchedSwitch,
        b"sched_wakeup" | b"sched_waking" | b"sched_wakeup_new" => Form::Wakeup,
        b"sys_enter" | b"sys_exit" => Form::Syscall,
        b"clock_set_rate" | b"clock_enable" | b"clock_disable" => Form::Named,
        b"bprint" | b"bputs" => Form::Printk,
        b"function" => Form::Function,
        b"raw_data" => Form::RawData,
        b"kernel_stack" | b"user_stack" => Form::FreeText,
        b"funcgraph_entry" | b"funcgraph_exit" => Form::Graph,
        _ if event.starts_with(b"sys_exit_") => Form::SyscallExit,
        _ => Form::Pairs,
    }
}

/// Put the fields of a body into a row.
pub fn read(form: Form, body: &[u8], row: &mut impl Fill) {
    let done = match form {
        Form::SchedSwitch => !body.starts_with(b"prev_") && switch(body, row).is_some(),
        Form::Wakeup => !body.starts_with(b"comm=") && wakeup(body, row).is_some(),
        Form::Syscall => syscall(body, row).is_some(),
        Form::Named => named(body, row).is_some(),
        Form::Printk => printk(body, row).is_some(),
        Form::Function => function(body, row).is_some(),
        Form::RawData => raw_data(body, row).is_some(),
        Form::Graph => super::graph::read(body, row).is_some(),
        Form::SyscallEnter => {
            super::fields::arguments(body, row);
            true
        }
        // `0x1`, which has no name, or `ret=1` where fields are printed with names.
        Form::SyscallExit if memchr::memchr2(b'=', b' ', body).is_none() => {
            row.put(b"ret", body);
            true
        }
        Form::FreeText if memmem::find(body, b"func=").is_none() => {
            // A stack may begin on the event's own line; its first frame is not text.
            if !body.starts_with(b"=>") {
                row.free(body);
            }
            true
        }
        Form::Pairs | Form::FreeText | Form::SyscallExit => false,
    };
    if !done {
        pairs(body, row);
    }
}

/// `[task ]comm:pid [prio] state ==> comm:pid [prio]`, or `comm:pid:prio [state]` on the left.
fn switch(body: &[u8], row: &mut impl Fill) -> Option<()> {
    let body = body.strip_prefix(b"task ").unwrap_or(body);
    let arrow = memmem::find(body, b" ==> ")?;
    let left = body[..arrow].trim_ascii();
    let (prev, state) = if let Some(inside) = left.strip_suffix(b"]") {
        let open = memrchr(b'[', inside)?;
        (task_colons(inside[..open].trim_ascii_end())?, &inside[open + 1..])
    } else {
        let blank = memrchr(b' ', left)?;
        let state = &left[blank + 1..];
        let state = state.strip_prefix(b"(").and_then(|s| s.strip_suffix(b")")).unwrap_or(state);
        (task(left[..blank].trim_ascii_end())?, state)
    };
    let right = body[arrow + 5..].trim_ascii();
    let next = task(right).or_else(|| task_colons(right))?;
    row.put(b"prev_comm", prev.0);
    row.put(b"prev_pid", prev.1);
    row.put(b"prev_prio", prev.2);
    // trace-cmd names the bits as old kernels did. No thread is switched out in the old state `W`; in new kernels this
    // bit is that of idle kernel threads, `I`.
    let state = if state == b"W" { b"I" } else { state };
    row.put(b"prev_state", state);
    row.put(b"next_comm", next.0);
    row.put(b"next_pid", next.1);
    row.put(b"next_prio", next.2);
    Some(())
}

/// `[task ]comm:pid [prio] [success=1 ]CPU:002`, or `[002]` at the end.
fn wakeup(body: &[u8], row: &mut impl Fill) -> Option<()> {
    let body = body.strip_prefix(b"task ").unwrap_or(body).trim_ascii_end();
    let blank = memrchr(b' ', body)?;
    let (mut head, last) = (body[..blank].trim_ascii_end(), &body[blank + 1..]);
    let bracketed = last.strip_prefix(b"[").and_then(|l| l.strip_suffix(b"]"));
    let cpu = last.strip_prefix(b"CPU:").or(bracketed)?;
    integer(cpu)?;
    let mut success = None;
    if let Some(at) = memmem::rfind(head, b" success=") {
        success = Some(&head[at + 9..]);
        head = head[..at].trim_ascii_end();
    }
    let (comm, pid, prio) = task(head)?;
    row.put(b"comm", comm);
    row.put(b"pid", pid);
    row.put(b"prio", prio);
    if let Some(success) = success {
        row.put(b"success", success);
    }
    row.put(b"target_cpu", cpu);
    Some(())
}

type Task<'a> = (&'a [u8], &'a [u8], &'a [u8]);

/// `comm:pid [prio]`
fn task(text: &[u8]) -> Option<Task<'_>> {
    let inside = text.strip_suffix(b"]")?;
    let open = memrchr(b'[', inside)?;
    let (comm, pid) = split_number(inside[..open].trim_ascii_end())?;
    signed(&inside[open + 1..])?;
    Some((comm, pid, &inside[open + 1..]))
}

/// `comm:pid:prio`
fn task_colons(text: &[u8]) -> Option<Task<'_>> {
    let (head, prio) = split_number(text)?;
    let (comm, pid) = split_number(head)?;
    Some((comm, pid, prio))
}

fn split_number(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = memrchr(b':', text)?;
    let number = &text[colon + 1..];
    signed(number)?;
    Some((&text[..colon], number))
}

fn signed(text: &[u8]) -> Option<i64> {
    integer(text.strip_prefix(b"-").unwrap_or(text))
}

fn syscall(body: &[u8], row: &mut impl Fill) -> Option<()> {
    let rest = body.strip_prefix(b"NR ")?;
    let blank = memchr::memchr(b' ', rest)?;
    let (number, rest) = (&rest[..blank], rest[blank..].trim_ascii());
    signed(number)?;
    if let Some(value) = rest.strip_prefix(b"=") {
        row.put(b"id", number);
        row.put(b"ret", value.trim_ascii_start());
        return Some(());
    }
    let arguments = rest.strip_prefix(b"(")?.strip_suffix(b")")?;
    row.put(b"id", number);
    row.put(b"args", arguments);
    Some(())
}

/// `name state=1 cpu_id=0`
fn named(body: &[u8], row: &mut impl Fill) -> Option<()> {
    let name = &body[..memchr::memchr(b' ', body)?];
    if name.contains(&b'=') {
        return None;
    }
    row.put(b"name", name);
    pairs(body[name.len()..].trim_ascii_start(), row);
    Some(())
}

fn printk(body: &[u8], row: &mut impl Fill) -> Option<()> {
    let colon = memmem::find(body, b": ")?;
    let ip = &body[..colon];
    if ip.is_empty() || ip.contains(&b' ') || ip.contains(&b'=') {
        return None;
    }
    row.put(b"ip", ip);
    row.free(body[colon + 2..].trim_ascii_end());
    Some(())
}

/// `# 1f buf: 61 62`: an id and bytes, all in hexadecimal.
fn raw_data(body: &[u8], row: &mut impl Fill) -> Option<()> {
    let rest = body.strip_prefix(b"# ")?;
    let (id, rest) = rest.split_at(memchr::memchr(b' ', rest)?);
    let id = u32::from_str_radix(str::from_utf8(id).ok()?, 16).ok()?;
    row.put(b"id", id.to_string().as_bytes());
    let rest = rest.strip_prefix(b" buf:").unwrap_or(rest);
    let bytes: Vec<u8> = rest.iter().filter(|b| !b.is_ascii_whitespace()).copied().collect();
    row.put_text(b"buf", &bytes);
    Some(())
}

fn function(body: &[u8], row: &mut impl Fill) -> Option<()> {
    let arrow = memmem::find(body, b" <-- ")?;
    row.put(b"ip", body[..arrow].trim_ascii());
    row.put(b"parent_ip", body[arrow + 5..].trim_ascii());
    Some(())
}
