//! Match functions against names and patterns.

use pyo3::prelude::*;
use regex_lite::Regex;

use super::missed::Word;
use super::rules::{Rule, Trigger};

/// A name without any of these is matched literally.
const SPECIAL: &str = ".?*+-^$|()[]{}";

enum Pattern {
    Name(String),
    /// A file or folder: whole names in a path.
    Within(String),
    Found(Regex),
}

impl Pattern {
    /// `kind` is `regex`, which may match anywhere, `glob` or `simple`.
    fn new(name: &str, kind: &str) -> Result<Self, String> {
        let plain = kind == "simple"
            || name.starts_with("operator ")
            || kind == "regex" && !name.contains(|letter| SPECIAL.contains(letter));
        if plain {
            return Ok(Self::Name(name.to_owned()));
        }
        let regex = match kind {
            "glob" => Regex::new(&of_glob(name)),
            _ => Regex::new(name),
        };
        regex.map(Self::Found).map_err(|error| error.to_string())
    }

    /// Of source files: without special characters, a text of any kind names a file or folder.
    fn of_files(name: &str, kind: &str) -> Result<Self, String> {
        if name.contains(|letter| SPECIAL.contains(letter)) {
            return Self::new(name, kind);
        }
        Ok(Self::Within(format!("/{}/", name.trim_matches('/'))))
    }

    fn matches(&self, text: &str) -> bool {
        match self {
            Self::Name(name) => name == text,
            Self::Within(name) => format!("/{text}/").contains(name),
            Self::Found(regex) => regex.is_match(text),
        }
    }
}

/// `*`, `?` and `[a-z]` as in file names, for the whole of a name.
fn of_glob(glob: &str) -> String {
    let mut regex = "(?s)^".to_owned();
    let mut rest = glob.chars();
    while let Some(letter) = rest.next() {
        match letter {
            '*' => regex.push_str(".*"),
            '?' => regex.push('.'),
            '[' if rest.as_str().contains(']') => {
                let set: String = rest.by_ref().take_while(|&letter| letter != ']').collect();
                let (not, set) = set.strip_prefix('!').map_or(("", set.as_str()), |set| ("^", set));
                regex.push_str(&format!("[{not}{}]", set.replace('\\', "\\\\").replace('[', "\\[")));
            }
            other => regex.push_str(&regex_lite::escape(&other.to_string())),
        }
    }
    regex.push('$');
    regex
}

/// All rules, compiled.
pub struct Book {
    rules: Vec<(Pattern, Rule)>,
    /// Whether each rule matched a function.
    met: Vec<bool>,
}

impl Book {
    pub fn new(rules: Vec<Rule>, kind: &str) -> Result<Self, String> {
        let pairs = rules.into_iter().map(|rule| {
            let of = if rule.by_file { Pattern::of_files } else { Pattern::new };
            Ok((of(&rule.name, kind)?, rule))
        });
        let rules = pairs.collect::<Result<Vec<_>, String>>()?;
        let met = vec![false; rules.len()];
        Ok(Self { rules, met })
    }

    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The combined effect of the rules on a function; later rules override earlier ones.
    pub fn trigger(&mut self, name: Option<&str>, module: Option<&str>, file: Option<&str>) -> Trigger {
        let mut found = Trigger::default();
        for ((pattern, rule), met) in self.rules.iter().zip(&mut self.met) {
            let text = if rule.by_file { file } else { name };
            let within = rule.module.as_ref().is_none_or(|wanted| {
                let module = module.map(|module| module.rsplit('/').next().unwrap_or(module));
                module.is_some_and(|module| module.starts_with(wanted.as_str()))
            });
            if within && text.is_some_and(|text| pattern.matches(text)) {
                found.update(&rule.trigger);
                *met = true;
            }
        }
        found
    }

    /// The rules that matched no function: their names, modules, and whether they name files.
    pub fn missed(&self) -> Vec<Word> {
        let rules = self.rules.iter().zip(&self.met);
        let missed = rules.filter(|(_, met)| !**met);
        missed.map(|((_, rule), _)| (rule.name.clone(), rule.module.clone(), rule.by_file)).collect()
    }
}

/// Return the error of a pattern of functions' names; None if it is valid.
#[pyfunction]
pub fn call_pattern_fault(name: &str, kind: &str) -> Option<String> {
    let message = Pattern::new(name, kind).err()?;
    let last = message.lines().last().unwrap_or_default();
    Some(last.trim_start_matches("error: ").to_owned())
}
