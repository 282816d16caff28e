//! Resolve addresses to frames, `module+0xoffset`, by the mappings of processes and of the kernel.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::tracepoints::Symbols;

/// Maximum number of mappings in all, counted for each process that has one.
const MOST: usize = 2_000_000;
/// Number of ended processes to remember, since their last samples may follow.
const ENDED: usize = 4096;
/// Maximum number of cached frames.
const FRAMES: usize = 1 << 18;
/// Maximum number of cached names of modules.
const NAMES: usize = 1 << 16;
const UNKNOWN: &str = "[unknown]";
/// The longest name of a module in a frame.
const NAME: usize = 128;

/// The memory that an address belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mode {
    Unknown,
    Kernel,
    User,
    Hypervisor,
    GuestKernel,
    GuestUser,
}

impl Mode {
    /// The mode in a record's `misc` field.
    pub fn of_misc(misc: u16) -> Mode {
        match misc & 7 {
            1 => Mode::Kernel,
            2 => Mode::User,
            3 => Mode::Hypervisor,
            4 => Mode::GuestKernel,
            5 => Mode::GuestUser,
            _ => Mode::Unknown,
        }
    }

    pub fn name(self) -> Option<&'static str> {
        match self {
            Mode::Unknown => None,
            Mode::Kernel => Some("kernel"),
            Mode::User => Some("user"),
            Mode::Hypervisor => Some("hypervisor"),
            Mode::GuestKernel => Some("guest_kernel"),
            Mode::GuestUser => Some("guest_user"),
        }
    }
}

#[derive(Clone)]
struct Mapping {
    end: u64,
    /// Added to an address, it gives the offset in the module.
    shift: u64,
    module: Arc<str>,
}

type Space = BTreeMap<u64, Mapping>;

/// All mappings at the time of the current record.
#[derive(Default)]
pub struct Maps {
    spaces: FxHashMap<i64, Arc<Space>>,
    kernel: Space,
    symbols: Space,
    functions: Option<Symbols>,
    modules: FxHashMap<Vec<u8>, Arc<str>>,
    held: usize,
    ended: VecDeque<i64>,
    frames: FxHashMap<(i64, u64, Mode), Arc<str>>,
    /// Number of mappings beyond the maximum.
    pub left_out: u64,
}

impl Maps {
    /// Map a file from `offset` on into the memory of a process, or of the kernel, at `start`.
    pub fn map(&mut self, pid: i64, kernel: bool, (start, len): (u64, u64), offset: u64, file: &[u8]) {
        if self.held >= MOST {
            self.left_out += 1;
            return;
        }
        let mapping = Mapping {
            end: start.saturating_add(len),
            shift: match kernel {
                true => start.wrapping_neg(),
                false => offset.wrapping_sub(start),
            },
            module: self.module(file, kernel),
        };
        if mapping.end > start {
            let space = match kernel {
                true => &mut self.kernel,
                false => Arc::make_mut(self.spaces.entry(pid).or_default()),
            };
            let before = space.len();
            insert(space, start, mapping);
            self.held = (self.held + space.len()).saturating_sub(before);
            self.frames.clear();
        }
    }

    /// Add or remove a symbol of the kernel.
    pub fn symbol(&mut self, (start, len): (u64, u64), name: &[u8], gone: bool) {
        self.frames.clear();
        if gone {
            self.symbols.remove(&start);
        } else if self.symbols.len() >= MOST {
            self.left_out += 1;
        } else {
            let mapping = Mapping { end: start.saturating_add(len), shift: 0, module: self.interned(name) };
            self.symbols.insert(start, mapping);
        }
    }

    /// Set the functions of the kernel.
    pub fn set_functions(&mut self, functions: Symbols) {
        self.functions = Some(functions);
        self.frames.clear();
    }

    /// Start a process with the memory of another.
    pub fn fork(&mut self, parent: i64, child: i64) {
        let Some(space) = self.spaces.get(&parent).cloned() else {
            self.forget(child);
            return;
        };
        if self.held.saturating_add(space.len()) > MOST {
            self.left_out += 1;
            return;
        }
        self.forget(child);
        self.held += space.len();
        self.spaces.insert(child, space);
    }

    /// Clear the memory of a process that has ended, or starts a program.
    pub fn forget(&mut self, pid: i64) {
        if let Some(space) = self.spaces.remove(&pid) {
            self.held = self.held.saturating_sub(space.len());
            self.frames.clear();
        }
    }

    /// End a process; it is removed when many others have ended.
    pub fn end(&mut self, pid: i64) {
        self.ended.push_back(pid);
        if self.ended.len() > ENDED
            && let Some(oldest) = self.ended.pop_front()
        {
            self.forget(oldest);
        }
    }

    /// The frame of an address.
    pub fn frame(&mut self, pid: i64, address: u64, mode: Mode) -> Arc<str> {
        let pid = if mode == Mode::Kernel { -1 } else { pid };
        if let Some(frame) = self.frames.get(&(pid, address, mode)) {
            return Arc::clone(frame);
        }
        let frame = self.named(pid, address, mode);
        if self.frames.len() >= FRAMES {
            self.frames.clear();
        }
        self.frames.insert((pid, address, mode), Arc::clone(&frame));
        frame
    }

    fn named(&self, pid: i64, address: u64, mode: Mode) -> Arc<str> {
        if mode != Mode::User
            && let Some(symbol) = find(&self.symbols, address)
        {
            return Arc::clone(&symbol.module);
        }
        if mode == Mode::Kernel
            && let Some((name, ..)) = self.functions.as_ref().and_then(|all| all.find(address))
        {
            return Arc::from(String::from_utf8_lossy(name).replace(';', ":"));
        }
        let found = match mode {
            Mode::Kernel => find(&self.kernel, address),
            Mode::User => self.in_process(pid, address),
            Mode::Unknown => self.in_process(pid, address).or_else(|| find(&self.kernel, address)),
            _ => return Arc::from("[guest]"),
        };
        match found {
            None => Arc::from(UNKNOWN),
            Some(mapping) => {
                let offset = address.wrapping_add(mapping.shift);
                Arc::from(format!("{}+{offset:#x}", mapping.module))
            }
        }
    }

    fn in_process(&self, pid: i64, address: u64) -> Option<&Mapping> {
        find(self.spaces.get(&pid)?, address)
    }

    /// The name of a file in frames: without its folders.
    fn module(&mut self, file: &[u8], kernel: bool) -> Arc<str> {
        let name = match file {
            [b'[', ..] => {
                let end = memchr::memchr(b']', file).map_or(file.len(), |at| at + 1);
                file.get(..end).unwrap_or(file)
            }
            [b'/', b'/', ..] => file,
            _ => {
                let start = memchr::memrchr(b'/', file).map_or(0, |at| at + 1);
                file.get(start..).unwrap_or(file)
            }
        };
        match name.strip_suffix(b".ko") {
            Some(module) if kernel => self.interned(&[b"[", module, b"]"].concat()),
            _ => self.interned(name),
        }
    }

    fn interned(&mut self, name: &[u8]) -> Arc<str> {
        let name = name.get(..NAME).unwrap_or(name);
        if let Some(known) = self.modules.get(name) {
            return Arc::clone(known);
        }
        let text: Arc<str> = match name {
            b"" => Arc::from(UNKNOWN),
            // `;` separates the frames of a stack.
            name => Arc::from(String::from_utf8_lossy(name).replace(';', ":")),
        };
        if self.modules.len() >= NAMES {
            self.modules.clear();
        }
        self.modules.insert(name.to_vec(), Arc::clone(&text));
        text
    }
}

fn find(space: &Space, address: u64) -> Option<&Mapping> {
    let (_, mapping) = space.range(..=address).next_back()?;
    (address < mapping.end).then_some(mapping)
}

/// Add a mapping, which replaces overlapping ones.
fn insert(space: &mut Space, start: u64, mapping: Mapping) {
    if let Some((_, before)) = space.range_mut(..start).next_back()
        && before.end > start
    {
        let behind = before.clone();
        before.end = start;
        if behind.end > mapping.end {
            space.insert(mapping.end, behind);
        }
    }
    while let Some((&at, over)) = space.range(start..mapping.end).next() {
        let over = over.clone();
        space.remove(&at);
        if over.end > mapping.end {
            space.insert(mapping.end, over);
        }
    }
    space.insert(start, mapping);
}
