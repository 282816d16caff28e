//! Resolve addresses to functions, by the maps of a program and the symbols of its modules.

use rustc_hash::FxHashMap;

use super::setup::{LibraryRow, MapRow, SessionRow, Setup, SymbolRow};

/// Number of symbols before an address to try: they may overlap.
const TRIES: usize = 8;
/// Maximum number of functions; beyond it, unnamed addresses are not distinguished, since damaged traces have arbitrary
/// ones.
const MOST_FUNCTIONS: usize = 1 << 20;

pub struct Symbol {
    pub address: u64,
    pub size: u64,
    pub kind: char,
    pub name: String,
}

pub struct Module {
    /// The name of its file.
    pub name: String,
    pub symbols: Vec<Symbol>,
}

impl Module {
    fn find(&self, address: u64) -> Option<usize> {
        let after = self.symbols.partition_point(|one| one.address <= address);
        let from = after.saturating_sub(TRIES);
        (from..after).rev().find(|at| self.symbols.get(*at).is_some_and(|one| address - one.address < one.size))
    }
}

/// A called function, or an address without a name.
#[derive(Clone)]
pub struct Function {
    pub name: Vec<u8>,
    pub module: Option<usize>,
    /// The address of the symbol, in its module; that of the call if there is none.
    pub address: u64,
    pub symbol: Option<usize>,
    pub session: usize,
}

#[derive(Default)]
struct Session {
    maps: Vec<MapRow>,
    libraries: Vec<LibraryRow>,
    /// The number of open libraries, and the time of the next one.
    open: usize,
    opens: i64,
    known: FxHashMap<u64, u32>,
}

impl Session {
    /// Open libraries up to a time, which invalidates earlier results for addresses.
    fn open(&mut self, time: i64) {
        while let Some((opened, ..)) = self.libraries.get(self.open)
            && *opened <= time
        {
            self.open += 1;
        }
        let next = self.libraries.get(self.open);
        self.opens = next.map_or(i64::MAX, |one| one.0);
        self.known.clear();
    }
}

/// An address looked up in a session, and its function.
#[derive(Clone, Copy)]
struct Recent {
    address: u64,
    session: usize,
    function: u32,
}

const NO_RECENT: Recent = Recent { address: 0, session: usize::MAX, function: 0 };
const RECENT_BITS: u32 = 10;

/// The slot of an address in the cache.
#[inline]
fn slot(address: u64) -> usize {
    (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - RECENT_BITS)) as usize
}

/// Looks up functions.
pub struct Symbols {
    pub modules: Vec<Module>,
    sessions: Vec<Session>,
    relative: bool,
    /// All functions looked up.
    pub functions: Vec<Function>,
    /// Their numbers by session, module and symbol.
    numbers: FxHashMap<(usize, usize, usize), u32>,
    /// A cache, indexed by a few bits of the address: most calls are of few functions.
    recent: Box<[Recent; 1 << RECENT_BITS]>,
}

impl Symbols {
    pub fn new(setup: &mut Setup) -> Symbols {
        let modules = std::mem::take(&mut setup.modules);
        let mut sessions: Vec<Session> = setup.sessions.iter_mut().map(session).collect();
        if sessions.is_empty() {
            sessions.push(Session { opens: i64::MAX, ..Session::default() });
        }
        Symbols {
            modules: modules.into_iter().map(module).collect(),
            sessions,
            relative: setup.relative,
            functions: Vec::new(),
            numbers: FxHashMap::default(),
            recent: Box::new([NO_RECENT; 1 << RECENT_BITS]),
        }
    }

    /// The number of the function of an address, at a time, in a session.
    #[inline]
    pub fn function(&mut self, session: usize, address: u64, time: i64) -> u32 {
        let one = self.sessions.get(session);
        if one.is_some_and(|one| one.opens <= time) {
            self.open(session, time);
        }
        let recent = self.recent[slot(address)];
        if recent.address == address && recent.session == session {
            return recent.function;
        }
        self.look_up(session, address)
    }

    /// Open the libraries of a session up to a time.
    #[cold]
    fn open(&mut self, session: usize, time: i64) {
        if let Some(one) = self.sessions.get_mut(session) {
            one.open(time);
        }
        self.recent.fill(NO_RECENT);
    }

    /// The number of the function without known address; its name is `<0>`.
    pub fn nameless(&mut self) -> u32 {
        self.look_up(0, 0)
    }

    #[inline(never)]
    fn look_up(&mut self, session: usize, address: u64) -> u32 {
        let one = self.sessions.get(session);
        let known = one.and_then(|one| one.known.get(&address)).copied();
        let function = known.unwrap_or_else(|| self.learn(session, address));
        self.recent[slot(address)] = Recent { address, session, function };
        function
    }

    #[cold]
    fn learn(&mut self, session: usize, address: u64) -> u32 {
        let found = self.find(session, address);
        let number = match found {
            None => self.unknown(session, address),
            Some((module, symbol)) => self.named(session, module, symbol),
        };
        if let Some(one) = self.sessions.get_mut(session)
            && one.known.len() < MOST_FUNCTIONS
        {
            one.known.insert(address, number);
        }
        number
    }

    fn named(&mut self, session: usize, module: usize, symbol: usize) -> u32 {
        if let Some(known) = self.numbers.get(&(session, module, symbol)) {
            return *known;
        }
        let Some(found) = self.modules.get(module).and_then(|one| one.symbols.get(symbol)) else {
            return self.unknown(session, 0);
        };
        self.functions.push(Function {
            name: found.name.clone().into_bytes(),
            module: Some(module),
            address: found.address,
            symbol: Some(symbol),
            session,
        });
        let number = (self.functions.len() - 1) as u32;
        self.numbers.insert((session, module, symbol), number);
        number
    }

    #[cold]
    fn unknown(&mut self, session: usize, address: u64) -> u32 {
        if self.functions.len() >= MOST_FUNCTIONS {
            return (MOST_FUNCTIONS - 1) as u32;
        }
        let crowded = self.functions.len() == MOST_FUNCTIONS - 1;
        let module = self.sessions.get(session).and_then(|one| {
            let found = one.maps.iter().find(|map| map.0 <= address && address < map.1);
            found.map(|map| map.2)
        });
        self.functions.push(Function {
            name: if crowded { b"<unknown>".to_vec() } else { format!("<{address:x}>").into_bytes() },
            module,
            address,
            symbol: None,
            session,
        });
        (self.functions.len() - 1) as u32
    }

    /// The module and symbol at an address.
    pub fn find(&self, session: usize, address: u64) -> Option<(usize, usize)> {
        let one = self.sessions.get(session)?;
        for (start, end, module) in &one.maps {
            if *start <= address && address < *end {
                let symbols = self.modules.get(*module)?;
                let found = symbols.find(address - start);
                let found = found.or_else(|| (!self.relative).then(|| symbols.find(address)).flatten());
                return found.map(|symbol| (*module, symbol));
            }
        }
        let open = one.libraries.get(..one.open)?;
        open.iter().rev().find_map(|(_, base, module)| {
            let found = self.modules.get(*module)?.find(address.checked_sub(*base)?)?;
            Some((*module, found))
        })
    }
}

fn session(row: &mut SessionRow) -> Session {
    Session {
        maps: row.maps.clone(),
        libraries: row.libraries.clone(),
        open: 0,
        opens: row.libraries.first().map_or(i64::MAX, |one| one.0),
        known: FxHashMap::default(),
    }
}

fn module((path, symbols): (String, Vec<SymbolRow>)) -> Module {
    let symbols = symbols.into_iter().map(|(address, size, kind, name)| Symbol { address, size, kind, name });
    let mut symbols: Vec<Symbol> = symbols.collect();
    symbols.sort_by_key(|one| one.address);
    Module { name: path.rsplit('/').next().unwrap_or(&path).to_owned(), symbols }
}
