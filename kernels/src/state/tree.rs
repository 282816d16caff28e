//! Map paths of attributes to quarks, numbers in order of creation.

use rustc_hash::FxHashMap;

use super::fault::Fault;

/// The node above all attributes, which is not an attribute.
pub const ROOT: i32 = -1;

#[derive(Clone)]
struct Node {
    parent: i32,
    name: Box<str>,
    children: Vec<u32>,
}

#[derive(Clone, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    top: Vec<u32>,
    by_name: FxHashMap<(i32, Box<str>), u32>,
}

impl Tree {
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The place of an attribute, if `quark` is one.
    ///
    /// # Errors
    /// There is no such attribute.
    pub fn place(&self, quark: i64) -> Result<usize, Fault> {
        match usize::try_from(quark) {
            Ok(place) if place < self.nodes.len() => Ok(place),
            _ => Err(Fault::Attribute(format!(
                "there is no attribute {quark}, expected 0 to {}",
                self.nodes.len().saturating_sub(1)
            ))),
        }
    }

    pub fn find(&self, parent: i32, name: &str) -> Option<u32> {
        self.by_name.get(&(parent, name.into())).copied()
    }

    /// The attribute of this name below another, created if missing.
    ///
    /// # Errors
    /// There are too many.
    pub fn add(&mut self, parent: i32, name: &str) -> Result<u32, Fault> {
        if let Some(found) = self.find(parent, name) {
            return Ok(found);
        }
        let quark = u32::try_from(self.nodes.len())
            .ok()
            .filter(|quark| i32::try_from(*quark).is_ok())
            .ok_or_else(|| Fault::Attribute("there are too many attributes".to_owned()))?;
        self.nodes.push(Node { parent, name: name.into(), children: Vec::new() });
        self.by_name.insert((parent, name.into()), quark);
        match usize::try_from(parent) {
            Ok(parent) => self.nodes[parent].children.push(quark),
            Err(_) => self.top.push(quark),
        }
        Ok(quark)
    }

    pub fn children(&self, quark: i32) -> &[u32] {
        match usize::try_from(quark) {
            Ok(place) => self.nodes.get(place).map_or(&[], |node| &node.children),
            Err(_) => &self.top,
        }
    }

    pub fn name(&self, place: usize) -> &str {
        &self.nodes[place].name
    }

    pub fn parent(&self, place: usize) -> i32 {
        self.nodes[place].parent
    }

    /// The path of an attribute in one text.
    pub fn path(&self, place: usize) -> String {
        let mut names = vec![escaped(self.name(place))];
        let mut above = self.parent(place);
        while let Ok(place) = usize::try_from(above) {
            names.push(escaped(self.name(place)));
            above = self.parent(place);
        }
        names.reverse();
        names.join("/")
    }

    /// An attribute with all below it, children before parents.
    pub fn below(&self, quark: u32) -> Vec<u32> {
        let mut found = Vec::new();
        let mut open = vec![quark];
        while let Some(one) = open.pop() {
            found.push(one);
            open.extend(self.children(one.cast_signed()));
        }
        found.reverse();
        found
    }
}

fn escaped(name: &str) -> String {
    name.replace('\\', "\\\\").replace('/', "\\/")
}

/// The names in a path given as text.
pub fn names(path: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut escaped = false;
    for one in path.chars() {
        let last = found.len() - 1;
        match one {
            _ if escaped => {
                found[last].push(one);
                escaped = false;
            }
            '\\' => escaped = true,
            '/' => found.push(String::new()),
            _ => found[last].push(one),
        }
    }
    if escaped {
        let last = found.len() - 1;
        found[last].push('\\');
    }
    found
}
