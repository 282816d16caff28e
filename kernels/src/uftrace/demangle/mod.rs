//! Demangle names of C++ and Rust into uftrace's form: without parameters, results and template arguments.
//!
//! Names follow the Itanium C++ ABI. Unsupported ones stay mangled.

mod names;
mod types;

const PREFIXES: [&str; 2] = ["_GLOBAL__sub_I_", "__device_stub_"];
/// Maximum nesting depth of names.
const MOST_DEPTH: u32 = 100;

/// Parser of one name.
struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
    out: Vec<u8>,
    /// Depth of types and template arguments, which are not part of the output.
    quiet: u32,
    depth: u32,
    /// Whether there is no output yet that a `::` would have to follow.
    first: bool,
}

/// A name, demangled if it is mangled.
pub fn demangle(name: &str) -> Option<String> {
    let prefix = PREFIXES.into_iter().find(|one| name.starts_with(one)).unwrap_or("");
    let mangled = name.get(prefix.len()..)?.strip_prefix("_Z")?;
    let mut parser =
        Parser { bytes: mangled.as_bytes(), at: 0, out: prefix.as_bytes().to_vec(), quiet: 0, depth: 0, first: true };
    parser.top()?;
    (parser.out.len() > prefix.len()).then(|| String::from_utf8_lossy(&parser.out).into_owned())
}

impl<'a> Parser<'a> {
    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    fn peek_next(&self) -> u8 {
        self.bytes.get(self.at + 1).copied().unwrap_or(0)
    }

    /// Consume these letters if they come next; returns whether they did.
    fn eat(&mut self, letters: &[u8]) -> bool {
        let found = self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(letters));
        if found {
            self.at += letters.len();
        }
        found
    }

    fn need(&mut self, letters: &[u8]) -> Option<()> {
        self.eat(letters).then_some(())
    }

    /// Parse one level deeper.
    fn nested(&mut self, inner: impl FnOnce(&mut Self) -> Option<()>) -> Option<()> {
        if self.depth >= MOST_DEPTH {
            return None;
        }
        self.depth += 1;
        let found = inner(self);
        self.depth -= 1;
        found
    }

    /// Parse something without output.
    fn quietly(&mut self, inner: impl FnOnce(&mut Self) -> Option<()>) -> Option<()> {
        self.quiet += 1;
        let found = self.nested(inner);
        self.quiet -= 1;
        found
    }

    fn number(&mut self) -> Option<usize> {
        let rest = self.bytes.get(self.at..)?;
        let digits = rest.iter().take_while(|one| one.is_ascii_digit()).count();
        let digits = str::from_utf8(rest.get(..digits)?).ok()?;
        self.at += digits.len();
        digits.parse().ok()
    }

    /// Digits and capital letters up to `_`.
    fn sequence(&mut self) -> Option<()> {
        while self.peek().is_ascii_digit() || self.peek().is_ascii_uppercase() {
            self.at += 1;
        }
        self.need(b"_")
    }

    fn show(&mut self, part: &[u8]) {
        if self.quiet > 0 {
            return;
        }
        if !self.first {
            self.out.extend_from_slice(b"::");
        }
        self.first = false;
        self.out.extend_from_slice(part);
    }
}
