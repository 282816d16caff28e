//! Names: the visible part of a symbol.

use super::Parser;

const OPERATORS: [(&[u8; 2], &str); 50] = [
    (b"nw", " new"),
    (b"na", " new[]"),
    (b"dl", " delete"),
    (b"da", " delete[]"),
    (b"ps", "+"),
    (b"ng", "-"),
    (b"ad", "&"),
    (b"de", "*"),
    (b"co", "~"),
    (b"pl", "+"),
    (b"mi", "-"),
    (b"ml", "*"),
    (b"dv", "/"),
    (b"rm", "%"),
    (b"an", "&"),
    (b"or", "|"),
    (b"eo", "^"),
    (b"aS", "="),
    (b"pL", "+="),
    (b"mI", "-="),
    (b"mL", "*="),
    (b"dV", "/="),
    (b"rM", "%="),
    (b"aN", "&="),
    (b"oR", "|="),
    (b"eO", "^="),
    (b"ls", "<<"),
    (b"rs", ">>"),
    (b"lS", "<<="),
    (b"rS", ">>="),
    (b"eq", "=="),
    (b"ne", "!="),
    (b"lt", "<"),
    (b"gt", ">"),
    (b"le", "<="),
    (b"ge", ">="),
    (b"ss", "<=>"),
    (b"nt", "!"),
    (b"aa", "&&"),
    (b"oo", "||"),
    (b"pp", "++"),
    (b"mm", "--"),
    (b"cm", ","),
    (b"pm", "->*"),
    (b"pt", "->"),
    (b"cl", "()"),
    (b"ix", "[]"),
    (b"qu", "?"),
    (b"cv", "(cast)"),
    (b"li", "\"\""),
];

const ABBREVIATIONS: [(u8, &str); 7] = [
    (b't', "std"),
    (b'a', "std::allocator"),
    (b'b', "std::basic_string"),
    (b's', "std::basic_string<>"),
    (b'i', "std::basic_istream"),
    (b'o', "std::basic_ostream"),
    (b'd', "std::basic_iostream"),
];

/// Rust's spelling of characters between `$`.
const RUST: [(&str, &str); 8] =
    [("SP", "@"), ("BP", "*"), ("RF", "&"), ("LT", "<"), ("GT", ">"), ("LP", "("), ("RP", ")"), ("C", ",")];

impl Parser<'_> {
    /// The name of a whole symbol; the rest is ignored.
    pub(super) fn top(&mut self) -> Option<()> {
        match self.peek() {
            b'T' | b'G' => self.special(),
            _ => self.name(),
        }
    }

    /// A name, then types: the part of a local name before its `E`.
    pub(super) fn encoding(&mut self) -> Option<()> {
        self.nested(|one| {
            one.top()?;
            while !matches!(one.peek(), b'E' | b'.' | b'@' | 0) {
                one.quietly(Self::type_name)?;
            }
            Some(())
        })
    }

    pub(super) fn name(&mut self) -> Option<()> {
        self.nested(|one| match one.peek() {
            b'N' => one.nested_name(),
            b'Z' => one.local(),
            b'S' => {
                one.substitution()?;
                if one.peek() != b'I' {
                    one.unqualified()?;
                }
                one.template_args_if_any()
            }
            _ => {
                one.unqualified()?;
                one.template_args_if_any()
            }
        })
    }

    fn nested_name(&mut self) -> Option<()> {
        self.need(b"N")?;
        while matches!(self.peek(), b'r' | b'V' | b'K' | b'R' | b'O') {
            self.at += 1;
        }
        while !self.eat(b"E") {
            match (self.peek(), self.peek_next()) {
                (b'S', _) => self.substitution()?,
                (b'T', _) => self.template_param()?,
                (b'I', _) => self.template_args()?,
                (b'D', b't' | b'T') => self.quietly(Self::decltype)?,
                (b'M', _) => self.at += 1,
                _ => self.unqualified()?,
            }
        }
        Some(())
    }

    fn local(&mut self) -> Option<()> {
        self.need(b"Z")?;
        self.encoding()?;
        self.need(b"E")?;
        if self.eat(b"s") {
            return self.discriminator();
        }
        if self.eat(b"d") {
            while self.peek().is_ascii_digit() {
                self.at += 1;
            }
            self.need(b"_")?;
        }
        self.name()?;
        self.discriminator()
    }

    fn discriminator(&mut self) -> Option<()> {
        if self.eat(b"__") {
            self.number()?;
            return self.need(b"_");
        }
        if self.peek() == b'_' && self.peek_next().is_ascii_digit() {
            self.at += 2;
        }
        Some(())
    }

    pub(super) fn unqualified(&mut self) -> Option<()> {
        while matches!(self.peek(), b'L' | b'F') {
            self.at += 1;
        }
        match (self.peek(), self.peek_next()) {
            (b'C' | b'D', _) => self.constructor()?,
            (b'U', b't') => {
                self.at += 2;
                self.sequence()?;
            }
            (b'U', b'l') => self.lambda()?,
            (one, _) if one.is_ascii_lowercase() => self.operator()?,
            _ => self.source_name()?,
        }
        while self.eat(b"B") {
            self.source_name()?;
        }
        Some(())
    }

    fn lambda(&mut self) -> Option<()> {
        self.need(b"Ul")?;
        while !self.eat(b"E") {
            self.quietly(Self::type_name)?;
        }
        let number = match self.peek() {
            b'_' => 0,
            _ => self.number()?.checked_add(1)?,
        };
        self.need(b"_")?;
        self.show(format!("$_{number}").as_bytes());
        Some(())
    }

    fn constructor(&mut self) -> Option<()> {
        let destructs = self.peek() == b'D';
        self.at += 1;
        let inherits = self.eat(b"I");
        if !self.peek().is_ascii_digit() {
            return None;
        }
        self.at += 1;
        if inherits {
            self.quietly(Self::type_name)?;
        }
        let start = self.out.iter().rposition(|one| *one == b':').map_or(0, |at| at + 1);
        let mut last = self.out.get(start..)?.to_vec();
        if destructs {
            last.insert(0, b'~');
        }
        self.show(&last);
        Some(())
    }

    pub(super) fn operator(&mut self) -> Option<()> {
        let code = [self.peek(), self.peek_next()];
        self.at += 2;
        if code[0] == b'v' && code[1].is_ascii_digit() {
            return self.source_name();
        }
        let (_, shown) = OPERATORS.iter().find(|one| *one.0 == code)?;
        self.show(format!("operator{shown}").as_bytes());
        match &code {
            b"cv" => self.quietly(Self::type_name),
            b"li" => self.quietly(Self::source_name),
            _ => Some(()),
        }
    }

    pub(super) fn source_name(&mut self) -> Option<()> {
        let length = self.number()?;
        let end = self.at.checked_add(length)?;
        let name = self.bytes.get(self.at..end)?;
        self.at = end;
        let hash =
            name.strip_prefix(b"h").is_some_and(|rest| rest.len() == 16 && rest.iter().all(u8::is_ascii_hexdigit));
        if !hash {
            let shown = rust(name);
            self.show(shown.as_deref().unwrap_or(name));
        }
        Some(())
    }

    pub(super) fn substitution(&mut self) -> Option<()> {
        self.need(b"S")?;
        let code = self.peek();
        if let Some((_, shown)) = ABBREVIATIONS.iter().find(|one| one.0 == code) {
            self.at += 1;
            self.show(shown.as_bytes());
            while self.eat(b"B") {
                self.source_name()?;
            }
            return Some(());
        }
        self.sequence()
    }

    /// Tables, thunks, guards: a word, and the name they belong to.
    fn special(&mut self) -> Option<()> {
        let code = [self.peek(), self.peek_next()];
        self.at += 2;
        let word = match &code {
            b"TV" => "__vtable__",
            b"TT" => "__VTT__",
            b"TI" => "__typeinfo__",
            b"TS" => "__typeinfo_name__",
            b"TC" => "__construction_vtable__",
            b"GV" => "__guard_variable__",
            b"GR" => "__ref_temp__",
            b"TH" => "TLS_init::",
            b"TW" => "TLS_wrap::",
            b"GA" => return self.encoding(),
            b"GT" => {
                self.at += 1;
                return self.encoding();
            }
            b"Th" | b"Tv" => {
                self.at -= 1;
                self.call_offset()?;
                return self.encoding();
            }
            b"Tc" => {
                self.call_offset()?;
                self.call_offset()?;
                return self.encoding();
            }
            _ => return None,
        };
        self.out.extend_from_slice(word.as_bytes());
        match &code {
            b"GV" | b"GR" | b"TH" | b"TW" => self.name(),
            _ => self.type_name(),
        }
    }

    fn call_offset(&mut self) -> Option<()> {
        let parts = match self.peek() {
            b'h' => 1,
            b'v' => 2,
            _ => return None,
        };
        self.at += 1;
        for _ in 0..parts {
            self.eat(b"n");
            self.number()?;
            self.need(b"_")?;
        }
        Some(())
    }
}

/// A name with characters between `$` in Rust's spelling; None if there are none.
fn rust(name: &[u8]) -> Option<Vec<u8>> {
    let text = str::from_utf8(name).ok()?;
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        let (code, behind) = after.split_once('$')?;
        let known = RUST.iter().find(|one| one.0 == code).map(|one| one.1.to_owned());
        let hex = code.strip_prefix('u').and_then(|one| u32::from_str_radix(one, 16).ok());
        let found = known.or_else(|| hex.and_then(char::from_u32).map(String::from))?;
        out.push_str(&before.replace("..", "::"));
        if found == " "
            && let Some(trait_name) = behind.strip_prefix("as$u20$")
        {
            // For `<Type as Trait>` only the type is part of the output.
            let ends = trait_name.ends_with("$GT$");
            out.push_str(if ends { ">" } else { "" });
            return Some(out.into_bytes());
        }
        out.push_str(&found);
        rest = behind;
    }
    if rest.len() == text.len() {
        return None;
    }
    out.push_str(&rest.replace("..", "::"));
    Some(out.into_bytes())
}
