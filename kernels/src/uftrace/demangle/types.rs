//! Types, template arguments and expressions, which are parsed only to find their ends.

use super::Parser;

const UNARY: [&[u8; 2]; 16] =
    [b"ps", b"ng", b"ad", b"de", b"nt", b"co", b"dl", b"da", b"te", b"sz", b"az", b"nx", b"sp", b"tw", b"pp", b"mm"];
const BINARY: [&[u8; 2]; 37] = [
    b"pl", b"mi", b"ml", b"dv", b"rm", b"an", b"or", b"eo", b"aS", b"pL", b"mI", b"mL", b"dV", b"rM", b"aN", b"oR",
    b"eO", b"ls", b"rs", b"lS", b"rS", b"eq", b"ne", b"lt", b"gt", b"le", b"ge", b"ss", b"aa", b"oo", b"cm", b"pm",
    b"ix", b"ds", b"cc", b"sc", b"dc",
];

impl Parser<'_> {
    pub(super) fn template_args_if_any(&mut self) -> Option<()> {
        match self.peek() {
            b'I' => self.template_args(),
            _ => Some(()),
        }
    }

    pub(super) fn template_args(&mut self) -> Option<()> {
        self.need(b"I")?;
        self.quietly(|one| {
            while !one.eat(b"E") {
                one.template_arg()?;
            }
            Some(())
        })
    }

    fn template_arg(&mut self) -> Option<()> {
        self.nested(|one| match one.peek() {
            b'X' => {
                one.at += 1;
                one.expression()?;
                one.need(b"E")
            }
            b'L' => one.primary(),
            b'J' => {
                one.at += 1;
                while !one.eat(b"E") {
                    one.template_arg()?;
                }
                Some(())
            }
            _ => one.type_name(),
        })
    }

    pub(super) fn template_param(&mut self) -> Option<()> {
        self.need(b"T")?;
        if self.eat(b"L") {
            self.number()?;
            self.need(b"_")?;
        }
        self.sequence()
    }

    pub(super) fn decltype(&mut self) -> Option<()> {
        self.at += 2;
        self.expression()?;
        self.need(b"E")
    }

    pub(super) fn type_name(&mut self) -> Option<()> {
        while matches!(self.peek(), b'r' | b'V' | b'K' | b'P' | b'R' | b'O' | b'C' | b'G') {
            self.at += 1;
        }
        self.nested(|one| match one.peek() {
            b'F' => one.function(),
            b'A' => one.array(),
            b'M' => {
                one.at += 1;
                one.type_name()?;
                one.type_name()
            }
            b'T' => one.parameter_type(),
            b'D' => one.other(),
            b'S' => {
                let std = one.peek_next() == b't';
                one.substitution()?;
                if std && !matches!(one.peek(), b'I') {
                    one.unqualified()?;
                }
                one.template_args_if_any()
            }
            b'u' => {
                one.at += 1;
                one.source_name()?;
                one.template_args_if_any()
            }
            b'U' => {
                one.at += 1;
                one.source_name()?;
                one.template_args_if_any()?;
                one.type_name()
            }
            b'N' | b'Z' | b'0'..=b'9' => one.name(),
            b'a'..=b'z' => {
                one.at += 1;
                Some(())
            }
            _ => None,
        })
    }

    fn parameter_type(&mut self) -> Option<()> {
        if matches!(self.peek_next(), b's' | b'u' | b'e') {
            self.at += 2;
            return self.name();
        }
        self.template_param()?;
        self.template_args_if_any()
    }

    fn function(&mut self) -> Option<()> {
        self.need(b"F")?;
        self.eat(b"Y");
        self.quietly(|one| {
            while !one.eat(b"E") {
                if matches!(one.peek(), b'R' | b'O') && one.peek_next() == b'E' {
                    one.at += 1;
                } else {
                    one.type_name()?;
                }
            }
            Some(())
        })
    }

    fn array(&mut self) -> Option<()> {
        self.need(b"A")?;
        if self.peek().is_ascii_digit() {
            self.number()?;
        } else if self.peek() != b'_' {
            self.quietly(Self::expression)?;
        }
        self.need(b"_")?;
        self.type_name()
    }

    /// Types that begin with `D`.
    fn other(&mut self) -> Option<()> {
        let code = self.peek_next();
        match code {
            b't' | b'T' => return self.quietly(Self::decltype),
            b'k' | b'K' => {
                self.at += 2;
                self.name()?;
                return Some(());
            }
            _ => self.at += 2,
        }
        match code {
            b'p' | b'o' | b'x' => self.type_name(),
            b'd' | b'e' | b'f' | b'h' | b'i' | b's' | b'a' | b'c' | b'n' | b'u' => Some(()),
            b'O' => {
                self.quietly(Self::expression)?;
                self.need(b"E")?;
                self.type_name()
            }
            b'w' => {
                while !self.eat(b"E") {
                    self.quietly(Self::type_name)?;
                }
                self.type_name()
            }
            b'v' => {
                if !self.eat(b"_") {
                    self.number()?;
                } else {
                    self.quietly(Self::expression)?;
                }
                self.need(b"_")?;
                self.type_name()
            }
            b'F' | b'B' | b'U' => {
                self.number()?;
                matches!(self.peek(), b'_' | b'x' | b'b').then(|| self.at += 1)
            }
            _ => None,
        }
    }

    /// `L`, a type and a value, or a mangled name.
    fn primary(&mut self) -> Option<()> {
        self.need(b"L")?;
        self.quietly(|one| {
            if one.eat(b"_Z") {
                one.encoding()?;
                return one.need(b"E");
            }
            one.type_name()?;
            while one.peek() != b'E' && one.peek() != 0 {
                one.at += 1;
            }
            one.need(b"E")
        })
    }

    fn expressions(&mut self, end: u8) -> Option<()> {
        while self.peek() != end {
            self.expression()?;
        }
        self.at += 1;
        Some(())
    }

    fn expression(&mut self) -> Option<()> {
        self.quietly(|one| {
            one.eat(b"gs");
            let code = [one.peek(), one.peek_next()];
            match &code {
                [b'L', _] => return one.primary(),
                [b'T', _] => return one.template_param(),
                [b'f', b'p' | b'L'] => return one.function_param(),
                [b'f', b'l' | b'r'] => return one.fold(1),
                [b'f', b'R'] => return one.fold(2),
                [b'0'..=b'9', _] | b"sr" | b"on" | b"dn" => return one.unresolved(),
                _ => one.at += 2,
            }
            one.operation(&code)
        })
    }

    fn operation(&mut self, code: &[u8; 2]) -> Option<()> {
        match code {
            b"cl" | b"il" => self.expressions(b'E'),
            b"tl" => {
                self.type_name()?;
                self.expressions(b'E')
            }
            b"cv" => {
                self.type_name()?;
                if self.eat(b"_") {
                    return self.expressions(b'E');
                }
                self.expression()
            }
            b"qu" => (0..3).try_for_each(|_| self.expression()),
            b"dc" | b"sc" | b"cc" | b"rc" => {
                self.type_name()?;
                self.expression()
            }
            b"ti" | b"st" | b"at" => self.type_name(),
            b"dt" | b"pt" => {
                self.expression()?;
                self.unresolved()
            }
            b"nw" | b"na" => {
                self.expressions(b'_')?;
                self.type_name()?;
                if self.eat(b"pi") {
                    return self.expressions(b'E');
                }
                self.need(b"E")
            }
            b"sZ" => match self.peek() {
                b'T' => self.template_param(),
                _ => self.function_param(),
            },
            b"sP" => {
                while !self.eat(b"E") {
                    self.template_arg()?;
                }
                Some(())
            }
            b"tr" => Some(()),
            code if UNARY.contains(&code) => {
                self.eat(b"_");
                self.expression()
            }
            code if BINARY.contains(&code) => {
                self.expression()?;
                self.expression()
            }
            _ => None,
        }
    }

    fn fold(&mut self, sides: usize) -> Option<()> {
        self.at += 4;
        (0..sides).try_for_each(|_| self.expression())
    }

    fn function_param(&mut self) -> Option<()> {
        if self.eat(b"fpT") {
            return Some(());
        }
        if self.eat(b"fL") {
            self.number()?;
            self.need(b"p")?;
        } else {
            self.need(b"fp")?;
        }
        while matches!(self.peek(), b'r' | b'V' | b'K') {
            self.at += 1;
        }
        self.sequence()
    }

    fn unresolved(&mut self) -> Option<()> {
        if self.eat(b"srN") {
            self.type_name()?;
            while !self.eat(b"E") {
                self.simple()?;
            }
        } else if self.eat(b"sr") {
            if self.peek().is_ascii_digit() {
                // A name of a namespace or a type: both have the same syntax.
                self.simple()?;
                while self.peek().is_ascii_digit() {
                    self.simple()?;
                }
                self.eat(b"E");
                if !self.peek().is_ascii_digit() && !matches!(self.peek(), b'o' | b'd') {
                    return Some(());
                }
            } else {
                self.type_name()?;
            }
        }
        self.base()
    }

    fn simple(&mut self) -> Option<()> {
        self.source_name()?;
        self.template_args_if_any()
    }

    fn base(&mut self) -> Option<()> {
        if self.eat(b"on") {
            self.operator()?;
            return self.template_args_if_any();
        }
        if self.eat(b"dn") {
            return match self.peek() {
                b'0'..=b'9' => self.simple(),
                _ => self.type_name(),
            };
        }
        self.simple()
    }
}
