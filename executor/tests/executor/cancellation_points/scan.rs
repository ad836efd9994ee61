//! Finds the public functions in the sources that can reach the wait in `wait.rs`.
//!
//! The scan does not know types. The scan knows a call only by the name of the called function. For a method,
//! the scan also uses the declared type of the field or parameter before the dot. Therefore the scan may name
//! a function that reaches no wait, but it misses no function that reaches a wait. The list of exceptions
//! contains the functions that the scan names wrongly, and the reasons.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Methods that have the same names as methods of standard types. If the scan knows no declaration of the
/// receiver, the scan takes this name for the name of the standard library's method.
const OF_STD: &[&str] = &[
    "acquire", "clone", "close", "default", "drop", "fmt", "join", "new", "next", "push", "run", "sleep",
    "take", "wait",
];

pub(super) struct Function {
    /// The type or trait of the block that contains the function; an empty text if the function is outside
    /// any block.
    owner: String,
    /// The trait that the block implements for the owner.
    of_trait: String,
    public: bool,
    name: String,
    calls: Vec<Call>,
}

struct Call {
    /// The text before the name, and a flag that is true if a dot separates the text and the name.
    before: Option<(String, bool)>,
    name: String,
}

#[derive(Default)]
pub(super) struct Sources {
    functions: Vec<Function>,
    /// For each name, the declared types of the fields and parameters that have this name.
    declared: BTreeMap<String, BTreeSet<String>>,
    public_types: BTreeSet<String>,
    traits: BTreeSet<String>,
}

impl Sources {
    /// Reads all files of a folder and of the folders below it.
    pub(super) fn read(folder: &Path) -> Self {
        let mut sources = Self::default();
        sources.read_folder(folder);
        sources
    }

    fn read_folder(&mut self, folder: &Path) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                self.read_folder(&path);
            } else {
                self.add(&fs::read_to_string(&path).unwrap());
            }
        }
    }

    pub(super) fn add(&mut self, text: &str) {
        let (mut owner, mut of_trait, mut in_function) = (String::new(), String::new(), false);
        for line in code(text).lines() {
            if let Some((of, of_the_trait)) = block(line) {
                if of_the_trait == "trait" {
                    self.traits.insert(of.clone());
                }
                (owner, of_trait, in_function) = (of, of_the_trait, false);
            } else if line.starts_with('}') {
                (owner, of_trait, in_function) = (String::new(), String::new(), false);
            }
            for keyword in ["pub struct ", "pub enum ", "pub trait "] {
                self.public_types.extend(line.strip_prefix(keyword).map(|rest| first_word(rest).to_owned()));
            }
            self.declare(line);
            if let Some((public, name)) = function(line) {
                let (owner, of_trait) = (owner.clone(), of_trait.clone());
                self.functions.push(Function { owner, of_trait, public, name, calls: Vec::new() });
                in_function = true;
            }
            if let Some(function) = self.functions.last_mut().filter(|_| in_function) {
                function.calls.extend(calls(line));
            }
        }
    }

    fn declare(&mut self, line: &str) {
        for (place, _) in line.match_indices(": ") {
            let types = line[place + 2..].split([',', '=', '{', ';']).next().unwrap_or_default();
            let types = types
                .split(|c: char| !c.is_alphanumeric())
                .filter(|word| word.starts_with(char::is_uppercase));
            self.declared
                .entry(last_word(&line[..place]).to_owned())
                .or_default()
                .extend(types.map(str::to_owned));
        }
    }

    /// Makes the scan treat the given function as if it called no other function.
    pub(super) fn do_not_follow(&mut self, owner: &str, name: &str) {
        let is_it = |function: &&mut Function| function.owner == owner && function.name == name;
        let function = self.functions.iter_mut().find(is_it);
        function.unwrap_or_else(|| panic!("there is no {owner}::{name}")).calls.clear();
    }

    /// Returns all functions that a call may refer to.
    fn meant(&self, caller: &Function, call: &Call) -> Vec<usize> {
        let named = |is_meant: &dyn Fn(&Function) -> bool| -> Vec<usize> {
            let all = self.functions.iter().enumerate();
            all.filter(|(_, function)| function.name == call.name && is_meant(function))
                .map(|(n, _)| n)
                .collect()
        };
        let of = |types: &[&str]| {
            named(&|function| types.contains(&&*function.owner) || types.contains(&&*function.of_trait))
        };
        let free = || named(&|function| function.owner.is_empty());
        match &call.before {
            None => free(),
            Some((word, false)) => {
                let owner = if word == "Self" { &caller.owner } else { word };
                of(&[owner]).into_iter().chain(free()).collect()
            }
            Some((word, true)) => {
                let declared = self.declared.get(word).filter(|_| word != "self");
                let types = || declared.into_iter().flatten().map(String::as_str).collect();
                let types: Vec<_> = if word == "self" { vec![&*caller.owner] } else { types() };
                let of_them = of(&types);
                let of_traits = named(&|function| self.is_of_a_trait_of_ours(function));
                match (of_them.is_empty(), of_traits.is_empty()) {
                    (false, _) => of_them,
                    (true, _) if call.name == "take" => Vec::new(), // of an `Option`; nothing else here takes from a channel
                    (true, false) => of_traits,
                    (true, true) if declared.is_some() || OF_STD.contains(&&*call.name) => Vec::new(),
                    (true, true) => named(&|function| !function.owner.is_empty()),
                }
            }
        }
    }

    fn is_of_a_trait_of_ours(&self, function: &Function) -> bool {
        function.of_trait == "trait" || self.traits.contains(&function.of_trait)
    }

    /// Returns the public functions that can reach `function`, as `Owner::name`.
    pub(super) fn that_reach(&self, function: &str) -> BTreeSet<String> {
        let is_it = |found: &Function| found.owner.is_empty() && found.name == function;
        let mut reach: Vec<bool> = self.functions.iter().map(is_it).collect();
        assert!(reach.contains(&true), "there is no function {function}");
        let meant_by =
            |caller: &Function| caller.calls.iter().flat_map(|call| self.meant(caller, call)).collect();
        let called: Vec<Vec<usize>> = self.functions.iter().map(meant_by).collect();
        loop {
            let comes_to = |n: &usize| !reach[*n] && called[*n].iter().any(|&callee| reach[callee]);
            let found: Vec<_> = (0..reach.len()).filter(comes_to).collect();
            for &n in &found {
                reach[n] = true;
            }
            if found.is_empty() {
                break;
            }
        }
        let found = self.functions.iter().zip(reach).filter(|(_, reaches)| *reaches);
        found.filter_map(|(function, _)| self.public_name(function)).collect()
    }

    /// Returns the name by which users call the function, or `None` if they cannot call it.
    fn public_name(&self, function: &Function) -> Option<String> {
        let Function { owner, of_trait, name, .. } = function;
        let by = match &**of_trait {
            "" if function.public => owner,
            "" => return None,
            "trait" | "Drop" => owner,
            of_trait => of_trait,
        };
        self.public_types.contains(by).then(|| format!("{by}::{name}"))
    }
}

/// Returns the code without comments, attributes and unit tests.
fn code(text: &str) -> String {
    let mut in_tests = false;
    let outside_tests = text.lines().filter(|line| {
        in_tests = *line == "mod tests {" || in_tests && *line != "}";
        !in_tests
    });
    let lines = outside_tests.filter(|line| !line.trim_start().starts_with('#'));
    lines.map(|line| line.split("//").next().unwrap_or_default().to_owned() + "\n").collect()
}

fn first_word(text: &str) -> &str {
    &text[..text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())]
}

fn last_word(text: &str) -> &str {
    &text[text.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |place| place + 1)..]
}

/// Returns the type and the trait of an `impl` or `trait` block that begins in this line.
fn block(line: &str) -> Option<(String, String)> {
    let line =
        ["pub(crate) ", "pub(super) ", "pub "].iter().find_map(|vis| line.strip_prefix(vis)).unwrap_or(line);
    if let Some(rest) = line.strip_prefix("trait ") {
        return Some((first_word(rest).to_owned(), "trait".to_owned()));
    }
    // Methods of `Arc<Shared>` count as methods of `Shared`.
    let rest = without_generics(&line.strip_prefix("impl")?.replace("for Arc<Shared>", "for Shared"));
    let name = |text: &str| last_word(text.trim().trim_end_matches('{').trim()).to_owned();
    let rest = rest.split(" where ").next().unwrap_or_default();
    Some(match rest.split_once(" for ") {
        Some((of_trait, owner)) => (name(owner), name(of_trait)),
        None => (name(rest), String::new()),
    })
}

fn without_generics(text: &str) -> String {
    let mut depth = 0;
    let outside = text.chars().filter(|&c| {
        depth += i32::from(c == '<');
        let outside = depth == 0;
        depth -= i32::from(c == '>');
        outside
    });
    outside.collect()
}

/// Returns the name of a function declared in this line, and whether the function is public.
fn function(line: &str) -> Option<(bool, String)> {
    let line = line.trim_start();
    let public = line.starts_with("pub ");
    let words = ["pub ", "pub(crate) ", "pub(super) ", "const ", "unsafe "];
    let rest = words.iter().fold(line, |line, word| line.strip_prefix(word).unwrap_or(line));
    Some((public, first_word(rest.strip_prefix("fn ")?).to_owned()))
}

/// Returns the calls in a line of code. If the receiver is in the previous line, the scan treats the receiver
/// as unknown.
fn calls(line: &str) -> Vec<Call> {
    let calls = line.match_indices('(').filter_map(|(place, _)| {
        let text = &line[..place];
        let generics = text.ends_with('>').then(|| text.rsplit_once("::<")).flatten();
        let text = generics.map_or(text, |(text, _)| text);
        let name = last_word(text);
        let before = &text[..text.len() - name.len()];
        let declares = before.trim_end().ends_with("fn");
        let before = match before.strip_suffix('.') {
            Some(receiver) => Some((last_word(receiver).to_owned(), true)),
            None => before.strip_suffix("::").map(|path| (last_word(path).to_owned(), false)),
        };
        (!name.is_empty() && !declares).then(|| Call { before, name: name.to_owned() })
    });
    calls.collect()
}
